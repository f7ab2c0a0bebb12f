// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard"
)

// Table is a sharded table: what the application sees, and how it is laid out.
// It is immutable.
type Table struct {
	*schema.Table               // logical: without the hidden column
	Layout        *shard.Layout // resolved for the table's key
	Change        *Change       // that is under way; nil: none is

	by     []int   // the columns that name a row's shard, in Clustering: those that are hashed, then the first, if the shard depends on it beside
	hashed int     // how many of by are hashed: those of Layout.By
	moves  bool    // it is one of the two layouts of a change
	hides  bool    // rows can be in shards where the layout does not put them
	timing *timing // nil: the layout is not of strategy time
	first  int     // where in by the first clustering column is, which epochs of rows look at; -1: there are none
}

// NewTable joins a logical table and its layout, which must fit (see Check).
func NewTable(t *schema.Table, l *shard.Layout) (*Table, error) {
	l, err := l.Resolve(KeyColumns(t))
	if err != nil {
		return nil, err
	}
	pt := &Table{Table: t, Layout: l, hides: l.Remains, first: -1}
	if l.Strategy == shard.Time {
		if pt.timing, pt.by, err = newTiming(t, l); err != nil {
			return nil, err
		}
		pt.hashed = len(pt.by)
		return pt, nil
	}
	if len(l.By) == 0 {
		for i := range t.Clustering {
			pt.by = append(pt.by, i)
		}
	}
	for _, name := range l.By {
		i := slices.IndexFunc(t.Clustering, func(c *schema.Column) bool { return c.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("write_sharding: 'by' names %s, which is not a clustering column of %s.%s", name, t.Keyspace, t.Name)
		}
		pt.by = append(pt.by, i)
	}
	pt.hashed = len(pt.by)
	if err := checkRowEpochs(t, l.Rows); err != nil {
		return nil, err
	}
	if l.HasRowEpochs() {
		if pt.first = slices.Index(pt.by, 0); pt.first < 0 {
			pt.first, pt.by = pt.hashed, append(pt.by, 0)
		}
	}
	return pt, nil
}

// checkRowEpochs says whether a table's rows can have such epochs.
func checkRowEpochs(t *schema.Table, epochs []shard.RowEpoch) error {
	if len(epochs) > 0 && len(t.Clustering) == 0 {
		return fmt.Errorf("write_sharding: %s.%s has no clustering column that epochs of rows could be told by", t.Keyspace, t.Name)
	}
	for i, e := range epochs {
		c := t.Clustering[0]
		if c.Type.Validate(e.From) != nil || len(e.From) == 0 {
			return fmt.Errorf("write_sharding: an epoch of rows begins at 0x%x, which is no %s, the type of the first clustering column, %s", e.From, c.Type, c.Name)
		}
		if i > 0 && c.Type.Compare(epochs[i-1].From, e.From) >= 0 {
			return fmt.Errorf("write_sharding: epochs of rows must be in the order of column %s, each once", c.Name)
		}
	}
	return nil
}

// KeyColumns are a table's partition-key columns as epochs of keys look at them.
func KeyColumns(t *schema.Table) []shard.KeyColumn {
	out := make([]shard.KeyColumn, len(t.PartitionKey))
	for i, c := range t.PartitionKey {
		out[i].Name = c.Name
		out[i].Kind = timeKind(c.Type)
	}
	return out
}

// timeKind is how values of a type tell the time; 0: they tell none.
func timeKind(t *value.Type) shard.TimeKind {
	switch t.Kind {
	case value.Date:
		return shard.Date
	case value.Timestamp:
		return shard.Timestamp
	case value.Timeuuid:
		return shard.Timeuuid
	}
	return 0
}

// AppendKey appends a logical partition key, serialized as Cassandra does.
func AppendKey(dst []byte, components [][]byte) []byte {
	if len(components) == 1 {
		return append(dst, components[0]...)
	}
	return partitioner.AppendComposite(dst, components...)
}

// SplitKey is the inverse of AppendKey for a key of n columns.
func SplitKey(key []byte, n int) ([][]byte, error) {
	if n == 1 {
		return [][]byte{key}, nil
	}
	return partitioner.SplitComposite(nil, key, n)
}

// Shards are the shards of a logical partition, which the layout lists: see Places.
func (t *Table) Shards(key [][]byte) []int {
	if t.Timed() {
		panic("plan: the directory lists the shards of a table of strategy time")
	}
	s := t.Layout.Spread(AppendKey(nil, key))
	return s.Places()
}

// ShardOf is the shard of the row whose columns that name it have the given values.
func (t *Table) ShardOf(key [][]byte, by [][]byte) int {
	if t.Timed() {
		return t.timedShard(by)
	}
	var (
		keyBuf    [256]byte
		canonical [8][]byte
	)
	spread := t.Layout.Spread(AppendKey(keyBuf[:0], key))
	r := spread.Range
	if t.first >= 0 && rule.On(rule.EpochsOfRows) {
		if v := by[t.first]; v != nil {
			r = spread.Of(v, t.Clustering[0].Type.Compare)
		}
	}
	values := canonical[:0]
	for i, at := range t.by[:t.hashed] {
		values = append(values, t.canonical(at, by[i]))
	}
	return t.Layout.Place(r, values...)
}

// canonical is the form of a value of a clustering column that is hashed.
func (t *Table) canonical(at int, v []byte) []byte {
	if typ := t.Clustering[at].Type; !typ.CanonicalIsSame() && rule.On(rule.CanonicalForm) {
		return typ.Canonical(nil, v)
	}
	return v
}

// shardOfRow is the shard of the row with the clustering key.
func (t *Table) shardOfRow(key, clustering [][]byte) int {
	by := make([][]byte, len(t.by))
	for i, at := range t.by {
		by[i] = clustering[at]
	}
	return t.ShardOf(key, by)
}

// Hides says that a fetch of several shards can bring rows that are not to be shown: see
// Belongs.
func (t *Table) Hides() bool { return t.hides && rule.On(rule.ShownWhereItBelongs) }

// Belongs says whether the row with the clustering key is where the layout puts it: what
// an earlier layout left behind, copies, and what came late are skipped.
func (t *Table) Belongs(key, clustering [][]byte, shard int) bool {
	return t.shardOfRow(key, clustering) == shard
}

// Home is the shard of a logical partition's static columns.
func (t *Table) Home(key [][]byte) int {
	var buf [256]byte
	k := AppendKey(buf[:0], key)
	return t.Layout.Home(k)
}

// Compare orders clustering keys by the table's clustering order.
func (t *Table) Compare(a, b [][]byte) int {
	for i, c := range t.Clustering {
		if d := c.Type.Compare(a[i], b[i]); d != 0 {
			if c.Desc {
				return -d
			}
			return d
		}
	}
	return 0
}

var shardType = value.Native(value.Int)

// ShardOfRow is the shard of the row with the clustering key.
func (t *Table) ShardOfRow(key, clustering [][]byte) int { return t.shardOfRow(key, clustering) }
