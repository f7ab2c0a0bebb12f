// SPDX-License-Identifier: Apache-2.0

package attribute

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// The order-preserving form of keys, for stores that order by bytes:
//
//	S, B  the bytes, with 0x00 as 0x00 0xff; then 0x00 0x01
//	N     one byte: 1 negative, 2 zero, 3 positive. Unless the number is zero: one byte
//	      exponent+130 of the first significant digit, the digits in pairs as 1..100,
//	      then 0. In negative numbers, all bytes after the first are complemented.

const (
	negative = 1
	zero     = 2
	positive = 3
)

// AppendKey appends the order-preserving form of an S, N or B. The forms of two values of the same
// kind compare as the values do, and no form is the beginning of another. Both also holds for
// sequences of forms.
func AppendKey(dst []byte, v Value) []byte {
	if v.kind == N {
		return appendNumberKey(dst, v.Text())
	}
	text := v.Text()
	for {
		i := strings.IndexByte(text, 0)
		if i < 0 {
			break
		}
		dst = append(dst, text[:i]...)
		dst = append(dst, 0x00, 0xff)
		text = text[i+1:]
	}
	dst = append(dst, text...)
	return append(dst, 0x00, 0x01)
}

// AppendKeyPrefix appends the longest common beginning of the forms of all S or B that begin with
// v. The forms of other values do not begin with it.
func AppendKeyPrefix(dst []byte, v Value) []byte {
	return AppendKey(dst, v)[:len(dst)+keyLen(v)-2]
}

// keyLen returns the length of the form of an S or B.
func keyLen(v Value) int {
	return len(v.Text()) + strings.Count(v.Text(), "\x00") + 2
}

func appendNumberKey(dst []byte, text string) []byte {
	if text == "0" {
		return append(dst, zero)
	}
	flip := byte(0)
	if text[0] == '-' {
		text = text[1:]
		flip = 0xff
		dst = append(dst, negative)
	} else {
		dst = append(dst, positive)
	}
	whole, fraction := split(text)
	if whole == "0" {
		whole = ""
	}
	exp := len(whole) - 1
	if whole == "" {
		significant := strings.TrimLeft(fraction, "0")
		exp -= len(fraction) - len(significant)
		fraction = significant
	} else if fraction == "" {
		whole = strings.TrimRight(whole, "0")
	}
	dst = append(dst, byte(exp-MinExponent)^flip)
	n := len(whole) + len(fraction)
	digit := func(i int) byte {
		switch {
		case i < len(whole):
			return whole[i] - '0'
		case i < n:
			return fraction[i-len(whole)] - '0'
		}
		return 0
	}
	for i := 0; i < n; i += 2 {
		dst = append(dst, (10*digit(i)+digit(i+1)+1)^flip)
	}
	return append(dst, flip)
}

var errKey = errors.New("attribute: not the form of a key")

// CutKey cuts the form of a value of kind k (S, N or B) off the beginning of src.
func CutKey(src []byte, k Kind) (v Value, rest []byte, err error) {
	if k == N {
		return cutNumberKey(src)
	}
	if k != S && k != B {
		return Value{}, nil, fmt.Errorf("%w: a key is no %s", errKey, k)
	}
	var text []byte
	for i := 0; i+1 < len(src); i++ {
		if src[i] != 0 {
			text = append(text, src[i])
			continue
		}
		switch i++; src[i] {
		case 0xff:
			text = append(text, 0)
		case 0x01:
			return textValue(k, string(text)), src[i+1:], nil
		default:
			return Value{}, nil, errKey
		}
	}
	return Value{}, nil, errKey
}

// KeyLen returns the length of the form of kind k at the beginning of src. If src does not begin
// with such a form, it returns the length of src.
func KeyLen(src []byte, k Kind) int {
	if k == N {
		if len(src) == 0 || src[0] == zero {
			return min(1, len(src))
		}
		end := byte(0)
		if src[0] == negative {
			end = 0xff
		}
		for i := 2; i < len(src); i++ {
			if src[i] == end {
				return i + 1
			}
		}
		return len(src)
	}
	for i := 0; i+1 < len(src); i++ {
		if src[i] != 0 {
			continue
		}
		if i++; src[i] == 0x01 {
			return i + 1
		}
	}
	return len(src)
}

func cutNumberKey(src []byte) (Value, []byte, error) {
	if len(src) == 0 {
		return Value{}, nil, errKey
	}
	flip := byte(0)
	switch src[0] {
	case zero:
		return textValue(N, "0"), src[1:], nil
	case negative:
		flip = 0xff
	case positive:
	default:
		return Value{}, nil, errKey
	}
	if len(src) < 2 {
		return Value{}, nil, errKey
	}
	d := decimal{neg: flip != 0, exp: int(src[1]^flip) + MinExponent}
	digits := make([]byte, 0, MaxDigits+2)
	for i := 2; i < len(src); i++ {
		c := src[i] ^ flip
		if c == 0 {
			d.digits = strings.TrimRight(string(digits), "0")
			if d.digits == "" || d.digits[0] == '0' || len(d.digits) > MaxDigits || len(digits)-len(d.digits) > 1 {
				return Value{}, nil, errKey
			}
			return textValue(N, d.plain()), src[i+1:], nil
		}
		if c > 100 || len(digits) > MaxDigits {
			return Value{}, nil, errKey
		}
		c--
		digits = append(digits, '0'+c/10, '0'+c%10)
	}
	return Value{}, nil, errKey
}

// KeyText returns the text of an S, N or B in a hidden partition key: an S is the string itself, an
// N its canonical decimal, a B unpadded base64url.
func KeyText(v Value) string {
	if v.kind == B {
		return base64.RawURLEncoding.EncodeToString([]byte(v.Text()))
	}
	return v.Text()
}

// ParseKeyText returns the value of kind k (S, N or B) from its KeyText.
func ParseKeyText(text string, k Kind) (Value, error) {
	switch k {
	case S:
		return String(text), nil
	case N:
		return Number(text)
	case B:
		b, err := base64.RawURLEncoding.Strict().DecodeString(text)
		if err != nil {
			return Value{}, fmt.Errorf("%w: %q is no base64url", errKey, text)
		}
		return Binary(string(b)), nil
	}
	return Value{}, fmt.Errorf("%w: a key is no %s", errKey, k)
}
