// SPDX-License-Identifier: Apache-2.0

package datetime

// Order says which numeric dates have the month first: by their form or, if the form is unknown, by
// the sign between their numbers. In the zero Order, all have the day first.
type Order struct {
	forms  []formOrder
	months [len(signs)]bool
}

type formOrder struct {
	form  uint64
	month bool
}

// ParseOrder parses dmy or mdy, and returns whether the month comes first. It returns false for another
// text; OrderHint then tells the user what to write.
func ParseOrder(text string) (monthFirst, ok bool) {
	return text == "mdy", text == "mdy" || text == "dmy"
}

// OrderHint explains dmy and mdy.
const OrderHint = "03/04/2024 is in April as dmy, in March as mdy"

// OrderOf returns the order in which all dates have the month first, or all the day.
func OrderOf(monthFirst bool) (o Order) {
	for i := range o.months {
		o.months[i] = monthFirst
	}
	return o
}

var signs = [...]byte{'/', '-', '.', ' '}

func signIndex(sign byte) int {
	for i, s := range signs {
		if s == sign {
			return i
		}
	}
	return len(signs) - 1
}

// MonthFirst reports whether a numeric date has the month first.
func (o *Order) MonthFirst(v *Value) bool {
	for i := range o.forms {
		if o.forms[i].form == v.Form {
			return o.forms[i].month
		}
	}
	return o.months[signIndex(v.Sign)]
}

// At returns the time of a value in that order.
func (v *Value) At(o *Order) int64 {
	if v.Numeric && v.Ms != v.Other && o.MonthFirst(v) {
		return v.Other
	}
	return v.Ms
}

// Tally counts what the numeric dates of a column show about their order, by their forms.
type Tally struct {
	forms  []formTally       // the first few
	others [len(signs)]tally // of all forms, by their signs
	twelve int64             // values with am or pm
}

type tally struct{ days, months, either int64 }

type formTally struct {
	tally
	form uint64
	sign byte
}

// mostForms is the number of forms that a Tally distinguishes.
const mostForms = 16

// Add counts a value.
func (t *Tally) Add(v *Value) {
	if v.Twelve {
		t.twelve++
	}
	if !v.Numeric {
		return
	}
	t.others[signIndex(v.Sign)].add(v)
	for i := range t.forms {
		if t.forms[i].form == v.Form {
			t.forms[i].add(v)
			return
		}
	}
	if len(t.forms) < mostForms {
		f := formTally{form: v.Form, sign: v.Sign}
		f.add(v)
		t.forms = append(t.forms, f)
	}
}

func (s *tally) add(v *Value) {
	switch {
	case v.Evidence == DayFirst:
		s.days++
	case v.Evidence == MonthFirst:
		s.months++
	case v.Ms != v.Other:
		s.either++
	}
}

func (s *tally) merge(o *tally) {
	s.days += o.days
	s.months += o.months
	s.either += o.either
}

// Merge adds another Tally's counts.
func (t *Tally) Merge(o *Tally) {
	t.twelve += o.twelve
	for i := range t.others {
		t.others[i].merge(&o.others[i])
	}
next:
	for i := range o.forms {
		f := &o.forms[i]
		for k := range t.forms {
			if t.forms[k].form == f.form {
				t.forms[k].merge(&f.tally)
				continue next
			}
		}
		if len(t.forms) < mostForms {
			t.forms = append(t.forms, *f)
		}
	}
}

// Doubt says why an order is not certain.
type Doubt uint8

const (
	Certain Doubt = iota
	Mixed         // some dates certainly have the day first, and some the month
	Guessed       // no date shows the order
)

// Order returns the order that the dates show. A form whose dates do not show it has the order of
// another form with the same sign, or of any other form. If none shows it, the order is that in
// which the dates are closer together. But nobody writes the month first in dates with points.
// narrower is above 0 if the dates lie closer with the month first, below 0 if with the day first.
// doubt is about the dates with the sign sign.
func (t *Tally) Order(narrower int) (o Order, doubt Doubt, sign byte) {
	all := tally{}
	for i := range t.others {
		all.merge(&t.others[i])
	}
	whole := func(s *tally) (month, told bool) { return s.months > s.days, s.months != s.days }
	guess := func(s byte) (month, sure bool) {
		if month, told := whole(&t.others[signIndex(s)]); told {
			return month, true
		}
		switch month, told := whole(&all); {
		case s == '.':
			return false, true
		case told:
			return month, false
		case narrower != 0:
			return narrower > 0, false
		}
		return t.twelve > 0, false
	}
	for i, s := range signs {
		o.months[i], _ = guess(s)
	}
	for i := range t.forms {
		f := &t.forms[i]
		month, told := whole(&f.tally)
		sure := true
		if !told {
			month, sure = guess(f.sign)
		}
		o.forms = append(o.forms, formOrder{f.form, month})
		switch {
		case f.either == 0:
		case f.days > 0 && f.months > 0:
			doubt, sign = Mixed, f.sign
		case !sure && doubt == Certain:
			doubt, sign = Guessed, f.sign
		}
	}
	return o, doubt, sign
}

// Uniform reports whether an order reads all ambiguous dates in the same way: with the day first,
// or with the month first.
func (t *Tally) Uniform(o *Order) (same, monthFirst bool) {
	some := false
	left := t.others
	check := func(either int64, first bool) bool {
		if either == 0 {
			return true
		}
		if some && first != monthFirst {
			return false
		}
		some, monthFirst = true, first
		return true
	}
	for i := range t.forms {
		f := &t.forms[i]
		left[signIndex(f.sign)].either -= f.either
		if !check(f.either, o.MonthFirst(&Value{Form: f.form, Sign: f.sign})) {
			return false, false
		}
	}
	for i := range left {
		if !check(left[i].either, o.months[i]) {
			return false, false
		}
	}
	return true, monthFirst
}
