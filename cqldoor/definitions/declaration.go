// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// declaration holds the options of write_sharding in a CREATE TABLE or ALTER TABLE.
type declaration map[string]string

// shardingOf returns the value of write_sharding among a statement's properties, which must have it. It returns an
// error if the value is not a map, or if there is more than one.
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

// shardingIn is shardingOf, but returns nil for properties without write_sharding.
func shardingIn(with syntax.Properties) (declaration, error) {
	if !tables.Declares(with) {
		return nil, nil
	}
	return shardingOf(with)
}

// optionAdopt is the option that names the shard column of a table that was sharded by hand. An empty name
// gives an adopted table back.
const optionAdopt = "adopt"

// names reports whether the declaration has an option.
func (d declaration) names(option string) bool {
	_, given := d[option]
	return given
}
