// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"encoding/binary"
	"slices"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
)

// Bind binds the statement to its values, one for each of Binds.
func (s *Select) Bind(env *eval.Env) (*BoundSelect, error) {
	b := &BoundSelect{Select: s, Env: env}
	var err error
	if b.Limit, b.PerPartitionLimit, err = s.Limits(env); err != nil {
		return nil, err
	}
	if b.Filters, err = s.Where.bindFilters(env); err != nil {
		return nil, err
	}
	var wrong error // an error of a key; it counts only if rows of the partition are read
	if s.Where.Partition == nil {
		b.Scan = true
	} else if wrong, err = b.bindKeys(env); err != nil {
		return b, err
	} else if b.Keys.Len() == 0 {
		return b, wrong
	}
	if s.Distinct {
		b.Slices = AllSlices()
	} else if b.Slices, err = s.Where.slices(env, s.Table, true); err != nil {
		return nil, err
	}
	if wrong != nil && b.Slices.Len() > 0 {
		return nil, wrong
	}
	if b.Scan {
		b.Tokens, err = s.Where.tokens(env)
	}
	return b, err
}

// bindKeys computes the partition keys. If the token is restricted too, it keeps only the keys
// whose token is in the range. wrong is an error of the keys that counts only if rows are read.
func (b *BoundSelect) bindKeys(env *eval.Env) (wrong, err error) {
	keys, err := tuplesOf(b.Where.Partition, len(b.Table.PartitionKey), env)
	if err != nil {
		return nil, err
	}
	if wrong = keys.checkKeys(); b.Where.Token == nil {
		b.Keys = keys
		return wrong, nil
	}
	b.Keys, err = b.Where.ofTokens(keys, b.Table, env)
	return wrong, err
}

// cartesian returns the error with which Cassandra refuses more combinations of INs than its
// guardrail in_select_cartesian_product allows.
func cartesian(what string, n, most int) error {
	return invalid("Guardrail in_select_cartesian_product violated: Aborting query because the cartesian product of the IN restrictions on %s produces %d values, this exceeds fail threshold of %d.", what, n, most)
}

// Limits computes LIMIT and PER PARTITION LIMIT; 0 means no limit.
func (s *Select) Limits(env *eval.Env) (total, perPartition int, err error) {
	if len(env.Values) != len(s.Binds) {
		return 0, 0, invalid("Invalid amount of bind variables")
	}
	if total, err = limit(s.Limit, env); err == nil {
		perPartition, err = limit(s.PerPartitionLimit, env)
	}
	return total, perPartition, err
}

// limit computes a LIMIT; 0 means no limit.
func limit(e eval.Expr, env *eval.Env) (int, error) {
	if e == nil {
		return 0, nil
	}
	v, err := eval.Term(e, env)
	switch {
	case err != nil:
		return 0, err
	case v.Unset:
		return 0, nil
	case v.Bytes == nil:
		return 0, invalid("Invalid null value of limit")
	case len(v.Bytes) != 4:
		return 0, invalid("Invalid limit value")
	}
	n := int32(binary.BigEndian.Uint32(v.Bytes))
	if n <= 0 {
		return 0, invalid("LIMIT must be strictly positive")
	}
	return int(n), nil
}

// CheckPaging refuses paging for a statement whose rows are sorted after they are read, as
// Cassandra does. It allows paging if nothing is read at all, unless the statement aggregates.
func (b *BoundSelect) CheckPaging(pageSize int) error {
	if pageSize > 0 && len(b.Sort) > 0 && (!b.Empty() || b.Selection.Aggregated || b.Grouped || b.readsOnlyStatics()) {
		return invalid("Cannot page queries with both ORDER BY and a IN restriction on the partition key;" +
			" you must either remove the ORDER BY or the IN and sort client side, or disable paging for this query")
	}
	return nil
}

// readsOnlyStatics reports whether Cassandra reads the static columns of the partitions although no
// row can be returned: the statement names rows of which an IN lists none, and uses a static column
// or none but those of the primary key, because Cassandra then reads all.
func (b *BoundSelect) readsOnlyStatics() bool {
	of := func(k schema.ColumnKind) bool {
		return slices.ContainsFunc(b.Fetch, func(f Fetched) bool { return f.Column.Kind == k })
	}
	named := 0
	for _, r := range b.Where.Clustering {
		if r.Kind == EQ || r.Kind == IN {
			named += len(r.Columns)
		}
	}
	return b.Keys.Len() > 0 && b.Slices.Len() == 0 && named == len(b.Table.Clustering) &&
		len(b.Table.Statics) > 0 && (of(schema.Static) || !of(schema.Regular))
}

// CompareSorted compares two rows by their values for Sort. a and b have one value for each sort
// key.
func (s *Select) CompareSorted(a, b [][]byte) int {
	for i, k := range s.Sort {
		x, y := a[i], b[i]
		var c int
		switch {
		case x == nil && y == nil:
		case x == nil || y == nil:
			c = 1
			if (x == nil) != k.NullsLast {
				c = -1
			}
		default:
			if c = s.Fetch[k.Cell].Column.Type.Compare(x, y); k.Desc {
				c = -c
			}
		}
		if c != 0 {
			return c
		}
	}
	return 0
}
