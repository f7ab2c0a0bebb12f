// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"math/big"
	"strings"
	"unicode/utf16"

	"github.com/evenkeel/evenkeel/cql/value"
)

func addMasks(add func(*factory)) {
	same := func(name string, mask func(t *value.Type) ([]byte, error)) {
		add(&factory{name: name, params: []parameter{anyType{}},
			make: func(f *factory, types []*value.Type, _ *value.Type) (*Function, error) {
				return &Function{Name: name, Args: types, Returns: types[0], Pure: true,
					call: func(*Env, [][]byte) ([]byte, error) { return mask(types[0]) }}, nil
			}})
	}
	same("mask_null", func(*value.Type) ([]byte, error) { return nil, nil })
	same("mask_default", func(t *value.Type) ([]byte, error) { return masked(t), nil })
	add(&factory{name: "mask_replace", params: []parameter{anyType{true}, sameAs{0, true, anyType{true}}},
		make: func(f *factory, types []*value.Type, _ *value.Type) (*Function, error) {
			return &Function{Name: f.name, Args: types, Returns: types[1], Pure: true,
				call: func(_ *Env, args [][]byte) ([]byte, error) { return args[1], nil }}, nil
		}})
	add(&factory{name: "mask_hash", params: []parameter{anyType{}, textParam}, optional: 1, make: maskHash})
	add(&factory{name: "mask_inner", params: []parameter{stringParam, intParam, intParam, textParam}, optional: 1, make: maskPart})
	add(&factory{name: "mask_outer", params: []parameter{stringParam, intParam, intParam, textParam}, optional: 1, make: maskPart})
}

// masked returns the value that mask_default shows for a type.
func masked(t *value.Type) []byte {
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
	case value.List, value.Set, value.Map:
		return value.AppendCount(nil, 0)
	}
	elems := make([][]byte, len(t.Elems)) // tuples, UDTs
	if t.Kind == value.Vector {
		elems = make([][]byte, t.Dim)
	}
	for i := range elems {
		elems[i] = masked(t.Elems[min(i, len(t.Elems)-1)])
	}
	return t.Build(nil, elems)
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
		call: func(_ *Env, args [][]byte) ([]byte, error) {
			pad := uint16('*')
			if len(args) > 3 && args[3] != nil {
				p := utf16.Encode([]rune(string(args[3])))
				if len(p) != 1 {
					return nil, invalid("The padding argument for function system.%s should be single-character, but '%s' has %d characters.",
						f.name, args[3], len(p))
				}
				pad = p[0]
			}
			if args[0] == nil {
				return nil, nil
			}
			begin, _ := decode(value.Int, args[1])
			end, _ := decode(value.Int, args[2])
			chars := utf16.Encode([]rune(string(args[0])))
			last := int64(len(chars)) - 1 - end.i
			for i := range chars {
				if in := int64(i) >= begin.i && int64(i) <= last; in == inner {
					chars[i] = pad
				}
			}
			return []byte(string(utf16.Decode(chars))), nil
		}}, nil
}
