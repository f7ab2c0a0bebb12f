// SPDX-License-Identifier: Apache-2.0

package attribute

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// Conversions of JSON types, and AWS's messages if a conversion is not possible. They apply to
// attribute values and to all members of requests.

const (
	msgStructure = "Start of structure or map found where not expected"
	msgField     = "Unexpected field type"
)

// fail makes the reader fail with a SerializationException.
func fail(r *jsontext.Reader, message string) {
	if r.Err() == nil {
		r.Fail(exception.New(exception.Serialization, "%s", message))
	}
}

// mismatch skips the value, so that a syntax error of the JSON is found first, and fails.
func mismatch(r *jsontext.Reader, message string) {
	r.Skip()
	fail(r, message)
}

// convert fails because the value cannot be converted to a scalar type.
func convert(r *jsontext.Reader, to string) {
	switch k := r.Peek(); k {
	case jsontext.Object:
		mismatch(r, msgStructure)
	case jsontext.Array:
		mismatch(r, "Unrecognized collection type class java.lang."+to)
	case jsontext.True:
		mismatch(r, "TRUE_VALUE cannot be converted to "+to)
	case jsontext.False:
		mismatch(r, "FALSE_VALUE cannot be converted to "+to)
	case jsontext.String:
		mismatch(r, "STRING_VALUE cannot be converted to "+to)
	case jsontext.Number:
		name := "NUMBER_VALUE"
		if strings.ContainsAny(r.Number(), ".eE") {
			name = "DECIMAL_VALUE"
		}
		fail(r, name+" cannot be converted to "+to)
	default:
		r.Skip()
	}
}

// ReadString reads a String.
func ReadString(r *jsontext.Reader) string {
	if r.Peek() != jsontext.String {
		convert(r, "String")
		return ""
	}
	return r.Text()
}

// ReadBool reads a Boolean, which may be given as a string.
func ReadBool(r *jsontext.Reader) bool {
	switch r.Peek() {
	case jsontext.True, jsontext.False:
		return r.Bool()
	case jsontext.String:
		switch strings.ToUpper(r.Text()) {
		case "TRUE", "1", "YES":
			return true
		case "FALSE", "0", "NO":
			return false
		}
		fail(r, "Unexpected token received from parser")
		return false
	}
	convert(r, "Boolean")
	return false
}

// EnterList enters a List. The reader's Next then goes from element to element.
func EnterList(r *jsontext.Reader) bool {
	switch r.Peek() {
	case jsontext.Array:
		r.Array()
		return r.Err() == nil
	case jsontext.Object:
		mismatch(r, msgStructure)
	case jsontext.Invalid:
		r.Skip()
	default:
		mismatch(r, msgField)
	}
	return false
}

// Mismatch fails because the value is not of the scalar type that messages call as.
func Mismatch(r *jsontext.Reader, as string) { convert(r, as) }

// EnterMap enters a Map whose values messages call of.
func EnterMap(r *jsontext.Reader, of string) bool {
	switch r.Peek() {
	case jsontext.Object:
		r.Object()
		return r.Err() == nil
	case jsontext.Array:
		mismatch(r, "Unrecognized collection type java.util.Map<java.lang.String, "+of+">")
	case jsontext.Invalid:
		r.Skip()
	default:
		mismatch(r, msgField)
	}
	return false
}

// EnterStructure enters a structure that messages call class. If the value is null, it reads the
// null and returns false. element says that the structure is in a list or map.
func EnterStructure(r *jsontext.Reader, class string, element bool) bool {
	switch r.Peek() {
	case jsontext.Object:
		r.Object()
		return r.Err() == nil
	case jsontext.Null:
		r.Null()
	case jsontext.Array:
		mismatch(r, "Unrecognized collection type class "+class)
	case jsontext.Invalid:
		r.Skip()
	default:
		if element {
			mismatch(r, "Unexpected value type in payload")
		} else {
			mismatch(r, msgField)
		}
	}
	return false
}

// NotParameterized fails because a value in a map must be a list and is not.
func NotParameterized(r *jsontext.Reader) {
	mismatch(r, "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class "+
		"(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')")
}
