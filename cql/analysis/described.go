// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/evenkeel/evenkeel/cql/value"

// maxDescribed bounds Described. A column of a type with long names can be named in two bytes, or compared
// with a list of markers. So without a bound, a short statement could have a description of gigabytes.
const maxDescribed = 16 << 20

// Described returns about how many bytes responses take to describe a statement's markers, and the
// columns of its result. Above maxDescribed it is not exact.
func Described(s Statement) int {
	n := 0
	add := func(name string, t *value.Type) bool {
		n += len(name) + 2
		if t != nil {
			n += t.Described(maxDescribed - n)
		}
		return n <= maxDescribed
	}
	for _, b := range s.Head().Binds {
		if !add(b.Name, b.Type) {
			return n
		}
	}
	reported := func(w *Write) { // columns of the row because of which a conditional write was not applied
		for _, f := range w.Fetch {
			if !w.Conditional() || !add(f.Column.Name, f.Column.Type) {
				return
			}
		}
	}
	switch s := s.(type) {
	case *Select:
		for _, c := range s.Columns {
			if !add(c.Name, c.Type) {
				return n
			}
		}
	case *Write:
		reported(s)
	case *Batch:
		for _, w := range s.Writes {
			reported(w)
		}
	}
	return n
}
