// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"fmt"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// shardsOf returns the position in the partition key of a column that spreads a key by hand, and
// the column's values in their order; -1: there is none. The name alone does not make a column a
// shard: it must have several values, but not as many as keys have; a text must end with a number;
// and some key must have more than one value.
func shardsOf(t *schema.Table, r *Run) (at int, shards []ShardTally) {
	at = ShardColumn(t)
	shards = slices.Clone(r.Total.Shards)
	if at < 0 || len(shards) < 2 || len(shards) >= shardsMost {
		return -1, nil
	}
	c := t.PartitionKey[at]
	if c.Type.Kind == value.Text || c.Type.Kind == value.Ascii {
		for _, s := range shards {
			if n := len(s.Value); n == 0 || s.Value[n-1] < '0' || s.Value[n-1] > '9' {
				return -1, nil
			}
		}
	}
	if l := r.Total.Logical; l != nil && r.Covered() >= 1 {
		several := false
		for _, k := range l.keys {
			several = several || k.Physical > 1
		}
		if !several {
			return -1, nil
		}
	}
	slices.SortFunc(shards, func(a, b ShardTally) int { return c.Type.Compare(a.Value, b.Value) })
	return at, shards
}

// without removes a column from the keys of logical partitions, because the column distinguishes
// their physical partitions.
func (l *LogicalSummary) without(column string) {
	for i := range l.Largest {
		l.Largest[i].Key = slices.DeleteFunc(l.Largest[i].Key, func(k KeyValue) bool { return k.Column == column })
	}
}

// logicalPartitions describes logical partitions if evenkeel shards the table (by the visible
// column shard) or if somebody shards it by hand.
func (ri *Report) logicalPartitions(r *Run, s *Summary) {
	ri.Logical = logicalOf(s.Schema, r.Total.Logical, r.Covered(), s.Top, ri.Bytes.Value, s.Sharding != "")
	switch at, _ := shardsOf(s.Schema, r); {
	case ri.Logical == nil:
	case s.Sharding != "":
		ri.Logical.without(s.Shard)
	case at < 0:
		ri.Logical = nil
	default:
		ri.Logical.without(s.Schema.PartitionKey[at].Name)
	}
}

// spread finds columns that spread a key over several partitions, and says of what kind they are.
func spread(t *schema.Table, r *Run, ri *Report) *Finding {
	if ri.Sharding != "" {
		f := &Finding{Name: "write_sharding", Evidence: ri.Sharding + "."}
		if l := ri.Logical; l != nil {
			f.Evidence += fmt.Sprintf(" A logical partition has %.4g physical ones on average, %.0f at the most.", l.PhysicalMean, l.PhysicalMax)
		}
		return f
	}
	at, shards := shardsOf(t, r)
	if at < 0 {
		return nil
	}
	c := t.PartitionKey[at]
	f := &Finding{Columns: []string{c.Name}}
	least, most, total := shards[0].Partitions, shards[0].Partitions, int64(0)
	falling := true
	for i, s := range shards {
		least, most = min(least, s.Partitions), max(most, s.Partitions)
		total += s.Partitions
		falling = falling && (i == 0 || s.Partitions <= shards[i-1].Partitions)
	}
	ends := fmt.Sprintf("%s to %s", c.Type.Format(nil, shards[0].Value), c.Type.Format(nil, shards[len(shards)-1].Value))
	switch {
	case falling && most >= 2*least:
		f.Name = "dummy column (rollover)"
		f.Evidence = fmt.Sprintf("%s counts from %s. The higher the value, the fewer keys have it (%d partitions with the first value, %d with the last). So the application takes the next value when a partition is full enough.", c.Name, ends, shards[0].Partitions, shards[len(shards)-1].Partitions)
		f.Advice = "New rows of a key go to its highest value, which is one partition: that bounds size, not heat. A read of a key must read all its values."
	default:
		f.Name = "shard column"
		mean := float64(total) / float64(len(shards))
		rows, fullest := int64(0), int64(0)
		for _, s := range shards {
			rows, fullest = rows+s.Rows, max(fullest, s.Rows)
		}
		over := float64(fullest) * float64(len(shards)) / math.Max(1, float64(rows))
		f.Evidence = fmt.Sprintf("%s has %d values (%s), each in about %.0f partitions: a key is spread by hand. The fullest value has %.3g × the mean of rows.", c.Name, len(shards), ends, mean, over)
		f.Warning = over > 2 && r.Total.Rows > 1000
		if f.Warning {
			f.Advice = "The calculation behind it is skewed: most rows are in few shards. A hash (murmur3, jump) spreads evenly; a product of code points does not."
		} else {
			f.Advice = "evenkeel can do that by itself: WITH write_sharding = {'shards': '" + fmt.Sprint(len(shards)) + "'}."
		}
	}
	return f
}
