// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// table holds rows in memory, and profiles and measures them by counting. Package profile must give
// the same results.
type table struct {
	names []string
	rows  [][]string
	times map[int][]time.Time // by column
}

// instant returns a value as a time.
func (tb *table) instant(row, column int) time.Time {
	if tb.times[column] == nil {
		all := make([]time.Time, len(tb.rows))
		for i, r := range tb.rows {
			all[i], _ = instantOf(r[column])
		}
		if tb.times == nil {
			tb.times = make(map[int][]time.Time)
		}
		tb.times[column] = all
	}
	return tb.times[column][row]
}

func exact(x float64) profile.Estimate {
	return profile.Estimate{Value: x, Low: x, High: x, Exact: true}
}

func instantOf(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, s); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func (tb *table) profile(types map[string]string) *profile.Profile {
	p := &profile.Profile{Data: "data.csv", Rows: int64(len(tb.rows))}
	for i, name := range tb.names {
		c := profile.Column{Name: name, Values: int64(len(tb.rows)), Type: value.Native(value.Text)}
		counts := make(map[string]int)
		ints, times, up := true, true, 0
		fine := profile.Day
		for r, row := range tb.rows {
			v := row[i]
			counts[v]++
			if _, err := strconv.Atoi(v); err != nil {
				ints = false
			}
			at, ok := instantOf(v)
			times = times && ok
			for ok && fine > profile.Second && fine.Start(at.UnixMilli()) != at.UnixMilli() {
				fine--
			}
			c.MeanBytes += float64(len(v)) / float64(len(tb.rows))
			if r > 0 && (len(v) > len(tb.rows[r-1][i]) || len(v) == len(tb.rows[r-1][i]) && v > tb.rows[r-1][i]) {
				up++
			}
		}
		c.Distinct = exact(float64(len(counts)))
		pairs, most := 0.0, 0
		for _, n := range counts {
			pairs += float64(n) * float64(n-1) / 2
			most = max(most, n)
		}
		c.Pairs, c.Most = exact(pairs), exact(float64(most))
		steps := float64(max(1, len(tb.rows)-1))
		c.Order = profile.Order{Ascending: float64(up) / steps, Monotonic: float64(up) == steps}
		c.TextBytes = c.MeanBytes
		switch {
		case ints:
			c.Type, c.MeanBytes = value.Native(value.Int), 4
			c.Order.Sequential = c.Order.Monotonic && len(counts) == len(tb.rows)
		case times:
			c.Type, c.MeanBytes = value.Native(value.Timestamp), 8
			if fine == profile.Day {
				c.Type, c.MeanBytes = value.Native(value.Date), 4
			}
			c.Time = tb.timeOf(i, fine)
		}
		if n, given := types[name]; given {
			c.Type, c.Given = value.Named(n), true
		}
		keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
		for _, v := range keys[:min(5, len(keys))] {
			c.Top = append(c.Top, profile.Top{Text: v, Rows: exact(float64(counts[v])), Share: float64(counts[v]) / float64(len(tb.rows))})
		}
		c.Min, c.Max = slices.Min(keys), slices.Max(keys)
		p.Columns = append(p.Columns, c)
	}
	return p
}

func (tb *table) timeOf(i int, fine profile.Granularity) *profile.Time {
	out := &profile.Time{Granularity: fine, Resolution: time.Duration(fine.Millis()) * time.Millisecond, Sorts: true}
	for r, row := range tb.rows {
		at, _ := instantOf(row[i])
		if at.Nanosecond() != 0 {
			out.Resolution = time.Millisecond
		}
		if r == 0 || at.Before(out.First) {
			out.First = at
		}
		if r == 0 || at.After(out.Last) {
			out.Last = at
		}
	}
	for _, g := range []profile.Granularity{profile.Second, profile.Minute, profile.Hour, profile.Day} {
		if g < fine {
			continue
		}
		counts := make(map[int64]int)
		most := 0
		for _, row := range tb.rows {
			at, _ := instantOf(row[i])
			counts[g.Start(at.UnixMilli())]++
			most = max(most, counts[g.Start(at.UnixMilli())])
		}
		out.Hot = append(out.Hot, profile.Period{Granularity: g, Rows: exact(float64(most)), Busy: int64(len(counts))})
	}
	return out
}

// measure counts the figures of a candidate.
func (tb *table) measure(p *profile.Profile, c profile.Candidate) *profile.Measured {
	m := &profile.Measured{Candidate: c, Rows: int64(len(tb.rows))}
	at := func(name string) int { return slices.Index(tb.names, name) }
	type partition struct {
		values []string
		shard  int
		rows   int
		bytes  float64
		over   []int64
	}
	parts := make(map[string]*partition)
	keys := make(map[string]bool)
	row := 0.0
	for i := range p.Columns {
		row += p.Columns[i].MeanBytes + 2
	}
	window := func(r int) int { return r * windows / len(tb.rows) }
	if c.Time != "" {
		t := p.Column(c.Time).Time
		column := at(c.Time)
		window = func(r int) int {
			span := t.Last.Sub(t.First) + 1
			return int(int64(tb.instant(r, column).Sub(t.First)) / (int64(span)/windows + 1))
		}
	}
	by := c.By
	if len(by) == 0 {
		by = c.Clustering
	}
	layout := shard.Layout{N: max(1, c.Shards)}
	var id []byte
	key := make([]string, len(c.Partition))
	for r, values := range tb.rows {
		id = id[:0]
		for i, part := range c.Partition {
			v := values[at(part.Column)]
			if part.Bucket != profile.Whole {
				when := tb.instant(r, at(part.Column))
				v = time.UnixMilli(part.Bucket.Start(when.UnixMilli())).UTC().Format(time.RFC3339)
			}
			key[i] = v
			id = append(append(id, v...), 0)
		}
		n := 0
		if c.Shards > 1 {
			n = r%c.Shards + 1
			if len(by) > 0 {
				var hashed [][]byte
				for _, b := range by {
					hashed = append(hashed, []byte(values[at(b)]))
				}
				n = layout.ShardOf(nil, hashed...)
			}
		}
		id = strconv.AppendInt(id, int64(n), 10)
		x := parts[string(id)]
		if x == nil {
			x = &partition{values: slices.Clone(key), shard: n, over: make([]int64, windows)}
			parts[string(id)] = x
		}
		x.rows++
		x.bytes += row
		x.over[window(r)]++
		for _, cl := range c.Clustering {
			id = append(append(id, 0), values[at(cl)]...)
		}
		keys[string(id)] = true
	}
	list := slices.Collect(maps.Values(parts))
	slices.SortFunc(list, func(a, b *partition) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), slices.Compare(a.values, b.values), cmp.Compare(a.shard, b.shard))
	})
	m.Partitions = exact(float64(len(list)))
	m.RowBytes = row
	m.Lost = exact(float64(len(tb.rows) - len(keys)))
	quantile := func(q float64) profile.Estimate {
		return exact(float64(list[len(list)-1-int(q*float64(len(list)-1))].rows))
	}
	m.RowSizes = profile.Sizes{Mean: float64(len(tb.rows)) / float64(len(list)), P50: quantile(0.5), P90: quantile(0.9), P99: quantile(0.99), Max: quantile(1)}
	scale := func(e profile.Estimate) profile.Estimate { return exact(e.Value * row) }
	m.ByteSizes = profile.Sizes{Mean: m.RowSizes.Mean * row, P50: scale(m.RowSizes.P50), P90: scale(m.RowSizes.P90), P99: scale(m.RowSizes.P99), Max: scale(m.RowSizes.Max)}
	for _, x := range list[:min(20, len(list))] {
		m.Largest = append(m.Largest, profile.Partition{
			Values: x.values, Shard: x.shard, Token: partitioner.Murmur3([]byte(strings.Join(x.values, "#"))),
			Rows: exact(float64(x.rows)), Share: float64(x.rows) / math.Max(1, float64(len(tb.rows))), Bytes: exact(x.bytes), Over: x.over,
		})
	}
	return m
}
