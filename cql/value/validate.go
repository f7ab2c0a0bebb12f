// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
)

// Validate checks that v is a serialized value of type t. Null is valid, and so is the empty value
// if the type allows it. The error has Cassandra's text.
func (t *Type) Validate(v []byte) error {
	if v == nil {
		return nil
	}
	switch t.Kind {
	case Ascii:
		for _, b := range v {
			if b >= 0x80 {
				return fmt.Errorf("Invalid byte for ascii: %d", int8(b))
			}
		}
	case Text:
		if !validText(v) {
			return errors.New("String didn't validate.")
		}
	case Bigint, Counter:
		return length(v, 8, "Expected 8 or 0 byte long (%d)")
	case Int:
		return length(v, 4, "Expected 4 or 0 byte int (%d)")
	case Boolean:
		return length(v, 1, "Expected 1 or 0 byte value (%d)")
	case Double:
		return length(v, 8, "Expected 8 or 0 byte value for a double (%d)")
	case Float:
		return length(v, 4, "Expected 4 or 0 byte value for a float (%d)")
	case Timestamp:
		return length(v, 8, "Expected 8 or 0 byte long for date (%d)")
	case UUID:
		return length(v, 16, "UUID should be 16 or 0 bytes (%d)")
	case Timeuuid:
		if err := length(v, 16, "UUID should be 16 or 0 bytes (%d)"); err != nil || len(v) == 0 {
			return err
		}
		if v[6]>>4 != 1 {
			return errors.New("Invalid version for TimeUUID type: 0x0") // Cassandra's text has 0x0 for every version
		}
	case Decimal:
		if len(v) > 0 && len(v) < 4 {
			return fmt.Errorf("Expected 0 or at least 4 bytes (%d)", len(v))
		}
	case Inet:
		if n := len(v); n != 0 && n != 4 && n != 16 {
			return fmt.Errorf("Expected 4 or 16 byte inetaddress; got %s", hex.EncodeToString(v))
		}
	case Smallint:
		return exact(v, 2, "Expected 2 bytes for a smallint (%d)")
	case Tinyint:
		return exact(v, 1, "Expected 1 byte for a tinyint (%d)")
	case Date:
		return exact(v, 4, "Expected 4 byte long for date (%d)")
	case Time:
		return exact(v, 8, "Expected 8 byte long for time (%d)")
	case Duration:
		return validateDuration(v)
	case Empty:
		if len(v) > 0 {
			return errors.New("EmptyType only accept empty values")
		}
	case List, Set, Map:
		return t.validateCollection(v)
	case Tuple, UDT:
		return t.validateTuple(v)
	case Vector:
		return t.validateVector(v)
	}
	return nil
}

// AllowsEmpty reports whether the empty value is valid for type t.
func (t *Type) AllowsEmpty() bool {
	switch t.Kind {
	case Smallint, Tinyint, Date, Time, Duration, List, Set, Map, Vector:
		return false
	}
	return true
}

// EmptyMeaningless reports whether the empty value counts as null in computations. This is so for
// most numbers, timestamps, uuids, …, whose empty value is a legacy.
func (t *Type) EmptyMeaningless() bool {
	switch t.Kind {
	case Bigint, Boolean, Counter, Decimal, Double, Float, Int, Timestamp, UUID, Varint, Timeuuid, Inet:
		return true
	}
	return false
}

func length(v []byte, n int, message string) error {
	if len(v) == 0 {
		return nil
	}
	return exact(v, n, message)
}

func exact(v []byte, n int, message string) error {
	if len(v) != n {
		return fmt.Errorf(message, len(v))
	}
	return nil
}

// validText reports whether v passes Cassandra's check of UTF-8. It is laxer than the standard: it
// allows surrogates, code points above the last one, the two-byte NUL, and any second byte except
// 0x80…0x9f after 0xe0.
func validText(v []byte) bool {
	for i := 0; i < len(v); {
		b := v[i]
		i++
		more := 0
		switch {
		case b < 0x80:
			continue
		case b == 0xc0:
			if i == len(v) || v[i] != 0x80 {
				return false
			}
			i++
			continue
		case b&0xe0 == 0xc0:
			if b == 0xc1 {
				return false
			}
			more = 1
		case b == 0xe0:
			if i == len(v) || v[i]&0xe0 == 0x80 {
				return false
			}
			i++
			more = 1
		case b&0xf0 == 0xe0:
			more = 2
		case b == 0xf0:
			if i == len(v) || v[i]&0x30 == 0 {
				return false
			}
			i++
			more = 2
		case b&0xf8 == 0xf0:
			more = 3
		default:
			return false
		}
		if len(v)-i < more {
			return false
		}
		for ; more > 0; more-- {
			if v[i]&0xc0 != 0x80 {
				return false
			}
			i++
		}
	}
	return true
}

func validateDuration(v []byte) error {
	if len(v) < 3 {
		return fmt.Errorf("Expected at least 3 bytes for a duration (%d)", len(v))
	}
	var n [3]int64
	for i := range n {
		u, size := readVint(v)
		if size == 0 {
			return errors.New("Not enough bytes to read a duration")
		}
		n[i], v = unzigzag(u), v[size:]
	}
	if n[0] != int64(int32(n[0])) {
		return fmt.Errorf("The duration months must be a 32 bits integer but was: %d", n[0])
	}
	if n[1] != int64(int32(n[1])) {
		return fmt.Errorf("The duration days must be a 32 bits integer but was: %d", n[1])
	}
	if (n[0] < 0 || n[1] < 0 || n[2] < 0) && (n[0] > 0 || n[1] > 0 || n[2] > 0) {
		return fmt.Errorf("The duration months, days and nanoseconds must be all of the same sign (%d, %d, %d)", n[0], n[1], n[2])
	}
	return nil
}

func (t *Type) validateCollection(v []byte) error {
	if len(v) < 4 {
		return fmt.Errorf("Not enough bytes to read a %s", names[t.Kind])
	}
	p := t.Parts(v)
	for i := 0; p.Next(); i++ {
		if p.part == nil {
			return errNullPart
		}
		if err := t.Elems[i%len(t.Elems)].Validate(p.part); err != nil {
			return err
		}
	}
	return t.faultOf(&p)
}

var errNullPart = errors.New("Null value read when not allowed")

// faultOf returns the error of a finished walk over a collection.
func (t *Type) faultOf(p *Parts) error {
	switch p.fault {
	case shortSize, shortPart:
		return fmt.Errorf("Not enough bytes to read a %s", names[t.Kind])
	case surplus:
		return fmt.Errorf("Unexpected extraneous bytes after %s value", names[t.Kind])
	}
	return nil
}

func (t *Type) validateTuple(v []byte) error {
	what := func(i int) string {
		if t.Kind == UDT {
			return fmt.Sprintf("%dth field %s", i, t.Fields[i])
		}
		return fmt.Sprintf("%dth component", i)
	}
	p, i := t.Parts(v), 0
	for ; p.Next(); i++ {
		if p.part == nil {
			continue
		}
		if err := t.Elems[i].Validate(p.part); err != nil {
			if t.Kind == UDT {
				return fmt.Errorf("Failure validating the %s; %w", what(i), err)
			}
			return err
		}
	}
	switch p.fault {
	case shortSize:
		return fmt.Errorf("Not enough bytes to read size of %s", what(i))
	case shortPart:
		return fmt.Errorf("Not enough bytes to read %s", what(i))
	case surplus:
		if t.Kind == UDT {
			return errors.New("Invalid remaining data after end of UDT value")
		}
		return errors.New("Invalid remaining data after end of tuple value")
	}
	return nil
}

func (t *Type) validateVector(v []byte) error {
	if len(v) == 0 {
		return errors.New("Invalid empty vector value")
	}
	p := t.Parts(v)
	for p.Next() {
		if err := t.Elems[0].Validate(p.part); err != nil {
			return err
		}
	}
	switch p.fault {
	case shortPart:
		if l, _ := readVint(p.rest); p.fixed == vint {
			return fmt.Errorf("Attempted to read %d, but the size is %d", l, len(p.rest)-vintSize(l))
		}
		fallthrough
	case shortSize:
		return fmt.Errorf("Not enough bytes to read a %s", t)
	case longSize:
		l, _ := readVint(p.rest)
		return fmt.Errorf("%d is out of range for a 32-bit integer", int64(l))
	case surplus:
		return fmt.Errorf("Unexpected %d extraneous bytes after %s value", len(p.rest), t)
	}
	return nil
}

// Int64 returns the integer of a bigint, counter, timestamp, time, int, date (as days, with the
// epoch at 2^31), smallint or tinyint. It returns 0 if the length is not the type's.
func (t *Type) Int64(v []byte) int64 {
	switch {
	case len(v) == 8:
		return int64(binary.BigEndian.Uint64(v))
	case len(v) == 4 && t.Kind == Date:
		return int64(binary.BigEndian.Uint32(v))
	case len(v) == 4:
		return int64(int32(binary.BigEndian.Uint32(v)))
	case len(v) == 2:
		return int64(int16(binary.BigEndian.Uint16(v)))
	case len(v) == 1:
		return int64(int8(v[0]))
	}
	return 0
}
