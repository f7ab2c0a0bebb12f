package plan

import (
	"reflect"
	"strconv"

	"github.com/evenkeel/evenkeel/cql/syntax"
)

// clientMarkers returns a copy of a statement in which the client's markers are
// slots, so that they keep their values wherever they come to stand.
func clientMarkers[S syntax.Statement](s S) S {
	return rebind(reflect.ValueOf(s)).Interface().(S)
}

var bindType = reflect.TypeFor[*syntax.Bind]()

// rebind copies a tree and renames its markers. Statements are planned once, so
// that reflection costs nothing that counts, and no node can be forgotten.
func rebind(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		if v.Type() == bindType {
			index := v.Interface().(*syntax.Bind).Index
			return reflect.ValueOf(&syntax.Bind{Name: "evenkeel_" + slotNames[Client] + "_" + strconv.Itoa(index)})
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(rebind(v.Elem()))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(rebind(v.Elem()))
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			out.Field(i).Set(rebind(v.Field(i)))
		}
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(rebind(v.Index(i)))
		}
		return out
	}
	return v
}
