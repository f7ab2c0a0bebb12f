// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// The checks of Query and Scan that need the table. They are in AWS's order.

const startInvalid = "The provided starting key is invalid"

// IndexIn returns the index that is read, or nil for the table itself. It returns AWS's error if
// the index does not exist or cannot be read like this.
func (r *Read) IndexIn(t *schema.Table) (*schema.Index, error) {
	if r.Index == "" {
		return nil, nil
	}
	ix, local := t.Index(r.Index)
	switch {
	case ix == nil:
		return nil, exception.Invalid("The table does not have the specified index: %s", r.Index)
	case !local && r.Consistent:
		return nil, exception.Invalid("Consistent reads are not supported on global secondary indexes")
	case ix.Backfilling:
		return nil, exception.Invalid("Cannot read from backfilling global secondary index: %s", r.Index)
	}
	return ix, nil
}

// keyOf returns the key schema of an index or, if ix is nil, of the table.
func keyOf(t *schema.Table, ix *schema.Index) schema.Key {
	if ix == nil {
		return t.Key
	}
	return ix.Key
}

// KeyAttributes returns the attributes of a key with their types in a table.
func KeyAttributes(t *schema.Table, k schema.Key) (hash, sort []expression.KeyAttribute) {
	for _, name := range k.Hash {
		hash = append(hash, expression.KeyAttribute{Name: name, Type: t.Type(name)})
	}
	for _, name := range k.Range {
		sort = append(sort, expression.KeyAttribute{Name: name, Type: t.Type(name)})
	}
	return hash, sort
}

// StartNames returns the names of the attributes of an ExclusiveStartKey: those of the table's key
// and those of the index's key.
func StartNames(t *schema.Table, ix *schema.Index) []string {
	names := t.Key.Names(nil)
	for _, n := range keyOf(t, ix).Names(nil) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// Check checks a Query of a table. It returns the index that is read (nil: the table) and the range
// of keys that the key condition selects.
func (q *Query) Check(t *schema.Table) (ix *schema.Index, k expression.KeyRange, err error) {
	if ix, err = q.IndexIn(t); err != nil {
		return ix, k, err
	}
	key := keyOf(t, ix)
	if q.Start != nil {
		if len(q.Start) != len(StartNames(t, ix)) {
			return ix, k, exception.Invalid(startInvalid)
		}
		if err := checkStartKey(t, key, q.Start); err != nil {
			return ix, k, err
		}
	}
	if k, err = q.KeyCondition.For(KeyAttributes(t, key)); err != nil {
		return ix, k, err
	}
	if q.Start != nil {
		if err := checkStartTable(t, q.Start); err != nil {
			return ix, k, err
		}
		if err := checkStartRange(key, q.Start, &k, One(t, ix)); err != nil {
			return ix, k, err
		}
	}
	if err := t.CheckPaths(slices.Values(q.Projection.Paths())); err != nil {
		return ix, k, err
	}
	if err := t.CheckFilter(ix, q.Filter, q.FilterName); err != nil {
		return ix, k, err
	}
	return ix, k, q.checkSelect(t, ix)
}

// Check checks a Scan of a table. It returns the index that is read (nil: the table).
func (q *Scan) Check(t *schema.Table) (*schema.Index, error) {
	ix, err := q.IndexIn(t)
	if err != nil {
		return ix, err
	}
	if q.Start != nil {
		if len(q.Start) != len(StartNames(t, ix)) {
			if ix == nil {
				return ix, exception.Invalid("%s: The provided key element does not match the schema", startInvalid)
			}
			return ix, exception.Invalid(startInvalid)
		}
		if ix != nil {
			if err := checkStartKey(t, ix.Key, q.Start); err != nil {
				return ix, err
			}
		}
	}
	if err := q.checkSelect(t, ix); err != nil {
		return ix, err
	}
	if q.Start != nil {
		if err := checkStartTable(t, q.Start); err != nil {
			return ix, err
		}
	}
	if err := t.CheckPaths(slices.Values(q.Projection.Paths())); err != nil {
		return ix, err
	}
	return ix, t.CheckPaths(q.Filter.Paths())
}

// checkStartKey returns an error if an ExclusiveStartKey does not have the attributes of the key
// that is read.
func checkStartKey(t *schema.Table, key schema.Key, start attribute.Item) error {
	for i, names := range [2][]string{key.Hash, key.Range} {
		for _, name := range names {
			v, ok := start.Get(name)
			switch {
			case !ok:
				return exception.Invalid(startInvalid)
			case v.Kind() != t.Type(name):
				return exception.Invalid("The provided key element does not match the schema")
			}
			if err := checkStartValue(name, v, i == 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkStartValue(name string, v attribute.Value, hash bool) error {
	if v.Kind() == attribute.N {
		return nil
	}
	switch n := len(v.Text()); {
	case n == 0:
		return expression.EmptyKey(name, v.Kind())
	case hash && n > attribute.MaxHashSize:
		return exception.InvalidParameters("Size of hashkey has exceeded the maximum size limit of2048 bytes")
	case !hash && n > attribute.MaxRangeSize:
		return exception.InvalidParameters("Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
	}
	return nil
}

// checkStartTable returns an error if an ExclusiveStartKey does not have the table's key.
func checkStartTable(t *schema.Table, start attribute.Item) error {
	if err := t.CheckKey(start.Only(t.Key.Names(nil)...)); err != nil {
		return exception.Invalid("%s: %s", startInvalid, exception.Of(err).Message)
	}
	return nil
}

var errNoRestart = exception.Invalid("The query can return at most one row and cannot be restarted")

// One reports whether a Query of a table (ix is nil), or of its index, can return at most one item.
// Its first page is then also its last.
func One(t *schema.Table, ix *schema.Index) bool { return ix == nil && len(t.Key.Range) == 0 }

// checkStartRange returns an error if an ExclusiveStartKey is outside the range that the Query
// reads. one says that the Query can return at most one item.
func checkStartRange(key schema.Key, start attribute.Item, k *expression.KeyRange, one bool) error {
	same := true
	for i, name := range key.Hash {
		v, _ := start.Get(name)
		same = same && v.Equal(k.Hash[i])
	}
	if k.Op == expression.NoRange && len(k.Prefix) == 0 {
		if !same {
			return exception.Invalid("The provided starting key is outside query boundaries based on provided conditions")
		}
		if one {
			return errNoRestart
		}
		return nil
	}
	values := make([]attribute.Value, len(key.Range))
	for i, name := range key.Range {
		values[i], _ = start.Get(name)
	}
	switch {
	case !k.Match(values):
		return exception.Invalid("The provided starting key does not match the range key predicate")
	case !same:
		return errNoRestart
	}
	return nil
}

// checkSelect returns an error if a global index does not have the attributes that the request asks
// for. A read of a local index fetches such attributes from the table.
func (r *Read) checkSelect(t *schema.Table, ix *schema.Index) error {
	if ix == nil || ix.Projection.Type == schema.ProjectAll || r.Select != SelectAll && r.Projection == nil {
		return nil
	}
	if _, local := t.Index(ix.Name); local {
		return nil
	}
	if r.Select != SelectAll {
		return checkProjected(t, ix, r.Projection)
	}
	return exception.InvalidParameters("Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", r.Index)
}

// checkProjected returns an error if a global index does not have all attributes of a projection.
func checkProjected(t *schema.Table, ix *schema.Index, p *expression.Projection) error {
	var missing []string
	for _, path := range p.Paths() {
		if !t.Projects(ix, path.Name) && !slices.Contains(missing, path.Name) {
			missing = append(missing, path.Name)
		}
	}
	if missing == nil {
		return nil
	}
	return exception.InvalidParameters("Global secondary index %s does not project [%s]", ix.Name, strings.Join(missing, ", "))
}
