package main

import (
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"unicode"
)

// redaction hides values: equal ones are equal in one report, and no two reports
// have the same salt.
type redaction struct{ salt [16]byte }

func newRedaction() *redaction {
	r := &redaction{}
	rand.Read(r.salt[:]) // never fails
	return r
}

// value is a digest of a value, and its shape: letters and digits made alike.
func (r *redaction) value(v string) string {
	if v == "" {
		return v
	}
	sum := sha256.Sum256(append(append([]byte{}, r.salt[:]...), v...))
	var shape strings.Builder
	for i, c := range []rune(v) {
		if i == 24 {
			shape.WriteString("…")
			break
		}
		switch {
		case unicode.IsUpper(c):
			shape.WriteByte('A')
		case unicode.IsLetter(c):
			shape.WriteByte('a')
		case unicode.IsDigit(c):
			shape.WriteByte('9')
		case unicode.IsControl(c):
			shape.WriteByte('.')
		default:
			shape.WriteRune(c)
		}
	}
	return hexOf(sum[:4]) + " (" + shape.String() + ")"
}
