package syntax

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// checkRoundTrip fails unless the printed statement parses to the same tree.
func checkRoundTrip(t testing.TB, s Statement) {
	t.Helper()
	text := Print(s)
	again, err := Parse(text)
	if err != nil {
		t.Fatalf("printed as %s\nwhich does not parse: %v\n%#v", text, err, s)
	}
	var opts []cmp.Option
	if count, last := markers(reflect.ValueOf(s)); last >= count {
		// A marker was overwritten (USING TTL ? AND TTL ?): the others moved up.
		opts = append(opts, cmpopts.IgnoreFields(Bind{}, "Index"))
	}
	if d := cmp.Diff(s, again, opts...); d != "" {
		t.Fatalf("printed as %s\nwhich parses to another tree:\n%s", text, d)
	}
}

// markers counts the bind markers within v and finds the highest index.
func markers(v reflect.Value) (count, last int) {
	last = -1
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Interface, reflect.Pointer:
			if v.IsNil() {
				return
			}
			if b, ok := v.Interface().(*Bind); ok {
				count++
				last = max(last, b.Index)
				return
			}
			walk(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		}
	}
	walk(v)
	return count, last
}
