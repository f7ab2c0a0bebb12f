// SPDX-License-Identifier: Apache-2.0

package attribute

// Limits of items, in bytes as Size counts them.
const (
	MaxItemSize  = 400 * 1024
	MaxHashSize  = 2048 // a partition key's value
	MaxRangeSize = 1024 // a sort key's value
	MaxNameSize  = 65535
	MaxDepth     = 32 // levels of an attribute; its value is the first level
)

// Sizes that do not depend on the content.
const (
	overhead        = 3 // of an L or M
	elementOverhead = 1 // of each of its elements
)

// Size returns the item's size as AWS bills it: names and values, 3 bytes for each L and M, and 1
// byte for each of their elements ("DynamoDB item sizes and formats").
func (it Item) Size() int {
	n := 0
	for i := range it {
		n += len(it[i].Name) + it[i].Value.Size()
	}
	return n
}

// Size returns the value's size as AWS bills it. An N has one byte for each two significant digits
// (in pairs that begin at the decimal point), one more byte, and one for a minus sign.
func (v Value) Size() int {
	switch v.kind {
	case S, B:
		return int(v.n)
	case N:
		return NumberSize(v.Text())
	case BOOL, NULL:
		return 1
	case M:
		n := overhead
		for _, a := range v.Fields() {
			n += elementOverhead + len(a.Name) + a.Value.Size()
		}
		return n
	case L:
		n := overhead
		for _, e := range v.Elems() {
			n += elementOverhead + e.Size()
		}
		return n
	case SS, NS, BS:
		n := 0
		for _, e := range v.Elems() {
			n += e.Size()
		}
		return n
	}
	return 0
}

// NumberSize returns the size of an N from its digits, without an exponent.
func NumberSize(text string) int {
	size := 1
	if text[0] == '-' {
		text = text[1:]
		size++
	}
	// first is the position of the first significant digit: 0 for the digit before the point, -1
	// for the one after it. last is the number of significant digits up to the last one that is not
	// 0.
	point := len(text)
	first, last, seen := 0, 0, 0
	for i := range len(text) {
		if text[i] == '.' {
			point = i
		}
	}
	for i := range len(text) {
		c := text[i]
		if c == '.' || c == '0' && seen == 0 {
			continue
		}
		position := point - i // 1 for the digit before the point; then 0
		if i < point {
			position--
		}
		if seen == 0 {
			first = position
		}
		seen++
		if c != '0' {
			last = seen
		}
	}
	if last == 0 {
		return 1
	}
	size += (last + 1) / 2
	// An even number of digits needs one more pair if the first digit is the second one of its
	// pair.
	if last%2 == 0 && first%2 == 0 {
		size++
	}
	return size
}
