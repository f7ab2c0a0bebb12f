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
	*schema.Table // logical: without the hidden column
	Layout        *shard.Layout

	by []int // of Layout.By, in Clustering
}

// NewTable joins a logical table and its layout, which must fit (see Check).
func NewTable(t *schema.Table, l *shard.Layout) (*Table, error) {
	pt := &Table{Table: t, Layout: l}
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
	return pt, nil
}

// AppendKey appends a logical partition key, serialized as Cassandra does.
func AppendKey(dst []byte, components [][]byte) []byte {
	if len(components) == 1 {
		return append(dst, components[0]...)
	}
	return partitioner.AppendComposite(dst, components...)
}

// Shards are the shards of a logical partition.
func (t *Table) Shards(key [][]byte) []int {
	shards := make([]int, t.Layout.Shards(AppendKey(nil, key)))
	for i := range shards {
		shards[i] = i + 1
	}
	return shards
}

// ShardOf is the shard of the row whose `by` columns have the given values.
func (t *Table) ShardOf(key [][]byte, by [][]byte) int {
	var (
		keyBuf    [256]byte
		canonical [8][]byte
	)
	values := canonical[:0]
	for i, at := range t.by {
		v := by[i]
		if typ := t.Clustering[at].Type; !typ.CanonicalIsSame() && rule.On(rule.CanonicalForm) {
			v = typ.Canonical(nil, v)
		}
		values = append(values, v)
	}
	return t.Layout.ShardOf(AppendKey(keyBuf[:0], key), values...)
}

// shardOfRow is the shard of the row with the clustering key.
func (t *Table) shardOfRow(key, clustering [][]byte) int {
	by := make([][]byte, len(t.by))
	for i, at := range t.by {
		by[i] = clustering[at]
	}
	return t.ShardOf(key, by)
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
