// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// Analyze validates and types a SELECT, INSERT, UPDATE, DELETE or BATCH. keyspace is the
// connection's keyspace; "" for none. Errors are *wire.Error.
func Analyze(stmt syntax.Statement, s *schema.Schema, keyspace string) (Statement, error) {
	if err := checkDepth(stmt); err != nil {
		return nil, err
	}
	a, err := analyze(stmt, s, keyspace)
	if err == nil && Described(a) > maxDescribed {
		return nil, invalid("The description of the statement's markers and of its result's columns, with the names in their types, is longer than %d MiB; name fewer columns, or use fewer markers", maxDescribed>>20)
	}
	return a, err
}

func analyze(stmt syntax.Statement, s *schema.Schema, keyspace string) (Statement, error) {
	switch stmt := stmt.(type) {
	case *syntax.Select:
		return analyzeSelect(stmt, s, keyspace)
	case *syntax.Insert, *syntax.Update, *syntax.Delete:
		b := &binds{}
		w, err := analyzeWrite(stmt, s, keyspace, b)
		if err != nil {
			return nil, err
		}
		w.Binds = b.list
		w.PartitionKeyBinds = b.partitionKey(w.Table)
		return w, w.validate()
	case *syntax.Batch:
		return analyzeBatch(stmt, s, keyspace)
	}
	return nil, invalid("a %T has no analysis", stmt)
}
