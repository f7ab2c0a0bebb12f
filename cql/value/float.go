// SPDX-License-Identifier: Apache-2.0

package value

import (
	"bytes"
	"math"
	"strconv"
)

// JavaDouble formats a double as Java's Double.toString does.
func JavaDouble(f float64) string { return string(formatDouble(nil, f, 64)) }

// formatDouble appends a floating-point number of size 32 or 64 bits as Cassandra prints it: 1.5,
// 1.0E10, NaN, -Infinity. It uses the fewest digits that parse to the same number. Cassandra runs
// on Java 11 and 17, which print more digits than necessary for some numbers (2^-44).
func formatDouble(dst []byte, f float64, size int) []byte {
	switch {
	case f != f:
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case f == 0 || math.Abs(f) >= 1e-3 && math.Abs(f) < 1e7:
		from := len(dst)
		dst = strconv.AppendFloat(dst, f, 'f', -1, size)
		if !bytes.ContainsRune(dst[from:], '.') {
			dst = append(dst, ".0"...)
		}
		return dst
	}
	var buf [32]byte
	mantissa, exponent, _ := bytes.Cut(strconv.AppendFloat(buf[:0], f, 'e', -1, size), []byte("e"))
	dst = append(dst, mantissa...)
	if !bytes.ContainsRune(mantissa, '.') {
		dst = append(dst, ".0"...)
	}
	n, _ := strconv.Atoi(string(exponent)) // strconv wrote it: e+07, e-324
	return strconv.AppendInt(append(dst, 'E'), int64(n), 10)
}
