// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"slices"

	"github.com/evenkeel/evenkeel/cql/result"
)

// grouping makes one row of the result of each group of rows. Pages end between groups.
type grouping struct {
	result.Groups
	sort   [][]byte // the open group's values of ORDER BY, if groups are sorted
	key    []byte   // the partition of the last row
	after  [][]byte // the clustering of the last row
	alone  bool     // the last row is the only one that its partition can have
	values [][]byte
}

// partition ends the open group at the beginning of a partition, because no group spans several
// partitions. It reports whether the page is full.
func (g *grouping) partition(r *read) (bool, error) {
	if !g.Ends() {
		return false, nil
	}
	if err := g.emit(r); err != nil {
		return false, err
	}
	r.countTotal()
	if r.Left == 0 || r.page == 0 || r.sets < r.page {
		return false, nil
	}
	r.setPagingState(&position{left: r.Left, inPartition: result.Unbound, key: g.key})
	return true, nil
}

// add adds the loaded row to its group, or begins another group with it. It reports whether the
// page is full without the row.
func (g *grouping) add(r *read) (bool, error) {
	splits, err := g.Splits(&r.c.env, &r.view)
	if err != nil {
		return false, err
	}
	if splits {
		if err := g.emit(r); err != nil {
			return false, err
		}
		r.count()
		switch {
		case r.Left == 0:
			return false, nil
		case r.page > 0 && r.sets == r.page && r.Inside == 0:
			return r.pageEnd(), nil
		case r.page > 0 && r.sets == r.page:
			r.setPagingState(&position{inside: true, left: r.Left, inPartition: r.Inside, key: g.key, after: g.after})
			return true, nil
		case r.Inside == 0:
			return false, nil
		}
	}
	if !g.Open() && r.sorted.On() {
		g.sort = r.sorted.Keys(&r.view)
	}
	if r.plan.Grouped && r.page > 0 {
		g.remember(r)
	}
	return false, g.Add(&r.c.env, &r.view)
}

// remember notes the position of the row.
func (g *grouping) remember(r *read) {
	g.key = append(g.key[:0], r.raw...)
	g.after = g.after[:0]
	g.alone = !r.view.exists || len(r.plan.table.Clustering) == 0
	if !r.view.exists {
		return
	}
	for _, v := range r.source.Row().Clustering {
		g.after = append(g.after, slices.Clone(v))
	}
}

// emit writes the open group's row.
func (g *grouping) emit(r *read) error {
	var err error
	if g.values, err = g.Close(&r.c.env, g.values[:0]); err != nil {
		return err
	}
	if r.sorted.On() {
		return r.keep(g.sort, g.values)
	}
	return r.write(g.values)
}

// end writes the last group. An aggregation without GROUP BY always has one.
func (g *grouping) end(r *read) error {
	if !g.On() || !g.Open() && r.plan.Grouped {
		return nil
	}
	if r.Left == 0 && r.plan.Grouped {
		return nil
	}
	if err := g.emit(r); err != nil {
		return err
	}
	r.countTotal()
	if r.plan.Grouped && r.Left != 0 && r.page > 0 && r.sets == r.page && !g.isLast(r) {
		r.setPagingState(&position{left: r.Left, inPartition: result.Unbound, key: g.key})
	}
	return nil
}

// isLast reports whether no group can follow the one that has just been written. Its partition is then
// the last of the named ones, and has no further row, or may have no further group.
func (g *grouping) isLast(r *read) bool {
	return !r.b.Scan && (g.alone || r.Inside == 1) && bytes.Equal(g.key, r.raw)
}
