// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// ResolveType returns the type that a reference names: a native type, collection, tuple, vector, or
// a user-defined type of the keyspace ks (which may be nil).
func ResolveType(r syntax.TypeRef, ks *schema.Keyspace) (*value.Type, error) {
	left := value.MaxParts
	return resolveType(r, ks, &left)
}

// TooManyParts returns the error for a type that has more than value.MaxParts parts.
func TooManyParts(t fmt.Stringer) error { return tooManyParts(t.String()) }

func tooManyParts(name string) error {
	return invalid("Type %s has more than %d parts, with those of the user-defined types in it", name, value.MaxParts)
}

// resolveType resolves a type, or a part of one. left is how many parts it may have.
func resolveType(r syntax.TypeRef, ks *schema.Keyspace, left *int) (*value.Type, error) {
	if *left--; *left < 0 {
		return nil, tooManyParts(r.Name.Name)
	}
	switch {
	case r.Custom:
		t, _, err := value.ParseClass(r.Name.Name)
		if err != nil {
			return nil, &wire.Error{Code: wire.CodeConfig, Message: err.Error()}
		}
		return t, nil
	case r.User || r.Name.Keyspace != "":
		return userType(r, ks, left)
	}
	if len(r.Params) == 0 {
		if k, ok := nativeKinds[r.Name.Name]; ok {
			return value.Native(k), nil
		}
		return userType(r, ks, left)
	}
	switch r.Name.Name {
	case "list", "set", "map":
		return collectionType(r, ks, left)
	case "tuple":
		return tupleType(r, ks, left)
	case "vector":
		t, err := resolveType(r.Params[0], ks, left)
		if err != nil {
			return nil, err
		}
		if r.Dim <= 0 {
			return nil, invalid("vectors may only have positive dimensions; given %d", r.Dim)
		}
		return value.VectorOf(t, r.Dim), nil
	}
	return nil, invalid("Unknown type %s", r.Name.Name)
}

var nativeKinds = map[string]value.Kind{
	"ascii": value.Ascii, "bigint": value.Bigint, "blob": value.Blob, "boolean": value.Boolean,
	"counter": value.Counter, "date": value.Date, "decimal": value.Decimal, "double": value.Double,
	"duration": value.Duration, "float": value.Float, "inet": value.Inet, "int": value.Int,
	"smallint": value.Smallint, "text": value.Text, "time": value.Time, "timestamp": value.Timestamp,
	"timeuuid": value.Timeuuid, "tinyint": value.Tinyint, "uuid": value.UUID, "varchar": value.Text,
	"varint": value.Varint,
}

func userType(r syntax.TypeRef, ks *schema.Keyspace, left *int) (*value.Type, error) {
	if ks == nil {
		return nil, invalid("Unknown type %s", typeText(syntax.TypeRef{Name: r.Name}))
	}
	if r.Name.Keyspace != "" && r.Name.Keyspace != ks.Name {
		return nil, invalid("Statement on keyspace %s cannot refer to a user type in keyspace %s; "+
			"user types can only be used in the keyspace they are defined in", ks.Name, r.Name.Keyspace)
	}
	t := ks.Types[r.Name.Name]
	if t == nil {
		return nil, invalid("Unknown type %s.%s", ks.Name, r.Name.Name)
	}
	if *left -= t.CountParts(*left+1) - 1; *left < 0 {
		return nil, tooManyParts(r.Name.Name)
	}
	if r.Frozen {
		return t.Freeze(), nil
	}
	return t, nil
}

// freezable reports whether a type as written could be frozen but is not. nested is the plural that
// messages use for such types.
func freezable(r syntax.TypeRef) (nested string, ok bool) {
	switch {
	case r.Custom || r.Frozen:
		return "", false
	case r.User || r.Name.Keyspace != "":
		return "UDTs", true
	}
	switch r.Name.Name {
	case "list", "set", "map":
		return "collections", len(r.Params) > 0
	}
	return "", false
}

func collectionType(r syntax.TypeRef, ks *schema.Keyspace, left *int) (*value.Type, error) {
	elems := make([]*value.Type, len(r.Params))
	written := typeText(r)
	// Cassandra reports errors of a map's value before those of its key.
	for i := len(r.Params) - 1; i >= 0; i-- {
		p := r.Params[i]
		if nested, ok := freezable(p); ok && !r.Frozen {
			return nil, invalid("Non-frozen %s are not allowed inside collections: %s", nested, written)
		}
		if isNamed(p, "counter") {
			return nil, invalid("Counters are not allowed inside collections: %s", written)
		}
		if isNamed(p, "duration") {
			switch {
			case r.Name.Name == "set":
				return nil, invalid("Durations are not allowed inside sets: %s", written)
			case r.Name.Name == "map" && i == 0:
				return nil, invalid("Durations are not allowed as map keys: %s", written)
			}
		}
	}
	for i, p := range r.Params {
		t, err := resolveType(p, ks, left)
		if err != nil {
			return nil, err
		}
		elems[i] = t
	}
	switch {
	case r.Name.Name == "list" && len(elems) == 1:
		return value.ListOf(elems[0], r.Frozen), nil
	case r.Name.Name == "set" && len(elems) == 1:
		return value.SetOf(elems[0], r.Frozen), nil
	case r.Name.Name == "map" && len(elems) == 2:
		return value.MapOf(elems[0], elems[1], r.Frozen), nil
	}
	return nil, invalid("Unknown type %s", written)
}

func isNamed(r syntax.TypeRef, name string) bool {
	return !r.Custom && !r.User && r.Name.Keyspace == "" && len(r.Params) == 0 && r.Name.Name == name
}

func tupleType(r syntax.TypeRef, ks *schema.Keyspace, left *int) (*value.Type, error) {
	elems := make([]*value.Type, len(r.Params))
	for i, p := range r.Params {
		if isNamed(p, "counter") {
			return nil, invalid("Counters are not allowed inside tuples")
		}
		t, err := resolveType(p, ks, left)
		if err != nil {
			return nil, err
		}
		elems[i] = t
	}
	return value.TupleOf(elems...), nil
}
