// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strings"
	"unicode/utf8"
)

// marshalPackage holds the types that a custom type may name without a package.
const marshalPackage = "org.apache.cassandra.db.marshal."

// marshalClasses are the classes of that package that are types, and whether
// they take parameters: 0 none are needed, 1 they are.
var marshalClasses = map[string]int{
	"AsciiType": 0, "BooleanType": 0, "ByteType": 0, "BytesType": 0, "CompositeType": 0, "CounterColumnType": 0,
	"DateType": 0, "DecimalType": 0, "DoubleType": 0, "DurationType": 0, "DynamicCompositeType": 0, "EmptyType": 0,
	"FloatType": 0, "InetAddressType": 0, "Int32Type": 0, "IntegerType": 0, "LegacyTimeUUIDType": 0,
	"LexicalUUIDType": 0, "LongType": 0, "ShortType": 0, "SimpleDateType": 0, "TimeType": 0, "TimeUUIDType": 0,
	"TimestampType": 0, "UTF8Type": 0, "UUIDType": 0, "PartitionerDefinedOrder": 0,
	"FrozenType": 1, "ListType": 1, "MapType": 1, "ReversedType": 1, "SetType": 1, "TupleType": 1, "UserType": 1,
	"VectorType": 1,
}

// customTypeError says what Cassandra finds wrong with the class of a custom
// type: an unknown one is a syntax error of its own. "" when the class is known.
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

// qualifyMarshal writes the classes of a custom type with their package, as
// messages do.
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

// marshalName cuts the class name off the front of text.
func marshalName(text string) (name, rest string) {
	text = strings.TrimLeft(text, " ")
	i := 0
	for i < len(text) && (chars[text[i]]&charWord != 0 || strings.IndexByte("-+.&", text[i]) >= 0) {
		i++
	}
	return text[:i], text[i:]
}
