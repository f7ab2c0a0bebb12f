// SPDX-License-Identifier: Apache-2.0

package timebucket

import (
	"math"
	"time"
)

// These are the bounds of the texts and numbers that tell a time: the years 0000 to 9999, in
// milliseconds since 1970.
const (
	earliest = -62_167_219_200_000
	latest   = 253_402_300_799_999
)

// form is how a DateTime begins. d stands for a digit.
const form = "dddd-dd-ddTdd:dd:dd"

// A bucket begins at a whole second. So the first 19 characters of a text decide its bucket. Texts
// that begin like the form have the same order as their times.
//
// The bounds of a range of keys may be other texts. textTime gives such a text a time that keeps the
// order. It looks for the first character that does not fit the form, and replaces the text from there
// on by the least rest that fits. If the text is greater than each text that fits, textTime takes the
// greatest rest.

// textTime returns the time in a text, in milliseconds since 1970. ok says whether the text begins
// with a time. If it does not, ms keeps the order of texts.
func textTime(v []byte, days bool) (ms int64, ok bool) {
	var filled [len(form)]byte
	n := 0 // how much of the text has the form
	for n < len(form) && n < len(v) && fits(v[n], form[n]) {
		filled[n] = v[n]
		n++
	}
	rest := byte('0')
	if n < len(form) && n < len(v) && v[n] > highest(form[n]) {
		rest = '9'
	}
	for i := n; i < len(form); i++ {
		if filled[i] = form[i]; form[i] == 'd' {
			filled[i] = rest
		}
	}
	ms, ok = civil(&filled)
	if date := len("dddd-dd-dd"); days && n == date {
		_, ok = civil((*[len(form)]byte)(append(filled[:date:date], "T00:00:00"...)))
		return ms, ok && (len(v) == n || v[n] != 't' && v[n] != ' ' && !fits(v[n], 'd'))
	}
	return ms, ok && n == len(form) && isUTC(v[n:])
}

func fits(c, form byte) bool {
	if form == 'd' {
		return c >= '0' && c <= '9'
	}
	return c == form
}

// highest returns the highest character at a place of the form.
func highest(form byte) byte {
	if form == 'd' {
		return '9'
	}
	return form
}

// isUTC reports whether what follows the seconds is a fraction, or none, and a mark of UTC. Any
// text may follow that.
func isUTC(v []byte) bool {
	if len(v) > 1 && v[0] == '.' {
		n := 1
		for n < len(v) && fits(v[n], 'd') {
			n++
		}
		if n == 1 {
			return false
		}
		v = v[n:]
	}
	const zero = "+00:00"
	return len(v) > 0 && v[0] == 'Z' || len(v) >= len(zero) && string(v[:len(zero)]) == zero
}

// civil returns the time in a text that has the form, in milliseconds since 1970. A part that no
// calendar has, such as month 13, is taken, with all that follows, for the last one before it, or
// for the first one after it; then exact is false.
func civil(t *[len(form)]byte) (ms int64, exact bool) {
	at := func(i int) int64 { return int64(t[i]-'0')*10 + int64(t[i+1]-'0') }
	year := at(0)*100 + at(2)
	parts := [5]int64{at(5), at(8), at(11), at(14), at(17)}
	low, high := [5]int64{1, 1, 0, 0, 0}, [5]int64{12, 31, 23, 59, 59}
	beyond := 0 // an earlier part was below its lowest value (-1) or above its highest one (1)
	for i := range parts {
		if i == 1 {
			high[1] = daysIn(year, parts[0])
		}
		switch {
		case beyond < 0 || beyond == 0 && parts[i] < low[i]:
			parts[i], beyond = low[i], -1
		case beyond > 0 || parts[i] > high[i]:
			parts[i], beyond = high[i], 1
		}
	}
	seconds := ((dayOf(year, parts[0], parts[1])*24+parts[2])*60+parts[3])*60 + parts[4]
	return seconds * int64(Second), beyond == 0
}

// daysIn returns the number of days of a month.
func daysIn(year, month int64) int64 {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// dayOf returns the number of a day, 1970-01-01 being 0. A year begins in March here, so that the
// day that only some years have is its last. Cycles of the calendar have 400 years.
func dayOf(year, month, day int64) int64 {
	if month <= 2 {
		year--
	}
	year += 400 // so that no year is negative
	ofYear := (153*((month+9)%12)+2)/5 + day - 1
	return 365*year + year/4 - year/100 + year/400 + ofYear - 719_468 - 146_097
}

// numberTime returns the time in the decimal text of a number that counts units of so many
// milliseconds since 1970. ok says whether the time is one from the year 0000 to the year 9999. If
// it is not, the time keeps the order of numbers.
func numberTime(v []byte, unit int64) (ms int64, ok bool) {
	negative := len(v) > 0 && v[0] == '-'
	if negative {
		v = v[1:]
	}
	n := 0
	for ; n < len(v) && fits(v[n], 'd'); n++ {
		if ms = ms*10 + int64(v[n]-'0'); ms > latest {
			ms = latest + 1
		}
	}
	ok, below := n > 0, false
	if ms *= unit; n < len(v) && v[n] == '.' {
		for n, unit = n+1, unit/10; n < len(v) && fits(v[n], 'd'); n, unit = n+1, unit/10 {
			ms += int64(v[n]-'0') * unit
			below = below || unit == 0 && v[n] != '0'
		}
	}
	if !ok || n < len(v) {
		return math.MinInt64, false
	}
	if negative {
		ms = -ms
	}
	if negative && below {
		ms--
	}
	return min(max(ms, earliest-1), latest+1), ms >= earliest && ms <= latest
}

// leastText returns the least text that is in a bucket of a grid or in a later one. That is the shortest
// beginning of the bucket's time that is: what follows would only be taken for the least rest.
func (g Grid) leastText(k Kind, bucket int64) []byte {
	text := []byte(TextOf(g.Start(bucket), DateTime))
	for n := range text {
		if g.OfValue(k, text[:n]) >= bucket {
			return text[:n]
		}
	}
	return text
}

// TextOf returns the beginning of the texts that have a time, in whole seconds, in the form of a
// DateTime or a DateText. ms is limited to the years 0000 to 9999.
func TextOf(ms int64, k Kind) string {
	layout := "2006-01-02T15:04:05"
	if k == DateText {
		layout = time.DateOnly
	}
	return time.UnixMilli(min(max(ms, earliest), latest)).UTC().Format(layout)
}
