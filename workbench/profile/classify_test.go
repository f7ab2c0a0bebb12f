// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
)

func TestClassify(t *testing.T) {
	for text, want := range map[string]class{
		"": isText, "0": isInt, "7": isInt, "-12": isInt, "9223372036854775807": isInt, "9223372036854775808": isVarint, "-9223372036854775807": isInt,
		"007": isText, "02139": isText, "-0": isText, "+5": isText, "1,000": isText, "1.5": isDecimal, "-0.25": isDecimal, "01.5": isText, "1.": isText, ".5": isText,
		"1e5": isDouble, "1.5E-10": isDouble, "1e": isText, "NaN": isDouble, "1e99999": isText,
		"true": isBool, "False": isBool, "truE": isText, "2020-07-09": isDate, "2020-02-30": isText, "2020-7-9": isText, "2020-07": isPeriod, "2020-13": isText,
		"2020-07-09T10": isPeriod, "2020-07-09T10:11": isTimestamp, "2020-07-09 10:11:12": isTimestamp, "2020-07-09T10:11:12.345Z": isTimestamp,
		"2020-07-09 10:11:12.345000+0200": isTimestamp, "2020-07-09T10:11:12+02:00": isTimestamp, "2020-07-09T24:00": isText, "2020-07-09x": isText,
		"10:11:12": isTime, "10:11:12.123456789": isTime, "25:00:00": isText,
		"9927a129-abed-4903-85b4-01e3129814d5": isUUID, "d2177dd0-eaa2-11de-a572-001b779c76e3": isTimeuuid, "g2177dd0-eaa2-11de-a572-001b779c76e3": isText,
		"10.0.0.1": isInet, "256.0.0.1": isText, "1.2.3": isText, "::1": isInet, "fe80::1": isInet, "2001:db8:0:0:0:0:0:1": isInet, "2001:db8::1": isInet, "face": isText, "a:b": isText, "1::2::3": isText,
		"0xca": isBlob, "0xc": isText, "0x": isText, "hello": isText, "été": isText, "d": isText, "-": isText, "-x": isText, "2020-07-09T10:": isText,
	} {
		if got, _ := classify([]byte(text)); got != want {
			t.Errorf("%q is of class %d, want %d", text, got, want)
		}
	}
}

// FuzzClassify checks that if classify takes a text for a type, the type reads the text to the same
// value.
func FuzzClassify(f *testing.F) {
	for _, s := range []string{"1", "1.5", "2020-07-09T10:11:12.345+0230", "2020-02-29", "9927a129-abed-1903-85b4-01e3129814d5", "::1", "1.2.3.4", "10:00:00.1", "0xca", "1e5", "True", "1:2:3:4:5:6:7:8", "0000-01-01"} {
		f.Add(s)
	}
	types := map[class]value.Kind{
		isInt: value.Bigint, isVarint: value.Varint, isDecimal: value.Decimal, isDouble: value.Double, isBool: value.Boolean, isDate: value.Date,
		isTimestamp: value.Timestamp, isTime: value.Time, isUUID: value.UUID, isTimeuuid: value.Timeuuid, isInet: value.Inet,
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, n := classify([]byte(text))
		k, ok := types[c]
		if !ok {
			return
		}
		typ := value.Native(k)
		v, err := serialize(nil, typ, []byte(text))
		if err != nil {
			t.Fatalf("%q is no %s: %v", text, typ, err)
		}
		if err := typ.Validate(v); err != nil {
			t.Fatalf("%q as %s is %x: %v", text, typ, v, err)
		}
		// If CQL reads the text, it reads the same value. (Only loaders read fractions of more than
		// three digits, and times without seconds in some forms.)
		if want, err := typ.FromString(text); err == nil && string(want) != string(v) {
			t.Fatalf("%q as %s is %x, CQL says %x", text, typ, v, want)
		}
		switch c {
		case isInt:
			if typ.Int64(v) != n {
				t.Fatalf("%q is %d", text, n)
			}
		case isTimestamp:
			if typ.Int64(v) != n {
				t.Fatalf("%q is %s", text, time.UnixMilli(n).UTC())
			}
		}
	})
}
