// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"hash"
	"math/big"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/cql/value"
)

func addMasks(add func(*factory)) {
	same := func(name string, mask func(t *value.Type, most int) ([]byte, bool)) {
		add(&factory{name: name, params: []parameter{anyType{}},
			make: func(f *factory, types []*value.Type, _ *value.Type) (*Function, error) {
				return &Function{Name: name, Args: types, Returns: types[0], Pure: true,
					grow: func(_ [][]byte, most int) ([]byte, bool, error) {
						v, ok := mask(types[0], most)
						return v, ok, nil
					}}, nil
			}})
	}
	same("mask_null", func(*value.Type, int) ([]byte, bool) { return nil, true })
	same("mask_default", masked)
	add(&factory{name: "mask_replace", params: []parameter{anyType{true}, sameAs{0, true, anyType{true}}},
		make: func(f *factory, types []*value.Type, _ *value.Type) (*Function, error) {
			return &Function{Name: f.name, Args: types, Returns: types[1], Pure: true,
				call: func(_ *Env, args [][]byte) ([]byte, error) { return args[1], nil }}, nil
		}})
	add(&factory{name: "mask_hash", params: []parameter{anyType{}, textParam}, optional: 1, make: maskHash})
	add(&factory{name: "mask_inner", params: []parameter{stringParam, intParam, intParam, textParam}, optional: 1, make: maskPart})
	add(&factory{name: "mask_outer", params: []parameter{stringParam, intParam, intParam, textParam}, optional: 1, make: maskPart})
}

// masked returns the value that mask_default shows for a type, unless it is longer than most bytes:
// a vector can have 2³¹ elements, and a type's size grows exponentially with its depth.
func masked(t *value.Type, most int) ([]byte, bool) {
	v := appendMasked([]byte{}, t, most)
	return v, v != nil && len(v) <= most
}

// appendMasked appends that value. It may return nil if dst would be longer than end.
func appendMasked(dst []byte, t *value.Type, end int) []byte {
	switch t.Kind {
	case value.Tuple, value.UDT:
		for _, e := range t.Elems {
			at := len(dst)
			dst = appendMasked(append(dst, 0, 0, 0, 0), e, end)
			if dst == nil || len(dst) > end {
				return nil
			}
			binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		}
		return dst
	case value.Vector:
		elem := appendMasked([]byte{}, t.Elems[0], end-len(dst))
		if elem == nil {
			return nil
		}
		if elem = t.Build(nil, [][]byte{elem}); len(elem) > (end-len(dst))/t.Dim {
			return nil
		}
		return append(dst, bytes.Repeat(elem, t.Dim)...)
	}
	return append(dst, maskedPart(t)...)
}

// maskedPart does the same for a type whose value does not contain other types' values.
func maskedPart(t *value.Type) []byte {
	switch t.Kind {
	case value.Ascii, value.Text:
		return []byte("****")
	case value.Blob, value.Empty, value.Custom:
		return []byte{}
	case value.Boolean, value.Tinyint:
		return []byte{0}
	case value.Smallint:
		return encodeSmallint(0)
	case value.Int, value.Float:
		return encodeInt(0)
	case value.Bigint, value.Counter, value.Double, value.Timestamp, value.Time:
		return encodeBigint(0)
	case value.Varint:
		return value.AppendVarint(nil, new(big.Int))
	case value.Decimal:
		return value.AppendDecimal(nil, new(big.Int), 0)
	case value.Date:
		return []byte{0x80, 0, 0, 0}
	case value.Duration:
		return value.Span{}.Append(nil)
	case value.Inet:
		return make([]byte, 4)
	case value.UUID:
		return make([]byte, 16)
	case value.Timeuuid:
		return AppendTimeuuid(nil, -uuidEpoch*10000, 0x8080808080808080)
	}
	return value.AppendCount(nil, 0) // a list, set or map
}

var hashes = map[string]func() hash.Hash{
	"MD5": md5.New, "SHA": sha1.New, "SHA-1": sha1.New, "SHA1": sha1.New, "SHA-224": sha256.New224, "SHA-256": sha256.New,
	"SHA-384": sha512.New384, "SHA-512": sha512.New, "SHA-512/224": sha512.New512_224, "SHA-512/256": sha512.New512_256,
}

func maskHash(f *factory, types []*value.Type, _ *value.Type) (*Function, error) {
	return &Function{Name: f.name, Args: types, Returns: value.Native(value.Blob), Pure: true,
		call: func(_ *Env, args [][]byte) ([]byte, error) {
			algorithm := "SHA-256"
			if len(args) > 1 && args[1] != nil {
				algorithm = string(args[1])
			}
			h := hashes[strings.ToUpper(algorithm)]
			if h == nil {
				return nil, invalid("Hash algorithm not found: %s", algorithm)
			}
			if args[0] == nil {
				return nil, nil
			}
			sum := h()
			sum.Write(args[0])
			return sum.Sum(nil), nil
		}}, nil
}

// maskPart makes mask_inner and mask_outer. Their characters are UTF-16 units, as in Java.
func maskPart(f *factory, types []*value.Type, _ *value.Type) (*Function, error) {
	inner := f.name == "mask_inner"
	return &Function{Name: f.name, Args: types, Returns: types[0], Pure: true,
		grow: func(args [][]byte, most int) ([]byte, bool, error) {
			pad := '*'
			if len(args) > 3 && args[3] != nil {
				n := units(args[3])
				if n != 1 {
					return nil, false, invalid("The padding argument for function system.%s should be single-character, but '%s' has %d characters.",
						f.name, args[3], n)
				}
				pad, _ = utf8.DecodeRune(args[3])
			}
			if args[0] == nil {
				return nil, true, nil
			}
			begin, _ := decode(value.Int, args[1])
			end, _ := decode(value.Int, args[2])
			last := int64(units(args[0])) - 1 - end.i
			masks := func(i int64) bool { return (i >= begin.i && i <= last) == inner }
			dst := make([]byte, 0, min(len(args[0]), most))
			i := int64(0)
			for _, r := range string(args[0]) {
				n := int64(utf16.RuneLen(r))
				for half := range n {
					switch {
					case masks(i + half):
						dst = utf8.AppendRune(dst, pad)
					case n == 1 || half == 0 && !masks(i+1):
						dst = utf8.AppendRune(dst, r)
					case masks(i) || masks(i+1): // half of a pair alone
						dst = utf8.AppendRune(dst, utf8.RuneError)
					}
				}
				if i += n; len(dst) > most {
					return nil, false, nil
				}
			}
			return dst, true, nil
		}}, nil
}

// units returns the length of a text in UTF-16 units.
func units(text []byte) int {
	n := 0
	for _, r := range string(text) {
		n += utf16.RuneLen(r)
	}
	return n
}
