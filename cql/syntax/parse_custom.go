// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strings"
	"unicode/utf8"
)

// marshalPackage is the package of the types that a custom type may name without a package.
const marshalPackage = "org.apache.cassandra.db.marshal."

// marshalClasses are the classes of that package that are types. The value is 1 if a class needs
// parameters, else 0.
var marshalClasses = map[string]int{
	"AsciiType": 0, "BooleanType": 0, "ByteType": 0, "BytesType": 0, "CompositeType": 0, "CounterColumnType": 0,
	"DateType": 0, "DecimalType": 0, "DoubleType": 0, "DurationType": 0, "DynamicCompositeType": 0, "EmptyType": 0,
	"FloatType": 0, "InetAddressType": 0, "Int32Type": 0, "IntegerType": 0, "LegacyTimeUUIDType": 0,
	"LexicalUUIDType": 0, "LongType": 0, "ShortType": 0, "SimpleDateType": 0, "TimeType": 0, "TimeUUIDType": 0,
	"TimestampType": 0, "UTF8Type": 0, "UUIDType": 0, "PartitionerDefinedOrder": 0,
	"FrozenType": 1, "ListType": 1, "MapType": 1, "ReversedType": 1, "SetType": 1, "TupleType": 1, "UserType": 1,
	"VectorType": 1,
}

// customTypeError returns Cassandra's error for the class of a custom type; "" if the class is
// known. An unknown class is a syntax error with its own text.
func customTypeError(text string) string {
	name, rest := marshalName(text)
	if name == "" {
		return "" // the empty type is BytesType
	}
	short, ok := strings.CutPrefix(name, marshalPackage)
	if !ok && strings.Contains(name, ".") {
		return "Unable to find abstract-type class '" + name + "'"
	}
	needs, known := marshalClasses[short]
	if !known {
		return "Unable to find abstract-type class '" + marshalPackage + short + "'"
	}
	if needs == 0 {
		return ""
	}
	ill := "Invalid definition for comparator " + marshalPackage + short + "."
	rest = strings.TrimLeft(rest, " ")
	if !strings.HasPrefix(rest, "(") || !strings.Contains(rest, ")") {
		return ill
	}
	switch short {
	case "ListType", "SetType", "MapType", "FrozenType", "ReversedType":
		if customTypeError(rest[1:]) != "" {
			return ill
		}
	}
	return ""
}

// qualifyMarshal adds the package to the classes of a custom type, as messages do.
func qualifyMarshal(text string) string {
	var b strings.Builder
	for text != "" {
		name, rest := marshalName(text)
		if name == "" {
			_, n := utf8.DecodeRuneInString(text)
			name, rest = text[:n], text[n:]
		} else if _, ok := marshalClasses[name]; ok {
			name = marshalPackage + name
		}
		b.WriteString(name)
		text = rest
	}
	return b.String()
}

// marshalName splits the class name off the front of text.
func marshalName(text string) (name, rest string) {
	text = strings.TrimLeft(text, " ")
	i := 0
	for i < len(text) && (chars[text[i]]&charWord != 0 || strings.IndexByte("-+.&", text[i]) >= 0) {
		i++
	}
	return text[:i], text[i:]
}
