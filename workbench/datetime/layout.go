// SPDX-License-Identifier: Apache-2.0

package datetime

import "strings"

// layout returns two hashes. layout is the same for texts that are written in the same way. form
// also ignores their zone and their precision. descending reports whether the text goes from the
// year down to its finest part, each with its full width. Texts of one such layout sort as their
// times do.
func (p *Parser) layout() (form, layout uint64, descending bool) {
	const start, prime = 14695981039346656037, 1099511628211
	form = start
	rest := uint64(start)
	add := func(c byte) { form = (form ^ uint64(c)) * prime }
	more := func(c byte) { rest = (rest ^ uint64(c)) * prime }
	descending = true
	last := role(0)
	for i := range p.count {
		t := &p.tokens[i]
		switch t.role {
		case zoneText:
			for _, c := range p.text[t.from:t.to] {
				more(c)
			}
			continue
		case fraction:
			more(byte(t.digits()))
		default:
			add(byte(t.role))
		}
		switch t.role {
		case literal:
			for _, c := range p.text[t.from:t.to] {
				add(c)
			}
			continue
		case year4, wholeDate:
			descending = descending && last == 0
		case monthNumber, dayNumber, hours, minutes, seconds:
			descending = descending && t.digits() == 2 && t.role > last && last != 0
		case wholeTime, fraction:
			add(byte(t.digits()))
			descending = descending && last != 0
		default:
			descending = false
		}
		last = t.role
		if last == wholeDate {
			last = dayNumber
		}
	}
	return form, form ^ rest*prime, descending && last != 0
}

// Describe says how a text is written, as people do: dd.mm.yyyy hh:mm. monthFirst says how to read
// a numeric date.
func Describe(text []byte, monthFirst bool) string {
	var p Parser
	if _, ok := p.Parse(text); !ok {
		return ""
	}
	var b strings.Builder
	zone := false
	for i := range p.count {
		t := &p.tokens[i]
		r := t.role
		if r != zoneText {
			zone = false
		}
		switch r {
		case firstNumber, secondNumber:
			if (r == firstNumber) == monthFirst {
				r = monthNumber
			} else {
				r = dayNumber
			}
		}
		switch r {
		case literal:
			b.Write(p.text[t.from:t.to])
		case zoneText:
			if !zone {
				if p.text[t.from] == ' ' {
					b.WriteByte(' ')
				}
				b.WriteString("zone")
			}
			zone = true
		case year4:
			b.WriteString("yyyy")
		case year2:
			b.WriteString("yy")
		case monthNumber, minutes:
			b.WriteString("mm")
		case dayNumber:
			b.WriteString("dd")
		case monthName:
			b.WriteString("month")
		case dayName:
			b.WriteString("weekday")
		case hours:
			b.WriteString("hh")
		case seconds:
			b.WriteString("ss")
		case fraction:
			b.WriteString(strings.Repeat("f", t.digits()))
		case wholeDate:
			b.WriteString("yyyymmdd")
		case wholeTime:
			b.WriteString("hhmmss"[:t.digits()])
		case half:
			b.WriteString("am/pm")
		}
	}
	return b.String()
}
