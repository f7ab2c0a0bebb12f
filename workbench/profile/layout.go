// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/workbench/rows"
)

// layout holds what candidates share and all goroutines know.
type layout struct {
	profile    *Profile
	columns    []string // the columns to read
	types      []rows.Column
	needs      []needs
	candidates []*design
	buckets    []bucketed
	keys       [][]int    // partition keys: for each part its column, or ^bucket
	primary    [][]int    // sets of components of primary keys, sorted, in the same form
	by         [][]int    // sets of columns that are hashed for a shard
	unique     []bool     // by primary: it has a column whose values are all different
	time       []int      // columns that say when a row was written
	spans      [][2]int64 // by time: its beginning, and the length of one of timeParts
}

type bucketed struct {
	column int
	unit   Granularity
}

// design is a candidate with its columns resolved.
type design struct {
	Candidate
	key        int   // in keys
	primary    int   // in primary
	whole      []int // columns of the partition key that are not buckets
	buckets    []int
	clustering []int
	by         int // in by; -1: rows are spread evenly
	time       int // column; -1: unknown
	times      int // in layout.time
	unit       Granularity
}

func (d *design) shards() int { return max(d.Shards, 1) }

// BadCandidate is the error for a candidate that cannot be measured.
type BadCandidate struct {
	Candidate Candidate
	Reason    string
}

func (e *BadCandidate) Error() string { return e.Reason }

// newLayout resolves candidates. It has all columns read whose lengths matter.
func newLayout(p *Profile, in Input, candidates []Candidate, billing *Billing) (*layout, error) {
	l := &layout{profile: p}
	types := make(map[string]rows.Column)
	for _, c := range in.Columns() {
		types[c.Name] = c
	}
	column := func(c Candidate, name string) (int, error) {
		if i := slices.Index(l.columns, name); i >= 0 {
			return i, nil
		}
		col := p.Column(name)
		if col == nil {
			var names []string
			for _, c := range p.Columns {
				names = append(names, c.Name)
			}
			return 0, &rows.UnknownColumn{Name: p.Data, Column: name, Columns: names}
		}
		l.columns, l.types, l.needs = append(l.columns, name), append(l.types, types[name]), append(l.needs, needs{})
		return len(l.columns) - 1, nil
	}
	for _, c := range candidates {
		d := &design{Candidate: c, by: -1, time: -1}
		var key []int
		for _, part := range c.Partition {
			i, err := column(c, part.Column)
			if err != nil {
				return nil, err
			}
			if part.Bucket == Whole {
				l.needs[i].hash = true
				key, d.whole = append(key, i), append(d.whole, i)
				continue
			}
			if p.Column(part.Column).Moments() == nil {
				return nil, &BadCandidate{c, fmt.Sprintf("column %q has no times to make %ss of", part.Column, part.Bucket)}
			}
			l.needs[i].time = true
			b := indexOf(&l.buckets, bucketed{i, part.Bucket})
			key, d.buckets = append(key, ^b), append(d.buckets, b)
		}
		if len(key) == 0 {
			return nil, &BadCandidate{c, "a partition key has at least one column"}
		}
		primary := slices.Clone(key)
		for _, name := range c.Clustering {
			i, err := column(c, name)
			if err != nil {
				return nil, err
			}
			if slices.Contains(d.whole, i) || slices.Contains(d.clustering, i) {
				return nil, &BadCandidate{c, fmt.Sprintf("column %q is in the primary key twice", name)}
			}
			l.needs[i].hash = true
			primary, d.clustering = append(primary, i), append(d.clustering, i)
		}
		slices.Sort(primary)
		d.key, d.primary = indexOfList(&l.keys, key), indexOfList(&l.primary, slices.Compact(primary))
		if d.shards() > 1 {
			names := c.By
			if len(names) == 0 {
				names = c.Clustering
			}
			var by []int
			for _, name := range names {
				i, err := column(c, name)
				if err != nil {
					return nil, err
				}
				l.needs[i].hash = true
				by = append(by, i)
			}
			if len(by) > 0 {
				d.by = indexOfList(&l.by, by)
			}
		}
		if c.Time != "" {
			i, err := column(c, c.Time)
			if err != nil {
				return nil, err
			}
			t := p.Column(c.Time).Moments()
			if t == nil {
				return nil, &BadCandidate{c, fmt.Sprintf("column %q has no times", c.Time)}
			}
			l.needs[i].time = true
			d.time, d.unit = i, max(Second, t.Granularity)
			d.times = indexOf(&l.time, i)
			if d.times == len(l.spans) {
				first, last := t.First.UnixMilli(), t.Last.UnixMilli()
				if d.unit > Second {
					last += d.unit.Millis() - 1
				}
				l.spans = append(l.spans, [2]int64{first, int64(uint64(last-first)/timeParts) + 1}) // times may be any distance apart
			}
		}
		l.candidates = append(l.candidates, d)
	}
	for _, primary := range l.primary {
		unique := false
		for _, i := range primary {
			if i >= 0 {
				unique = unique || p.Column(l.columns[i]).unique(l.types[i].Type)
			}
		}
		l.unique = append(l.unique, unique)
	}
	// The lengths of cells matter only in columns in which they differ.
	for _, c := range p.Columns {
		same := fixedLen(c.Type) > 0 && c.Nulls == 0 && c.Empty == 0
		if billing != nil && same {
			v, counts := billing.Columns[c.Name]
			same = !counts || v.always(&c) > 0
		}
		if same {
			continue
		}
		if _, err := column(Candidate{}, c.Name); err != nil {
			return nil, err
		}
	}
	for i := range l.needs {
		l.needs[i].size = true
	}
	return l, nil
}

// indexOf returns the index of v in the list. It adds v if it is not there.
func indexOf[T comparable](list *[]T, v T) int {
	if i := slices.Index(*list, v); i >= 0 {
		return i
	}
	*list = append(*list, v)
	return len(*list) - 1
}

func indexOfList(list *[][]int, v []int) int {
	if i := slices.IndexFunc(*list, func(w []int) bool { return slices.Equal(v, w) }); i >= 0 {
		return i
	}
	*list = append(*list, v)
	return len(*list) - 1
}
