// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Member is one member of a JSON object: a column's name and the JSON text of its value.
type Member struct {
	Name  string
	Value []byte
}

// Members parses the object of INSERT JSON. It folds names to lower case unless they are quoted
// inside the string. If a name repeats, the last one counts. Values are slices of json. The error
// has Cassandra's text.
func Members(json []byte) ([]Member, error) {
	n, err := parseJSON(json)
	if err != nil {
		return nil, fmt.Errorf("Could not decode JSON string as a map: %s. (String was: %s)", strings.TrimPrefix(err.Error(), "Error decoding JSON string: "), json)
	}
	switch n.kind {
	case jsonObject:
	case jsonNull:
		return nil, errors.New("Got null for INSERT JSON values")
	default:
		return nil, fmt.Errorf("Could not decode JSON string as a map: not an object. (String was: %s)", json)
	}
	n.foldKeys()
	members := make([]Member, len(n.keys))
	for i, k := range n.keys {
		members[i] = Member{k, n.list[i].raw}
	}
	return members, nil
}

// foldKeys folds an object's keys as CQL folds identifiers.
func (n *node) foldKeys() {
	index := map[string]int{}
	keys, list := n.keys[:0:0], n.list[:0:0]
	for i, k := range n.keys {
		if len(k) > 1 && k[0] == '"' && k[len(k)-1] == '"' {
			k = k[1 : len(k)-1]
		} else {
			k = strings.ToLower(k)
		}
		if j, again := index[k]; again {
			list[j] = n.list[i]
			continue
		}
		index[k] = len(keys)
		keys, list = append(keys, k), append(list, n.list[i])
	}
	n.keys, n.list = keys, list
}

// FromJSON returns the value of type t that a JSON value denotes in INSERT JSON and fromJson; nil
// for null. The error has Cassandra's text, unless the input is not JSON.
func (t *Type) FromJSON(json []byte) ([]byte, error) {
	n, err := parseJSON(json)
	if err != nil {
		return nil, err
	}
	return t.fromNode(n)
}

func unexpected(what string, n *node) error {
	return fmt.Errorf("Expected %s, but got a %s: %s", what, n.kind, n)
}

// expected names the JSON form of each type, for the message about another form.
var expected = [kinds]string{
	Ascii: "an ascii string", Text: "a UTF-8 string", Bigint: "a bigint value", Counter: "a bigint value", Int: "an int value",
	Smallint: "a short value", Tinyint: "a byte value", Double: "a double value", Float: "a float value", Boolean: "a boolean value",
	Timestamp: "a long or a datestring representation of a timestamp value", UUID: "a string representation of a uuid",
	Timeuuid: "a string representation of a timeuuid", Inet: "a string representation of an inet value",
	Date: "a string representation of a date value", Time: "a string representation of a time value",
	Duration: "a string representation of a duration", List: "a list", Set: "a list (representing a set)", Map: "a map",
	Tuple: "a list representation of a tuple", UDT: "a map", Vector: "a list", Custom: "a string",
}

func (t *Type) fromNode(n *node) ([]byte, error) {
	if n.kind == jsonNull {
		return nil, nil
	}
	switch t.Kind {
	case List, Set, Map, Tuple, UDT, Vector:
		return t.fromNodes(n)
	case Blob:
		return blobFromNode(n)
	case Varint:
		i, ok := bigInteger(n.String())
		if !ok {
			return nil, fmt.Errorf("Value '%s' is not a valid representation of a varint value", n)
		}
		return AppendVarint(nil, i), nil
	case Decimal:
		v, err := t.FromString(n.String())
		if err != nil {
			return nil, fmt.Errorf("Value '%s' is not a valid representation of a decimal value", n)
		}
		return v, nil
	case Empty:
		if n.kind != jsonString || n.text != "" {
			return nil, fmt.Errorf("Expected an empty string, but got: %s", n)
		}
		return []byte{}, nil
	}
	if n.kind == jsonString {
		return t.FromString(n.text)
	}
	switch t.Kind {
	case Int:
		if n.kind == jsonInt {
			return t.FromString(n.text)
		}
	case Bigint, Counter:
		if n.kind == jsonInt || n.kind == jsonLong {
			return t.FromString(n.text)
		}
	case Smallint, Tinyint:
		if n.number() {
			return t.FromString(n.text)
		}
	case Timestamp:
		if n.kind == jsonLong {
			return t.FromString(n.text)
		}
	case Boolean:
		if n.kind == jsonBool {
			return t.FromString(n.text)
		}
	case Double, Float:
		if !n.number() {
			break
		}
		f, _ := strconv.ParseFloat(n.text, 64)
		if t.Kind == Float {
			if n.kind == jsonBig {
				i, _ := bigInteger(n.text)
				f32, _ := new(big.Float).SetInt(i).Float32()
				return floatValue(f32), nil
			}
			if n.kind != jsonDouble {
				i, _ := strconv.ParseInt(n.text, 10, 64)
				return floatValue(float32(i)), nil
			}
			return floatValue(float32(f)), nil
		}
		return doubleValue(f), nil
	}
	return nil, unexpected(expected[t.Kind], n)
}

func blobFromNode(n *node) ([]byte, error) {
	invalid := func(why string) error {
		return fmt.Errorf("Value '%s' is not a valid blob representation: %s", n, why)
	}
	if n.kind != jsonString {
		return nil, invalid("it is not a string")
	}
	digits, ok := strings.CutPrefix(n.text, "0x")
	if !ok {
		return nil, invalid("String representation of blob is missing 0x prefix: " + n.text)
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return nil, invalid("cannot parse '" + digits + "' as hex bytes")
	}
	return b, nil
}

// fromNodes reads a value that has parts. It parses a string as JSON and reads that.
func (t *Type) fromNodes(n *node) ([]byte, error) {
	if n.kind == jsonString {
		inside, err := parseJSON([]byte(n.text))
		if err != nil {
			return nil, err
		}
		n = inside
	}
	want := jsonArray
	if t.Kind == Map || t.Kind == UDT {
		want = jsonObject
	}
	if n.kind != want {
		return nil, unexpected(expected[t.Kind], n)
	}
	switch t.Kind {
	case UDT:
		return t.udtFromNode(n)
	case Tuple:
		if len(n.list) > len(t.Elems) {
			return nil, fmt.Errorf("Tuple contains extra items (expected %d): %s", len(t.Elems), n)
		}
		if len(n.list) < len(t.Elems) {
			return nil, fmt.Errorf("Tuple is missing items (expected %d): %s", len(t.Elems), n)
		}
	case Vector:
		if len(n.list) != t.Dim {
			return nil, fmt.Errorf("List had incorrect size: expected %d but given %d; %s", t.Dim, len(n.list), n)
		}
	}
	var parts [][]byte
	for i := range n.list {
		e := t.Elems[0]
		switch t.Kind {
		case Map:
			key, err := t.Elems[0].fromNode(&node{kind: jsonString, text: n.keys[i]})
			if err != nil {
				return nil, err
			}
			parts, e = append(parts, key), t.Elems[1]
		case Tuple:
			e = t.Elems[i]
		}
		if n.list[i].kind == jsonNull && t.Kind != Tuple {
			switch t.Kind {
			case Map:
				return nil, errors.New("Invalid null value in map")
			case Set:
				return nil, errors.New("Invalid null element in set")
			}
			return nil, errors.New("Invalid null element in list")
		}
		v, err := e.fromNode(&n.list[i])
		if err != nil {
			return nil, err
		}
		parts = append(parts, v)
	}
	return t.Build(nil, t.Sort(parts)), nil
}

func (t *Type) udtFromNode(n *node) ([]byte, error) {
	n.foldKeys()
	parts := make([][]byte, len(t.Elems))
	for i, k := range n.keys {
		f := t.Field(k)
		if f < 0 {
			return nil, fmt.Errorf("Unknown field '%s' in value of user defined type %s", k, t.Name)
		}
		v, err := t.Elems[f].fromNode(&n.list[i])
		if err != nil {
			return nil, err
		}
		parts[f] = v
	}
	return t.Build(nil, parts), nil
}
