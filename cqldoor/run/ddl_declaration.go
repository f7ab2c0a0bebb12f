// SPDX-License-Identifier: Apache-2.0

package run

import (
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// declaration holds the options of write_sharding in a CREATE TABLE.
type declaration map[string]string

// declares says whether write_sharding is among a statement's properties.
func declares(with syntax.Properties) bool {
	return slices.ContainsFunc(with, func(p syntax.Property) bool { return p.Name == catalog.Property })
}

// shardingOf returns the value of write_sharding among a statement's properties.
func shardingOf(with syntax.Properties) (declaration, error) {
	var found *syntax.Property
	for i := range with {
		if with[i].Name != catalog.Property {
			continue
		}
		if found != nil {
			return nil, wire.Errorf(wire.CodeSyntax, "Multiple definitions for property '%s'", catalog.Property)
		}
		found = &with[i]
	}
	notMap := wire.Errorf(wire.CodeSyntax, "Invalid value for property '%s'. It should be a map.", catalog.Property)
	d := declaration{}
	switch v := found.Value.(type) {
	case *syntax.Set:
		if len(v.Elems) > 0 {
			return nil, notMap
		}
	case *syntax.Map:
		for _, e := range v.Entries {
			key, isKey := e.Key.(*syntax.Constant)
			val, isVal := e.Value.(*syntax.Constant)
			if !isKey || !isVal {
				return nil, notMap
			}
			d[key.Text] = val.Text
		}
	default:
		return nil, notMap
	}
	return d, nil
}

// shardingIn is shardingOf, but for properties without write_sharding it returns nothing.
func shardingIn(with syntax.Properties) (declaration, error) {
	if !declares(with) {
		return nil, nil
	}
	return shardingOf(with)
}

// optionAdopt names the shard column of a table that was sharded by hand. An empty name gives an
// adopted table back.
const optionAdopt = "adopt"

// names says whether the declaration has an option.
func (d declaration) names(option string) bool {
	_, given := d[option]
	return given
}

// mapLiteral returns a map of strings as CQL, with sorted keys.
func mapLiteral(m map[string]string) *syntax.Map {
	out := &syntax.Map{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out.Entries = append(out.Entries, syntax.MapEntry{
			Key: &syntax.Constant{Kind: syntax.ConstString, Text: k}, Value: &syntax.Constant{Kind: syntax.ConstString, Text: m[k]},
		})
	}
	return out
}
