// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// UserFunction returns the error for a statement on a sharded table. wrong is the error that the door has found.
// If wrong is about a function that Cassandra does not have, and a user has defined one that the statement
// calls, UserFunction returns an error which says that sharded tables do not support it. Otherwise it returns
// wrong.
func UserFunction(ctx context.Context, session catalog.Session, keyspace, text string, wrong error) error {
	var e *wire.Error
	if !errors.As(wrong, &e) || !strings.HasPrefix(e.Message, "Unknown function") {
		return wrong
	}
	tree, err := syntax.Parse(text)
	if err != nil {
		return wrong
	}
	if n := tables.Target(syntax.Target(text), keyspace); n.Keyspace != "" {
		keyspace = n.Keyspace // a function without a keyspace belongs to the table's keyspace
	}
	const most = 16 // UserFunction looks up at most so many names
	asked := map[syntax.Name]bool{}
	for _, name := range callsIn(tree) {
		if name.Keyspace == "" {
			name.Keyspace = keyspace
		}
		if asked[name] || len(asked) == most || name.Keyspace == "system" {
			continue
		}
		asked[name] = true
		for _, q := range []string{
			"SELECT function_name FROM system_schema.functions WHERE keyspace_name = ? AND function_name = ?",
			"SELECT aggregate_name FROM system_schema.aggregates WHERE keyspace_name = ? AND aggregate_name = ?",
		} {
			rows, err := session.Query(ctx, wire.LocalOne, q, []byte(name.Keyspace), []byte(name.Name))
			if err != nil {
				return wrong
			}
			if len(rows) > 0 {
				return wire.Invalidf("write_sharding: user-defined functions and aggregates, such as %s.%s, are not supported in statements on sharded tables; call it in the application",
					name.Keyspace, name.Name)
			}
		}
	}
	return wrong
}

// callsIn returns the names of the functions that a statement calls.
func callsIn(stmt syntax.Statement) (names []syntax.Name) {
	var look func(v reflect.Value)
	look = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if v.IsNil() {
				return
			}
			if c, ok := v.Interface().(*syntax.Call); ok && v.Kind() == reflect.Pointer {
				names = append(names, c.Func)
			}
			look(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				look(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				look(v.Index(i))
			}
		}
	}
	look(reflect.ValueOf(stmt))
	return names
}
