// SPDX-License-Identifier: Apache-2.0

package attribute

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Limits of numbers. DynamoDB's numbers are decimals of up to 38 significant digits, between 1E-130
// and 9.99…E+125 in magnitude.
const (
	MaxDigits   = 38
	MaxExponent = 125  // of the first significant digit
	MinExponent = -130 // of the first significant digit
)

// AWS's messages about numbers.
const (
	msgNoNumber  = "The parameter cannot be converted to a numeric value"
	msgOverflow  = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	msgUnderflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	msgDigits    = "Attempting to store more than 38 significant digits in a Number"
)

// Number returns the N of a decimal such as 12, -0.5 or 1.2e3, or AWS's error.
func Number(text string) (Value, error) {
	v := number(text)
	return v, v.Validate()
}

// small holds the texts of the first integers. Most sizes and counts are among them.
var small = func() (t [1024]string) {
	for i := range t {
		t[i] = strconv.Itoa(i)
	}
	return t
}()

// Int returns the N of an integer.
func Int(i int64) Value {
	if i >= 0 && i < int64(len(small)) {
		return textValue(N, small[i])
	}
	return number(strconv.FormatInt(i, 10))
}

// number returns an N, or an invalid value.
func number(text string) Value {
	if canonical(text) {
		return textValue(N, text)
	}
	if text == "" {
		return invalid(msgNoNumber)
	}
	d, ok := parseDecimal(text)
	switch {
	case !ok:
		return invalid(msgNoNumber + ": " + text)
	case d.exp > MaxExponent:
		return invalid(msgOverflow)
	case d.exp < MinExponent:
		return invalid(msgUnderflow)
	case len(d.digits) == 0:
		return textValue(N, "0")
	case len(d.digits) > MaxDigits:
		return invalid(msgDigits)
	}
	return textValue(N, d.plain())
}

// statementNumber is like number, but for a parameter of a statement. AWS reads such a number as a
// BigDecimal of Java: its scale has 32 bits, and so has the number that gives its magnitude.
func statementNumber(text string) Value {
	scale, ok := Scale(text)
	if !ok {
		return invalid(msgNoNumber + ": " + text)
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	precision := max(1, len(strings.TrimLeft(strings.Replace(strings.TrimLeft(mantissa, "+-"), ".", "", 1), "0")))
	if int64(precision)-scale > math.MaxInt32 {
		if v := number(text); v.kind == Invalid && v.Text() == msgOverflow {
			return invalid(msgUnderflow)
		}
	}
	return number(text)
}

// Scale returns the number of digits after the point of a decimal without an exponent. It returns
// false if this number or the exponent does not fit into 32 bits.
func Scale(text string) (int64, bool) {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		i = len(text)
	}
	exponent, err := int64(0), error(nil)
	if i < len(text) {
		exponent, err = strconv.ParseInt(text[i+1:], 10, 32)
	}
	scale := -exponent
	if point := strings.IndexByte(text[:i], '.'); point >= 0 {
		scale += int64(i - point - 1)
	}
	return scale, err == nil && scale >= math.MinInt32 && scale <= math.MaxInt32
}

// canonical reports whether a text is certainly canonical, without parsing it: digits without a
// leading zero or plus sign, and perhaps a fraction that does not end in zero.
func canonical(s string) bool {
	if strings.HasPrefix(s, "-") {
		s = s[1:]
		if s == "0" {
			return false
		}
	}
	if len(s) == 0 || len(s) > MaxDigits || s[0] == '0' && len(s) > 1 && s[1] != '.' {
		return false
	}
	point := -1
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
		case c == '.' && i > 0 && point < 0:
			point = i
		default:
			return false
		}
	}
	return point < 0 || s[len(s)-1] != '0' && s[len(s)-1] != '.'
}

// decimal is ±digits[0].digits[1:] × 10^exp, without leading and trailing zeros. Zero has no
// digits. Its exponent is that of its last written digit.
type decimal struct {
	neg    bool
	digits string
	exp    int
}

// parseDecimal parses a decimal: a sign, digits with a point, an exponent.
func parseDecimal(s string) (decimal, bool) {
	var d decimal
	if s != "" && (s[0] == '-' || s[0] == '+') {
		d.neg = s[0] == '-'
		s = s[1:]
	}
	mantissa, exponent, scientific := s, "", false
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent, scientific = s[:i], s[i+1:], true
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" && fraction == "" || !onlyDigits(whole) || !onlyDigits(fraction) {
		return d, false
	}
	if scientific {
		sign := 1
		if exponent != "" && (exponent[0] == '-' || exponent[0] == '+') {
			if exponent[0] == '-' {
				sign = -1
			}
			exponent = exponent[1:]
		}
		if exponent == "" || !onlyDigits(exponent) {
			return d, false
		}
		e, err := strconv.ParseInt(exponent, 10, 64)
		if err != nil {
			return d, false
		}
		// Beyond this, every number is out of range, however many zeros it has.
		const far = 1 << 30
		d.exp = sign * int(min(e, far))
	}
	digits := whole
	if fraction != "" {
		digits += fraction
	}
	if strings.Trim(digits, "0") == "" {
		d.neg = false
		d.exp -= len(fraction)
		return d, true
	}
	d.exp += len(whole) - 1
	significant := strings.TrimLeft(digits, "0")
	d.exp -= len(digits) - len(significant)
	d.digits = strings.TrimRight(significant, "0")
	return d, true
}

func onlyDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// plain returns the canonical text: no exponent, no unnecessary zeros.
func (d decimal) plain() string {
	return string(d.append(make([]byte, 0, len(d.digits)+8)))
}

func (d decimal) append(dst []byte) []byte {
	if len(d.digits) == 0 {
		return append(dst, '0')
	}
	if d.neg {
		dst = append(dst, '-')
	}
	if d.exp < 0 {
		dst = append(dst, '0', '.')
		for range -d.exp - 1 {
			dst = append(dst, '0')
		}
		return append(dst, d.digits...)
	}
	if len(d.digits) <= d.exp+1 {
		dst = append(dst, d.digits...)
		for range d.exp + 1 - len(d.digits) {
			dst = append(dst, '0')
		}
		return dst
	}
	dst = append(dst, d.digits[:d.exp+1]...)
	dst = append(dst, '.')
	return append(dst, d.digits[d.exp+1:]...)
}

// compareNumbers compares two canonical texts by value.
func compareNumbers(a, b string) int {
	if a == b {
		return 0
	}
	aNeg, bNeg := a[0] == '-', b[0] == '-'
	switch {
	case aNeg && bNeg:
		return compareMagnitudes(b[1:], a[1:])
	case aNeg:
		return -1
	case bNeg:
		return 1
	}
	return compareMagnitudes(a, b)
}

func compareMagnitudes(a, b string) int {
	aWhole, aFraction := split(a)
	bWhole, bFraction := split(b)
	if len(aWhole) != len(bWhole) {
		if len(aWhole) < len(bWhole) {
			return -1
		}
		return 1
	}
	if c := strings.Compare(aWhole, bWhole); c != 0 {
		return c
	}
	return strings.Compare(aFraction, bFraction)
}

// split splits a canonical magnitude at its point. The whole part has no unnecessary zeros.
func split(s string) (whole, fraction string) {
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}

// safeDigits is the largest number of digits of two integers whose sum certainly fits an int64.
const safeDigits = 18

// Add returns the sum of two Ns. It returns AWS's error if the sum is out of range or has more
// digits than a number may have.
func Add(a, b Value) (Value, error) { return combine(a, b, false) }

// Subtract returns the difference of two Ns. Its errors are those of Add.
func Subtract(a, b Value) (Value, error) { return combine(a, b, true) }

func combine(a, b Value, subtract bool) (Value, error) {
	x, y := a.Text(), b.Text()
	if len(x) <= safeDigits && len(y) <= safeDigits {
		i, err1 := strconv.ParseInt(x, 10, 64)
		j, err2 := strconv.ParseInt(y, 10, 64)
		if err1 == nil && err2 == nil {
			if subtract {
				j = -j
			}
			return Int(i + j), nil
		}
	}
	var p, q, sum apd.Decimal
	_, _, err1 := p.SetString(x)
	_, _, err2 := q.SetString(y)
	if err1 != nil || err2 != nil {
		return Value{}, exception.Invalid(msgNoNumber)
	}
	if subtract {
		q.Neg(&q)
	}
	// The sum is exact: its digits reach from 10^125 down to 38 digits below 10^-130.
	exact := apd.BaseContext.WithPrecision(MaxExponent - MinExponent + MaxDigits + 2)
	if _, err := exact.Add(&sum, &p, &q); err != nil {
		return Value{}, exception.Invalid(msgOverflow)
	}
	return Number(sum.Text('E'))
}
