// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"fmt"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// GoodBytes is the size that a partition should stay under; MostBytes the size that it must stay
// under. A megabyte is 2^20 bytes here, as in Cassandra's tools and AWS's limits.
const (
	GoodBytes = 10 << 20
	MostBytes = 100 << 20
)

// findings judges a key by what was counted.
func findings(t *schema.Table, r *Run, ri *Report, layoutBucket string) []Finding {
	out := []Finding{}
	add := func(f *Finding) {
		if f != nil {
			out = append(out, *f)
		}
	}
	add(identity(t, &r.Total))
	if layoutBucket != "" {
		add(&Finding{Name: "time bucket", Evidence: fmt.Sprintf("write_sharding's strategy time cuts each logical partition into buckets of %s: a physical partition ends with its bucket.", layoutBucket)})
	} else {
		add(unbounded(t, &r.Total, ri.Growth))
	}
	add(buckets(t, &r.Total, ri.Sharding != ""))
	add(spread(t, r, ri))
	add(large(ri))
	add(skew(ri))
	return out
}

// column returns what was seen of a column of the primary key.
func (t *Tally) column(i int) *KeyColumn {
	if i < len(t.Keys) {
		return &t.Keys[i]
	}
	return &KeyColumn{}
}

// identity finds keys in which no column identifies a row: a period, and columns of few values.
func identity(t *schema.Table, seen *Tally) *Finding {
	if seen.Partitions < 3 {
		return nil
	}
	period := ""
	columns := append(slices.Clone(t.PartitionKey), t.Clustering...)
	var names []string
	for i, c := range columns {
		k := seen.column(i)
		if b := bucket(c, k); b != "" {
			period = b
		} else if c.Type.Kind == value.UUID || isTime(c.Type) || k.Distinct.Many {
			return nil
		}
		names = append(names, c.Name)
	}
	if period == "" {
		return nil
	}
	f := &Finding{Name: "no column identifies a row", Columns: names, Warning: true}
	if len(t.Clustering) == 0 {
		f.Evidence = fmt.Sprintf("%s hold one row for each %s: every key column is a period or has few values.", all(names), oneOf(t, period))
	} else {
		n := int64(seen.Tuples.N())
		if seen.Tuples.Many || seen.Rows < 3*n {
			return nil
		}
		what := all(names[len(t.PartitionKey):])
		if n >= 2 && float64(seen.MaxRows) >= 0.9*float64(n) {
			f.Evidence = fmt.Sprintf("%s "+have(t)+" only %d different values, and partitions have up to %d rows: they are full.", what, n, seen.MaxRows)
		} else {
			f.Evidence = fmt.Sprintf("%s "+have(t)+" %d different values in %d rows, the same ones in partition after partition, and nothing else tells the rows of a partition apart: what was overwritten is not to be seen.", what, n, seen.Rows)
		}
	}
	f.Advice = "If rows are events (lines of a log, orders), each one overwrites the one before it with the same key, without a word: add a column that is the event's own, a timeuuid or an id, to the clustering columns. If there is one record of that kind in each " + period + ", all is well."
	return f
}

func oneOf(t *schema.Table, period string) string {
	if len(t.PartitionKey) == 1 {
		return period
	}
	return "combination in each " + period
}

// have returns the verb that fits the number of clustering columns.
func have(t *schema.Table) string {
	if len(t.Clustering) == 1 {
		return "has"
	}
	return "have"
}

// unbounded finds partitions that grow for ever.
func unbounded(t *schema.Table, seen *Tally, g *Growth) *Finding {
	if len(t.Clustering) == 0 {
		return nil
	}
	for i, c := range t.PartitionKey {
		if bucket(c, seen.column(i)) != "" {
			return nil
		}
	}
	var times []string
	for i, c := range t.Clustering {
		if isTime(c.Type) || bucket(c, seen.column(len(t.PartitionKey)+i)) != "" {
			times = append(times, c.Name)
		}
	}
	ttl, _ := t.Options["default_time_to_live"].(int)
	if len(times) == 0 {
		return nil
	}
	f := &Finding{Name: "unbounded partition", Columns: times, Warning: ttl <= 0}
	f.Evidence = fmt.Sprintf("rows are sorted by time (%s), and the partition key has no period: a partition takes new rows as long as its key is in use.", all(times))
	if ttl > 0 {
		f.Evidence += fmt.Sprintf(" Its rows end after default_time_to_live, %d s: that bounds it.", ttl)
		return f
	}
	if g != nil && len(g.Largest) > 0 && g.Largest[0].BytesPerDay > 0 {
		f.Evidence += fmt.Sprintf(" One grew by %.0f bytes a day since the last inspection.", g.Largest[0].BytesPerDay)
	}
	f.Advice = "Bound it by a period in the partition key (a day, an hour), so long that a partition stays under 10 MB; or let rows expire."
	if c := t.Clustering[0]; isTime(c.Type) {
		f.Advice += fmt.Sprintf(" Behind evenkeel, a new table with write_sharding = {'strategy': 'time', 'by': '%s', 'bucket': '1d', 'shards': '1'} does so, and statements stay as they are.", c.Name)
	}
	return f
}

// buckets names the periods of a partition key.
func buckets(t *schema.Table, seen *Tally, sharded bool) *Finding {
	var names []string
	period := ""
	for i, c := range t.PartitionKey {
		if b := bucket(c, seen.column(i)); b != "" {
			names, period = append(names, c.Name), b
		}
	}
	if names == nil {
		return nil
	}
	f := &Finding{Name: "time bucket", Columns: names, Evidence: fmt.Sprintf("%s is a period (%s): partitions end with it.", all(names), period)}
	if len(t.PartitionKey) == len(names) && !sharded {
		f.Warning = true
		f.Evidence += " There is nothing beside it in the partition key: all that is written at one time goes to one partition."
		f.Advice = "If many rows come at one time, spread each " + period + " over shards: WITH write_sharding, or one more column of the key."
	}
	return f
}

// large says how many partitions are above the limits.
func large(ri *Report) *Finding {
	if ri.Above.Good.Value == 0 {
		return nil
	}
	f := &Finding{Name: "large partition", Warning: true}
	f.Evidence = fmt.Sprintf("%.0f partitions are above 10 MB, %.0f of them above 100 MB; the largest that was read has %.3g MB.", ri.Above.Good.Value, ri.Above.Most.Value, ri.Sizes.Bytes.Max/(1<<20))
	f.Advice = "Large partitions cost reads, heap, compaction and repair. A period or shards in the partition key part them; evenkeel advise says which."
	return f
}

// skew says that few partitions have most of the rows.
func skew(ri *Report) *Finding {
	s := ri.Sizes.Rows
	if len(ri.Largest) == 0 || ri.Partitions.Value < 20 || ri.Rows.Value < 1000 {
		return nil
	}
	share := ri.Largest[0].Share
	if share < 0.05 || s.Max < 20*math.Max(1, s.Mean) {
		return nil
	}
	return &Finding{Name: "partition skew", Warning: true,
		Evidence: fmt.Sprintf("the largest partition has %.1f%% of all bytes, %.3g × the mean of rows.", 100*share, s.Max/math.Max(1e-9, s.Mean)),
		Advice:   "Its node does more than the others, whatever the ring. Spread that key: write_sharding, or one more column of the key."}
}
