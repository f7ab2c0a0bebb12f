package value

import (
	"math"
	"strconv"
)

// formatDouble appends a floating-point number as Java writes it: 1.5, 1.0E10,
// NaN, -Infinity. Digits are the fewest that read back, as since JDK 19; older
// ones sometimes write a digit more.
func formatDouble(dst []byte, f float64, bits int) []byte {
	switch {
	case f != f:
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case f == 0:
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		return append(dst, "0.0"...)
	}
	if a := math.Abs(f); a >= 1e-3 && a < 1e7 {
		start := len(dst)
		dst = strconv.AppendFloat(dst, f, 'f', -1, bits)
		for _, c := range dst[start:] {
			if c == '.' {
				return dst
			}
		}
		return append(dst, ".0"...)
	}
	var buf [32]byte
	s := strconv.AppendFloat(buf[:0], f, 'e', -1, bits)
	point := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '.':
			point = true
			dst = append(dst, c)
		case 'e':
			if !point {
				dst = append(dst, ".0"...)
			}
			dst = append(dst, 'E')
			i++ // the exponent's sign and leading zero
			if s[i] == '-' {
				dst = append(dst, '-')
			}
			if s[i+1] == '0' {
				i++
			}
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
