// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"math"

	"github.com/evenkeel/evenkeel/cql/value"
)

var classNames = [classes]string{
	isText: "text", isInt: "integers", isVarint: "large integers", isDecimal: "decimals", isDouble: "floating-point numbers", isBool: "true or false",
	isDate: "dates", isTimestamp: "timestamps", isPeriod: "times", isWritten: "times", isTime: "times of day", isUUID: "UUIDs", isTimeuuid: "time UUIDs", isInet: "IP addresses",
	isBlob: "blobs", isNested: "JSON objects and arrays",
}

// guess returns the type of a column, and a note about anything odd in it.
func (s *state) guess() (t *value.Type, note string) {
	switch {
	case s.given != nil:
		return s.given, ""
	case s.declared != nil:
		if s.declared.Kind == value.UUID && s.values > 0 && s.count[isTimeuuid] == s.values {
			return value.Native(value.Timeuuid), ""
		}
		return s.declared, ""
	case s.values == s.empty:
		return value.Native(value.Text), "no values"
	}
	only := func(cs ...class) bool {
		n := s.empty
		for _, c := range cs {
			n += s.count[c]
		}
		return n == s.values
	}
	native := func(k value.Kind) (*value.Type, string) {
		if s.empty > 0 && k != value.Text {
			note = fmt.Sprintf("%d empty texts, taken for null", s.empty)
		}
		return value.Native(k), note
	}
	switch {
	case only(isInt):
		if s.minInt >= math.MinInt32 && s.maxInt <= math.MaxInt32 {
			return native(value.Int)
		}
		return native(value.Bigint)
	case only(isInt, isVarint):
		return native(value.Varint)
	case only(isInt, isDecimal):
		return native(value.Decimal)
	case only(isInt, isDecimal, isDouble) && s.codes > 0 && s.codes == s.count[isDouble] && s.count[isDecimal] == 0:
		return value.Native(value.Text), fmt.Sprintf("text, though %.60q could be a number: as one it would be the same as others that are written otherwise", s.example[isDouble].text)
	case only(isInt, isDecimal, isDouble):
		return native(value.Double)
	case only(isBool):
		return native(value.Boolean)
	case only(isDate):
		return native(value.Date)
	case only(isDate, isTimestamp):
		return native(value.Timestamp)
	case only(isTime):
		return native(value.Time)
	case only(isTimeuuid):
		return native(value.Timeuuid)
	case only(isUUID, isTimeuuid):
		return native(value.UUID)
	case only(isInet):
		return native(value.Inet)
	case only(isBlob):
		return native(value.Blob)
	}
	return value.Native(value.Text), s.mixed()
}

// mixed says which values keep a column from having another type than text.
func (s *state) mixed() string {
	if n := s.count[isNested]; n > 0 {
		return fmt.Sprintf("%s in %d of %d values: no column of a key", classNames[isNested], n, s.values)
	}
	if s.count[isPeriod]+s.count[isWritten]+s.count[isDate]+s.count[isTimestamp] == s.values-s.empty {
		return "" // times that have no CQL type
	}
	most, other := isText, classes
	for c := range classes {
		if s.count[c] > s.count[most] {
			most = c
		}
	}
	if most == isText || float64(s.count[most]) < 0.5*float64(s.values) {
		// Such a column is text as expected, and needs no note.
		return ""
	}
	for c := range classes {
		e := s.example[c]
		if c != most && e.seq > 0 && (other == classes || e.seq < s.example[other].seq || e.seq == s.example[other].seq && e.line < s.example[other].line) {
			other = c
		}
	}
	if other == classes {
		return "" // all values that are not of that class are empty
	}
	e := s.example[other]
	zeros := ""
	if most == isInt && len(e.text) > 1 && e.text[0] == '0' && allDigits(e.text) {
		zeros = ", whose leading zero a number would lose"
	}
	return fmt.Sprintf("text, though %d of %d values are %s: line %d has %.60q%s", s.count[most], s.values, classNames[most], e.line, e.text, zeros)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i]-'0' > 9 {
			return false
		}
	}
	return true
}
