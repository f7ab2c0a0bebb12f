// SPDX-License-Identifier: Apache-2.0

package datetime

// zones maps names of zones that mean one offset to nearly everybody, in minutes: those of RFC 822,
// and Europe's. Ambiguous names, such as IST (India's, Israel's, Ireland's), are left out.
var zones = map[string]int16{
	"z": 0, "utc": 0, "gmt": 0, "ut": 0, "wet": 0, "west": 60, "cet": 60, "met": 60, "mez": 60, "cest": 120, "mesz": 120, "eet": 120, "eest": 180, "msk": 180,
	"est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420, "akst": -540, "akdt": -480, "hst": -600,
	"jst": 540, "kst": 540, "hkt": 480, "sgt": 480, "aest": 600, "aedt": 660, "acst": 570, "awst": 480, "nzst": 720, "nzdt": 780,
}

// zone reads a zone at the cursor, if there is one: an offset in ms.
func (p *Parser) zone() (offset int64, ok bool) {
	start := p.at
	p.skip(' ')
	t := p.peek()
	if t.kind == word {
		minutes, known := zones[string(p.folded(t))]
		if !known {
			p.at = start
			return 0, false
		}
		name := p.at
		p.at++
		offset = int64(minutes) * minute
		if minutes == 0 && t.to-t.from > 1 { // GMT+2
			if more, ok := p.offset(); ok {
				return more, true
			}
			p.at = name + 1
		}
		return offset, true
	}
	if offset, ok = p.offset(); !ok {
		p.at = start
	}
	return offset, ok
}

// offset reads +2, +02, +0200 or +02:00.
func (p *Parser) offset() (int64, bool) {
	start := p.at
	sign := int64(1)
	switch {
	case p.take('+'):
	case p.take('-'):
		sign = -1
	default:
		return 0, false
	}
	t := p.peek()
	if t.kind != number || t.digits() > 4 || t.digits() == 3 {
		p.at = start
		return 0, false
	}
	p.at++
	h, m := t.n, int64(0)
	switch {
	case t.digits() == 4:
		h, m = t.n/100, t.n%100
	case p.is(':') && p.ahead(1).kind == number && p.ahead(1).digits() == 2:
		m = p.ahead(1).n
		p.at += 2
	}
	if h > 18 || m > 59 {
		p.at = start
		return 0, false
	}
	return sign * (h*hour + m*minute), true
}
