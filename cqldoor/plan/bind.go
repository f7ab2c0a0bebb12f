// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"strconv"

	"github.com/evenkeel/evenkeel/cql/syntax"
)

// clientMarkers returns a copy of a statement in which the client's markers are slots. So they
// keep their values wherever the markers move to.
func clientMarkers[S syntax.Statement](s S) S {
	return replace(reflect.ValueOf(s), func(e any) (syntax.Expr, bool) {
		b, ok := e.(*syntax.Bind)
		if !ok {
			return nil, false
		}
		return &syntax.Bind{Name: "evenkeel_" + slotNames[Client] + "_" + strconv.Itoa(b.Index)}, true
	}).Interface().(S)
}

// replace copies a tree and replaces some of its expressions. It uses reflection so that no kind
// of node can be forgotten. A statement is planned only once, so the cost does not matter.
func replace(v reflect.Value, by func(e any) (syntax.Expr, bool)) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(replace(v.Elem(), by))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		if e, ok := by(v.Interface()); ok {
			out.Set(reflect.ValueOf(e))
		} else {
			out.Set(replace(v.Elem(), by))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			out.Field(i).Set(replace(v.Field(i), by))
		}
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(replace(v.Index(i), by))
		}
		return out
	}
	return v
}
