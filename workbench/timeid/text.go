// SPDX-License-Identifier: Apache-2.0

package timeid

import "encoding/hex"

// Kind is a form of ids.
type Kind uint8

const (
	None Kind = iota
	ULID
	UUID7
	UUID6
	ObjectID
	KSUID
	XID
	Kinds // the number of kinds
)

// String returns the name of a kind, with its article.
func (k Kind) String() string {
	return [...]string{None: "", ULID: "a ULID", UUID7: "a UUID of version 7", UUID6: "a UUID of version 6", ObjectID: "an ObjectId", KSUID: "a KSUID", XID: "an xid"}[k]
}

// Where says which part of an id holds the time.
func (k Kind) Where() string {
	return [...]string{
		None: "", ULID: "its first ten characters count the milliseconds since 1970", UUID7: "its first 48 bits count the milliseconds since 1970",
		UUID6: "its first 60 bits, without the version, count 100 ns since 1582", ObjectID: "its first eight digits count the seconds since 1970",
		KSUID: "its first 32 bits count the seconds since 13 May 2014", XID: "its first 32 bits count the seconds since 1970",
	}[k]
}

// Step returns the step of the times of a kind, in ms.
func (k Kind) Step() int64 {
	if k >= ObjectID {
		return 1000
	}
	return 1
}

// Ids of other times are not believed: 2000 to 2050, in ms since 1970.
const (
	from = 946_684_800_000
	to   = 2_524_608_000_000
)

// lengths holds the length of the text of each kind.
var lengths = [Kinds]int{ULID: 26, UUID7: 36, UUID6: 36, ObjectID: 24, KSUID: 27, XID: 20}

// KindOf returns the kind that a text can be; None if it can be none.
func KindOf(text []byte) Kind {
	for k := ULID; k < Kinds; k++ {
		if len(text) == lengths[k] {
			if _, ok := k.Time(text); ok {
				return k
			}
		}
	}
	return None
}

// Time returns the time of an id in ms since 1970. ok is false if the text is no id of this kind.
func (k Kind) Time(text []byte) (ms int64, ok bool) {
	if k == None || len(text) != lengths[k] {
		return 0, false
	}
	switch k {
	case ULID:
		ms, ok = digits(text, &crockford, 10, 5)
	case UUID7, UUID6:
		return timeOfUUID(k, text)
	case ObjectID:
		ms, ok = digits(text, &hexadecimal, 8, 4)
		ms *= 1000
	case KSUID:
		ms, ok = ksuid(text)
	case XID:
		ms, ok = digits(text, &extended, 7, 5)
		ms = ms >> 3 * 1000
	}
	return ms, ok && ms >= from && ms < to
}

// An alphabet holds the value of each character of a base, and 255 for all others.
type alphabet [256]byte

func newAlphabet(chars string, fold bool) (a alphabet) {
	for i := range a {
		a[i] = 255
	}
	for i := range len(chars) {
		a[chars[i]] = byte(i)
		if c := chars[i]; fold && c >= 'A' && c <= 'Z' {
			a[c|0x20] = byte(i)
		}
	}
	return a
}

var (
	crockford   = newAlphabet("0123456789ABCDEFGHJKMNPQRSTVWXYZ", true)
	hexadecimal = newAlphabet("0123456789ABCDEF", true)
	extended    = newAlphabet("0123456789abcdefghijklmnopqrstuv", false)
	sixtyTwo    = newAlphabet("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", false)
)

// digits returns the number that the first digits of a text write. It checks all digits.
func digits(text []byte, in *alphabet, first int, bits uint) (n int64, ok bool) {
	for i, c := range text {
		v := in[c]
		if v == 255 {
			return 0, false
		}
		if i < first {
			n = n<<bits | int64(v)
		}
	}
	return n, true
}

// timeOfUUID reads a UUID with dashes.
func timeOfUUID(k Kind, text []byte) (ms int64, ok bool) {
	version := byte('7')
	if k == UUID6 {
		version = '6'
	}
	if text[14] != version || hexadecimal[text[19]]>>2 != 2 {
		return 0, false
	}
	high, low := int64(0), int64(0) // the first twelve digits, and the three behind the version
	for i, c := range text {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return 0, false
			}
			continue
		}
		v := hexadecimal[c]
		switch {
		case v == 255:
			return 0, false
		case i < 13:
			high = high<<4 | int64(v)
		case i > 14 && i < 18:
			low = low<<4 | int64(v)
		}
	}
	if ms = high; k == UUID6 {
		const epoch = 0x01b21dd213814000 // 1970 in units of 100 ns since 1582
		ms = ((high<<12 | low) - epoch) / 10_000
	}
	return ms, ms >= from && ms < to
}

// KindOfUUID returns the kind of the 16 bytes of a UUID; None if it is none.
func KindOfUUID(b []byte) Kind {
	for _, k := range []Kind{UUID7, UUID6} {
		if _, ok := k.TimeOfUUID(b); ok {
			return k
		}
	}
	return None
}

// TimeOfUUID returns the time in the 16 bytes of a UUID, as Time does.
func (k Kind) TimeOfUUID(b []byte) (ms int64, ok bool) {
	if k != UUID7 && k != UUID6 || len(b) != 16 {
		return 0, false
	}
	text := hex.AppendEncode(make([]byte, 0, 36), b[:4])
	for _, part := range [][]byte{b[4:6], b[6:8], b[8:10], b[10:]} {
		text = hex.AppendEncode(append(text, '-'), part)
	}
	return k.Time(text)
}

// ksuid reads the first 32 of the 160 bits that 27 digits of base 62 write.
func ksuid(text []byte) (ms int64, ok bool) {
	var limbs [5]uint64 // the lowest first
	for _, c := range text {
		carry := uint64(sixtyTwo[c])
		if carry == 255 {
			return 0, false
		}
		for i := range limbs {
			carry += limbs[i] * 62
			limbs[i] = carry & (1<<32 - 1)
			carry >>= 32
		}
		if carry > 0 {
			return 0, false
		}
	}
	return (int64(limbs[4]) + 1_400_000_000) * 1000, true
}
