// SPDX-License-Identifier: Apache-2.0

package datetime

import "github.com/evenkeel/evenkeel/cql/value"

// Value is the result of reading a text.
type Value struct {
	Ms    int64 // since 1970, UTC; if the text is ambiguous, with the day first
	Nanos int32 // the remainder below a millisecond
	// Other is the time with the month first if the text can be read in both ways; else it equals
	// Ms.
	Other int64
	// Numeric says that the day and the month are numbers before the year, separated by Sign.
	// Evidence is what they show about the order.
	Numeric  bool
	Sign     byte
	Evidence Evidence
	Twelve   bool // a clock of twelve hours
	Clock    bool // has a time of day
	Monthly  bool // has no day
	Yearly   bool // the year comes first, and every finer part has its full width
	// Form is the same for texts that are written in the same way, whatever their zone and
	// fraction. Layout also distinguishes zone and fraction.
	Form, Layout uint64
}

// Evidence is what a numeric date shows about the order of its parts.
type Evidence uint8

const (
	Either     Evidence = iota // 03/04/2024, and 03/03/2024, which is the same in both
	DayFirst                   // 31/12/2024
	MonthFirst                 // 12/31/2024
)

// role is the role of a token in a time.
type role uint8

const (
	literal role = iota
	year4
	year2
	monthNumber
	dayNumber
	firstNumber  // day or month
	secondNumber // month or day
	monthName
	dayName
	hours
	minutes
	seconds
	fraction
	wholeDate // 20240315
	wholeTime // 101500, 1015
	half      // am, pm
	zoneText
)

// reading is the state of a reading.
type reading struct {
	year, month, day int64
	first, second    int64 // of a numeric date whose year is last
	numeric          bool
	sign             byte
	h, m, s          int64
	nanos            int64
	clock, twelve    bool
	monthly          bool
	dateDone         bool
	offset           int64
	yearFirst        bool
}

// Parse reads a text. It returns false if the text is no time.
func Parse(b []byte) (Value, bool) {
	var p Parser
	return p.Parse(b)
}

// Parse reads a text as the function Parse does, and is faster for many texts.
func (p *Parser) Parse(b []byte) (v Value, ok bool) {
	if !p.lex(b) || !p.whole() {
		return Value{}, false
	}
	return p.value()
}

// whole reads the whole text.
func (p *Parser) whole() bool {
	if p.weekday() && p.rest() {
		return true
	}
	p.at, p.v = 0, reading{}
	for i := range p.count {
		p.tokens[i].role = literal
	}
	return p.rest()
}

// weekday reads the name of a day, and the separator before the date.
func (p *Parser) weekday() bool {
	if p.wordIn(weekdays) == 0 {
		return false
	}
	p.mark(dayName)
	p.skip('.')
	if p.take('-') && p.wordIn(weekdays) != 0 { // segunda-feira
		p.mark(dayName)
	}
	p.skip(',')
	p.skip(' ')
	return p.at < p.count
}

// mark sets the role of the token at the cursor.
func (p *Parser) mark(r role) {
	p.tokens[p.at].role = r
	p.at++
}

// rest reads a date and a time of day, in either order.
func (p *Parser) rest() bool {
	for p.wordIn(fillers) != 0 && p.wordIn(months) == 0 {
		p.at++
		p.skip(' ')
	}
	if t, next := p.peek(), p.ahead(1); t.kind == number && t.digits() <= 2 && next.kind == sign && next.c == ':' {
		if !p.clock(false) {
			return false
		}
		p.zoned()
		p.gap()
		if p.wordIn(weekdays) != 0 && p.wordIn(months) == 0 {
			p.weekday()
		}
		return p.date() && p.v.dateDone && p.ended()
	}
	if !p.date() {
		return false
	}
	if p.v.dateDone && p.ended() {
		return true
	}
	if !p.joined() || !p.clock(true) {
		return false
	}
	if !p.v.dateDone { // Mar 15 10:00:00 [CET] 2024
		p.zoned()
		p.skip(' ')
		if !p.yearAt(4) {
			return false
		}
		p.v.dateDone = true
		return p.ended()
	}
	p.zoned()
	return p.ended()
}

// zoned reads a zone if there is one.
func (p *Parser) zoned() {
	from := p.at
	offset, ok := p.zone()
	if !ok {
		return
	}
	p.v.offset = offset
	for i := from; i < p.at; i++ {
		p.tokens[i].role = zoneText
	}
}

// ended reads what may follow a time: blanks, a point, the name of a zone in brackets.
func (p *Parser) ended() bool {
	start := p.at
	if p.tail() {
		return true
	}
	p.at = start
	return false
}

func (p *Parser) tail() bool {
	p.skip(' ')
	for p.wordIn(fillers) != 0 {
		p.at++
		p.skip('.')
		p.skip(' ')
	}
	p.skip('.')
	if t := p.peek(); t.kind == sign && (t.c == '(' || t.c == '[') {
		last := p.tokens[p.count-1]
		if last.kind != sign || last.c != t.c+1 && last.c != t.c+2 {
			return false
		}
		for p.at < p.count {
			p.mark(zoneText)
		}
	}
	return p.at == p.count
}

// gap reads the separator between a time of day and the date after it.
func (p *Parser) gap() {
	p.skip(',')
	p.skip(' ')
	for p.wordIn(fillers) != 0 && p.wordIn(months) == 0 {
		p.at++
		p.skip(' ')
	}
}

// joined reads the separator between a date and the time of day after it.
func (p *Parser) joined() bool {
	start := p.at
	if t := p.peek(); t.kind == word && t.to-t.from == 1 && p.text[t.from]|0x20 == 't' && p.ahead(1).kind == number {
		p.at++
		return true
	}
	switch {
	case p.take(':'), p.take('_'), p.take('-'):
		return p.peek().kind == number
	}
	p.skip('.')
	p.skip(',')
	p.skip(' ')
	for p.wordIn(fillers) != 0 {
		p.at++
		p.skip('.')
		p.skip(' ')
	}
	return p.at > start
}

// date reads a date. If the date has no year, dateDone stays false.
func (p *Parser) date() bool {
	t := p.peek()
	switch {
	case t.kind == number && t.digits() == 8:
		y, m, d := t.n/10000, t.n/100%100, t.n%100
		if !p.setDate(y, m, d) {
			return false
		}
		p.v.yearFirst = true
		p.mark(wholeDate)
		return true
	case t.kind == number && t.digits() == 4:
		return p.yearFirst()
	case t.kind == number && t.digits() <= 2:
		return p.dayOrMonthFirst()
	case t.kind == word:
		return p.monthFirst()
	}
	return false
}

func (p *Parser) setDate(y, m, d int64) bool {
	if y < 1800 || y > 2200 || m < 1 || m > 12 || d < 1 || d > value.MonthLength(y, m) {
		return false
	}
	p.v.year, p.v.month, p.v.day, p.v.dateDone = y, m, d, true
	return true
}

// between reads the separator of a date's numbers, with blanks: a sign, which it returns, or only
// blanks.
func (p *Parser) between() (c byte, ok bool) {
	if t := p.peek(); t.kind == sign && (t.c == '-' || t.c == '/' || t.c == '.') {
		p.at++
		p.skip(' ')
		return t.c, true
	}
	if p.take(' ') {
		return ' ', true
	}
	return 0, false
}

// isWord reports whether the token at the cursor is one of some words.
func (p *Parser) isWord(list ...string) bool {
	t := p.peek()
	if t.kind != word {
		return false
	}
	w := p.folded(t)
	for _, s := range list {
		if string(w) == s {
			return true
		}
	}
	return false
}

// yearFirst reads 2024-03-15, 2024/3/15, 2024. 03. 15., 2024 March 15, 2024年3月15日,
// 2024/03.
func (p *Parser) yearFirst() bool {
	y := p.peek().n
	p.mark(year4)
	p.v.yearFirst = true
	if p.isWord("年", "년") {
		p.at++
		p.skip(' ')
		m := p.peek()
		if m.kind != number || m.digits() > 2 {
			return false
		}
		p.mark(monthNumber)
		if !p.isWord("月", "월") {
			return false
		}
		p.at++
		p.skip(' ')
		if p.at == p.count {
			p.v.monthly = true
			return p.setDate(y, m.n, 1)
		}
		d := p.peek()
		if d.kind != number || d.digits() > 2 {
			return false
		}
		p.mark(dayNumber)
		if !p.isWord("日", "号", "일") {
			return false
		}
		p.at++
		return p.setDate(y, m.n, d.n)
	}
	c, ok := p.between()
	if !ok {
		return false
	}
	m := int64(p.wordIn(months))
	named := m > 0
	switch t := p.peek(); {
	case named:
		p.mark(monthName)
		p.skip('.')
	case t.kind == number && t.digits() <= 2:
		m = t.n
		p.mark(monthNumber)
	default:
		return false
	}
	if p.at == p.count && !named && c != ' ' && c != '.' && p.tokens[p.at-1].digits() == 2 {
		p.v.monthly = true
		return p.setDate(y, m, 1)
	}
	c2, ok := p.between()
	d := p.peek()
	if !ok || c2 != c && !named || d.kind != number || d.digits() > 2 {
		return false
	}
	p.mark(dayNumber)
	return p.setDate(y, m, d.n)
}

// dayOrMonthFirst reads 15.03.2024, 03/15/24, 15 March 2024, 15-Mar-24, 03/2024.
func (p *Parser) dayOrMonthFirst() bool {
	a := p.peek()
	p.at++
	if p.isWord("st", "nd", "rd", "th", "er", "º", "ª", "ère", "e", "ten", "ter") {
		p.at++
	}
	point := p.is('.')
	c, parted := p.between()
	if t := p.peek(); parted && t.kind == number {
		if t.digits() == 4 && (c == '/' || c == '-') && p.ahead(1).kind == end {
			p.tokens[p.place(a)].role = monthNumber
			p.v.monthly = true
			y := t.n
			p.mark(year4)
			return p.setDate(y, a.n, 1)
		}
		return t.digits() <= 2 && p.numeric(a, c)
	}
	p.tokens[p.place(a)].role = dayNumber
	for p.wordIn(fillers) != 0 && p.wordIn(months) == 0 {
		p.at++
		p.skip(' ')
	}
	m := int64(p.wordIn(months))
	if m == 0 {
		return false
	}
	p.mark(monthName)
	p.skip('.')
	p.skip(',')
	if _, ok := p.between(); !ok && !point && p.peek().kind != number {
		return false
	}
	for p.wordIn(fillers) != 0 {
		p.at++
		p.skip(' ')
	}
	if !p.yearAt(2) {
		return false
	}
	return p.setDate(p.v.year, m, a.n)
}

// place returns the index of a token.
func (p *Parser) place(t token) int {
	for i := p.at; i > 0; i-- {
		if p.tokens[i-1].from == t.from {
			return i - 1
		}
	}
	return 0
}

// yearAt reads a year of four digits, or of at least least digits.
func (p *Parser) yearAt(least int) bool {
	t := p.peek()
	switch {
	case t.kind != number:
		return false
	case t.digits() == 4:
		p.v.year = t.n
		p.mark(year4)
		return t.n >= 1800 && t.n <= 2200
	case t.digits() == 2 && least == 2:
		p.v.year = century(t.n)
		p.mark(year2)
		return true
	}
	return false
}

// century returns the year that two digits mean.
func century(n int64) int64 {
	if n < 69 {
		return 2000 + n
	}
	return 1900 + n
}

// numeric continues after the first number of 15.03.2024 and its separator.
func (p *Parser) numeric(a token, c byte) bool {
	b := p.peek()
	p.at++
	c2, ok := p.between()
	y := p.peek()
	if !ok || c2 != c || y.kind != number || y.digits() != 4 && y.digits() != 2 {
		return false
	}
	if y.digits() == 2 {
		// The meaning of 1.2.03 is unknown: it may be a version.
		if c != '/' && (a.digits() != 2 || b.digits() != 2) || c == ' ' {
			return false
		}
		if a.n > 31 { // 99/03/15
			if !p.setDate(century(a.n), b.n, y.n) {
				return false
			}
			p.tokens[p.place(a)].role, p.tokens[p.place(b)].role = year2, monthNumber
			p.mark(dayNumber)
			return true
		}
	}
	p.tokens[p.place(a)].role, p.tokens[p.place(b)].role = firstNumber, secondNumber
	if !p.yearAt(2) {
		return false
	}
	p.v.numeric, p.v.sign, p.v.first, p.v.second, p.v.dateDone = true, c, a.n, b.n, true
	return p.possible(a.n, b.n) || p.possible(b.n, a.n)
}

// possible reports whether the year has such a day and month.
func (p *Parser) possible(d, m int64) bool {
	return m >= 1 && m <= 12 && d >= 1 && d <= value.MonthLength(p.v.year, m)
}

// monthFirst reads March 15, 2024; Mar 15 of ctime, whose year comes after the time of day; and
// March 2024.
func (p *Parser) monthFirst() bool {
	m := int64(p.wordIn(months))
	if m == 0 {
		return false
	}
	p.mark(monthName)
	p.skip('.')
	if _, ok := p.between(); !ok {
		return false
	}
	for p.wordIn(fillers) != 0 {
		p.at++
		p.skip(' ')
	}
	d := p.peek()
	if d.kind != number {
		return false
	}
	if d.digits() == 4 {
		p.mark(year4)
		p.v.monthly = true
		return p.setDate(d.n, m, 1)
	}
	if d.digits() > 2 {
		return false
	}
	p.mark(dayNumber)
	if p.isWord("st", "nd", "rd", "th") {
		p.at++
	}
	if next := p.ahead(1); p.is(' ') && next.kind == number && next.digits() <= 2 {
		p.v.month, p.v.day = m, d.n // the time of day comes next
		return true
	}
	p.skip(',')
	if _, ok := p.between(); !ok && !p.is(',') && p.peek().kind != number {
		return false
	}
	for p.wordIn(fillers) != 0 {
		p.at++
		p.skip(' ')
	}
	if !p.yearAt(2) {
		return false
	}
	return p.setDate(p.v.year, m, d.n)
}

// clock reads a time of day. behind says that a date stands before it. Then an hour alone is a
// time, and so are digits without colons.
func (p *Parser) clock(behind bool) bool {
	early, late := p.isWord("上午", "오전"), p.isWord("下午", "오후")
	if early || late {
		p.mark(half)
		p.skip(' ')
	}
	t := p.peek()
	if t.kind != number {
		return false
	}
	p.v.clock = true
	switch d := t.digits(); {
	case behind && (d == 4 || d == 6):
		p.v.h, p.v.m = t.n/100, t.n%100
		if d == 6 {
			p.v.h, p.v.m, p.v.s = t.n/10000, t.n/100%100, t.n%100
		}
		p.mark(wholeTime)
		if d == 6 && !p.fraction() {
			return false
		}
	case d > 2:
		return false
	default:
		p.v.h = t.n
		p.mark(hours)
		if !p.minutes(behind) {
			return false
		}
	}
	if p.v.m > 59 || p.v.s > 59 {
		return false
	}
	return p.halves(early, late)
}

// minutes reads what follows an hour.
func (p *Parser) minutes(behind bool) bool {
	two := func(n int) bool { t := p.ahead(n); return t.kind == number && t.digits() == 2 }
	c := p.peek().c
	switch {
	case p.peek().kind == sign && (c == ':' || c == '.' && behind) && two(1):
		p.at++
		p.v.m = p.peek().n
		p.mark(minutes)
		if p.is(c) && two(1) {
			p.at++
			p.v.s = p.peek().n
			p.mark(seconds)
			return p.fraction()
		}
	case p.isWord("h", "時", "时", "点", "點", "시", "u"):
		p.at++
		p.skip(' ')
		if t := p.peek(); t.kind == number && t.digits() <= 2 {
			p.v.m = t.n
			p.mark(minutes)
			if p.isWord("m", "min", "分", "분") {
				p.at++
				p.skip(' ')
				if t := p.peek(); t.kind == number && t.digits() <= 2 {
					p.v.s = t.n
					p.mark(seconds)
					if p.isWord("s", "sec", "秒", "초") {
						p.at++
					}
				}
			}
		}
	case p.twelve(p.at):
	default:
		// This is an hour alone, behind a date that begins with the year.
		return behind && p.v.yearFirst && p.tokens[p.at-1].digits() == 2
	}
	return true
}

// fraction reads a part of a second.
func (p *Parser) fraction() bool {
	t := p.ahead(1)
	if !(p.is('.') || p.is(',')) || t.kind != number {
		return true
	}
	if t.digits() > 9 {
		return false
	}
	p.at++
	p.mark(fraction)
	p.v.nanos = t.n
	for range 9 - t.digits() {
		p.v.nanos *= 10
	}
	return true
}

// twelve reports whether am or pm stands at a token, perhaps after a blank.
func (p *Parser) twelve(at int) bool {
	if p.tokens[at].kind == sign && p.tokens[at].c == ' ' {
		at++
	}
	t := p.tokens[min(at, p.count)]
	if t.kind != word {
		return false
	}
	switch w := p.folded(t); string(w) {
	case "am", "pm":
		return true
	case "a", "p": // a.m., p. m.
		next, after := p.tokens[min(at+1, p.count)], p.tokens[min(at+2, p.count)]
		if next.kind == sign && next.c == '.' && after.kind == sign && after.c == ' ' {
			after = p.tokens[min(at+3, p.count)]
		}
		return next.kind == sign && next.c == '.' && after.kind == word && after.to-after.from == 1 && p.text[after.from]|0x20 == 'm'
	}
	return false
}

// halves reads am or pm after the time, and converts to twenty-four hours.
func (p *Parser) halves(early, late bool) bool {
	if !early && !late && p.twelve(p.at) {
		p.skip(' ')
		late = p.text[p.peek().from]|0x20 == 'p'
		early = !late
		if one := p.peek(); one.to-one.from == 1 {
			p.mark(half)
			p.at++ // the point
			p.skip(' ')
			p.at++ // m
			p.skip('.')
		} else {
			p.mark(half)
		}
	}
	if !early && !late {
		return p.v.h <= 23
	}
	p.v.twelve = true
	if p.v.h < 1 || p.v.h > 12 {
		return false
	}
	p.v.h %= 12
	if late {
		p.v.h += 12
	}
	return true
}

// value returns what was read.
func (p *Parser) value() (Value, bool) {
	r := &p.v
	at := ((r.h*60+r.m)*60+r.s)*1000 + r.nanos/1_000_000 - r.offset
	v := Value{Nanos: int32(r.nanos % 1_000_000), Twelve: r.twelve, Clock: r.clock, Monthly: r.monthly}
	date := func(d, m int64) int64 { return value.DaysFromCivil(r.year, m, d)*day + at }
	if !r.numeric {
		if !p.setDate(r.year, r.month, r.day) { // a date of ctime has not been checked yet
			return Value{}, false
		}
		v.Ms = date(r.day, r.month)
		v.Other = v.Ms
	} else {
		v.Numeric, v.Sign = true, r.sign
		switch {
		case !p.possible(r.second, r.first):
			v.Evidence = DayFirst
			v.Ms = date(r.first, r.second)
			v.Other = v.Ms
		case !p.possible(r.first, r.second):
			v.Evidence = MonthFirst
			v.Ms = date(r.second, r.first)
			v.Other = v.Ms
		default:
			v.Ms, v.Other = date(r.first, r.second), date(r.second, r.first)
		}
	}
	v.Form, v.Layout, v.Yearly = p.layout()
	return v, true
}
