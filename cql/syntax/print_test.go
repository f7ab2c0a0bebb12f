// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"reflect"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// reporter is a test of package testing or rapid.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkRoundTrip fails unless the printed statement parses to the same tree.
func checkRoundTrip(t reporter, s Statement) {
	t.Helper()
	text := Print(s)
	again, err := Parse(text)
	if err != nil {
		t.Fatalf("printed as %s\nwhich does not parse: %v\n%#v", text, err, s)
	}
	var opts []cmp.Option
	if count, last := markers(reflect.ValueOf(s)); last >= count {
		// A marker was overwritten (USING TTL ? AND TTL ?), so the indexes of the others moved up.
		opts = append(opts, cmpopts.IgnoreFields(Bind{}, "Index"))
	}
	if d := cmp.Diff(s, again, opts...); d != "" {
		t.Fatalf("printed as %s\nwhich parses to another tree:\n%s", text, d)
	}
}

// renumber sets the indexes of the markers of a drawn statement to their positions in its text.
func renumber(s Statement) {
	byText, err := Parse(Print(s))
	if err != nil {
		return // checkRoundTrip reports this
	}
	var places []int
	eachMarker(reflect.ValueOf(byText), func(b *Bind) { places = append(places, b.Index) })
	i := 0
	eachMarker(reflect.ValueOf(s), func(b *Bind) {
		if i < len(places) {
			b.Index = places[i]
		}
		i++
	})
}

// markers counts the bind markers within v and finds the highest index.
func markers(v reflect.Value) (count, last int) {
	last = -1
	eachMarker(v, func(b *Bind) {
		count++
		last = max(last, b.Index)
	})
	return count, last
}

// eachMarker visits the markers within v in the order of the trees' fields.
func eachMarker(v reflect.Value, visit func(*Bind)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if b, ok := v.Interface().(*Bind); ok {
			visit(b)
			return
		}
		eachMarker(v.Elem(), visit)
	case reflect.Struct:
		for i := range v.NumField() {
			eachMarker(v.Field(i), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachMarker(v.Index(i), visit)
		}
	}
}
