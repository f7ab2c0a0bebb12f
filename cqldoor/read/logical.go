// SPDX-License-Identifier: Apache-2.0

package read

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/shard"
)

// step is a row, and the position after it. The next page can begin at that position.
type step struct {
	row *plan.Row
	at  plan.Cursor // only KeyIndex, Scan, After and Done are set
}

// visit takes one row after the other. It returns false to end the read, or errEnough to end the read
// of the row's partition. The reader may use the row again after the call, but not its cells.
type visit func(s step) (bool, error)

var errEnough = errors.New("read: no more rows of the partition are wanted")

// pause ends a page between two partitions. The next page begins at the position at.
type pause func(at plan.Cursor) error

// each visits the merged rows after a cursor, in order. It filters them if the shards have not. hint
// is how many rows of a partition the page will probably need; 0: all. If the read takes long and
// pause is not nil, each calls pause with the position after a partition, and ends.
func (x *reader) each(c plan.Cursor, hint int, pause pause, f visit) error {
	if x.plan.FilterHere {
		inner := f
		f = func(s step) (bool, error) {
			if !x.bound.Matches(s.row) {
				return true, nil
			}
			return inner(s)
		}
	}
	if x.bound.Empty() {
		return nil
	}
	if x.plan.Access == plan.Owners {
		return x.owners(c, hint, pause, f)
	}
	for i, key := range x.bound.Keys.From(c.KeyIndex) {
		at := plan.Cursor{KeyIndex: i}
		if i == c.KeyIndex {
			at = c
		} else if pause != nil && x.hurried() {
			return pause(at)
		}
		if err := x.look(i); err != nil {
			return err
		}
		if x.survey.empty(i) {
			continue
		}
		if on, err := x.partition(key, at, hint, f); err != nil || !on {
			return err
		}
	}
	return nil
}

// partition visits the rows of one logical partition after a cursor in it. It returns false if f has
// ended the read.
func (x *reader) partition(key [][]byte, at plan.Cursor, hint int, f visit) (on bool, err error) {
	if at.Done {
		return true, nil
	}
	r := plan.Row{Select: x.plan, Key: key}
	if x.plan.Old != nil && len(x.plan.Table.Statics) > 0 && !x.plan.Change.Stays(key) {
		if _, err := x.reads.Resolver.resolve(x.ctx, x.plan.Change, x.plan.Change.Moved(key, nil), x.params.Consistency); err != nil {
			return false, err
		}
	}
	present, wait, err := x.presence(key)
	if err != nil {
		return false, err
	}
	if x.plan.Logical.Distinct && (x.plan.Table.Hides() || x.plan.Table.Timed()) {
		if wait != nil {
			if r.Statics, err = wait(); err != nil {
				return false, err
			}
		}
		if found, err := x.present(key, at.KeyIndex); err != nil || !found {
			return err == nil, err
		}
		return alone(f(step{&r, plan.Cursor{KeyIndex: at.KeyIndex, Scan: at.Scan, Layout: at.Layout, Done: true}}))
	}
	if x.plan.Logical.Distinct {
		if r.Statics, err = wait(); err != nil || !present() {
			return err == nil, err
		}
		return alone(f(step{&r, plan.Cursor{KeyIndex: at.KeyIndex, Scan: at.Scan, Layout: at.Layout, Done: true}}))
	}
	first := at.After == nil
	rows := 0
	want := hint
	if want <= 0 || x.plan.FilterHere {
		want = window
	}
	dir := &buckets.Paced{Directory: x.dir, Want: max(0, hint)}
	segments := x.plan.PartitionSegments(x.bound, dir, at.KeyIndex, key, at.After)
	if x.only != nil {
		segments = x.plan.ShardSegments(x.bound, x.dir, x.only.by, key, x.only.shard, at.After)
	}
	for s := range segments {
		for after := s.After; ; {
			page, err := x.page(s, after, min(want, window))
			if err != nil {
				return false, err
			}
			if wait != nil {
				if r.Statics, err = wait(); err != nil {
					return false, err
				}
				wait = nil
			}
			shown := x.shown(page)
			rows += len(page.rows)
			dir.Rows = rows
			k := len(page.clustering)
			keys := make([][]byte, 0, k*len(page.rows))
			for i := range page.rows {
				keys = page.appendKey(keys, &page.rows[i])
				r.Clustering, r.Cells = keys[i*k:(i+1)*k:(i+1)*k], page.visibleCells(&page.rows[i])
				if x.only != nil && !x.only.by.Belongs(key, r.Clustering, x.only.shard) {
					continue
				}
				next := plan.Cursor{KeyIndex: at.KeyIndex, Scan: at.Scan, Layout: at.Layout, After: r.Clustering}
				if k == 0 {
					next.Done = true // there is only one row
				}
				if on, err := f(step{&r, next}); err == errEnough {
					shown.Close()
					return true, nil
				} else if err != nil || !on {
					return false, err
				}
			}
			shown.Close()
			if !page.more || !page.ends {
				break
			}
			after = page.key(&page.end)
			want *= 2
		}
	}
	if rows > 0 || !first || !x.plan.Alone() {
		return true, nil
	}
	if wait != nil {
		if r.Statics, err = wait(); err != nil {
			return false, err
		}
	}
	if !present() {
		return true, nil
	}
	r.Clustering, r.Cells = nil, nil
	return alone(f(step{&r, plan.Cursor{KeyIndex: at.KeyIndex, Scan: at.Scan, Layout: at.Layout, Done: true}}))
}

// oneShard stands for the rows that a table of strategy time puts in one shard of a partition.
type oneShard struct {
	by    *plan.Table
	shard int
}

// shown returns the memory of a page. The caller closes it when it has visited the page's rows. If the
// visit ends early, the memory is returned with the request. If the rows are shown later, shown
// appends the memory to x.shows and returns nil.
func (x *reader) shown(page *rowset) *request.Holding {
	if x.shows == nil || page.held == nil {
		return page.held
	}
	*x.shows = append(*x.shows, page.held)
	return nil
}

// present reports whether a partition has a visible row.
func (x *reader) present(key [][]byte, index int) (bool, error) {
	for s := range x.plan.PartitionSegments(x.bound, x.dir, index, key, nil) {
		for after := s.After; ; {
			read := x.keys
			if x.plan.Old != nil && !x.plan.Change.Stays(key) {
				read = x.resolved
			}
			page, err := read(s, after, shownAtOnce)
			if err != nil {
				return false, err
			}
			found, more := len(page.rows) > 0, page.more && page.ends
			if more {
				after = page.ownKey(&page.end)
			}
			page.release()
			if found {
				return true, nil
			}
			if !more {
				break
			}
		}
	}
	return false, nil
}

// shownAtOnce is how many keys present reads at once to find a visible row.
const shownAtOnce = 100

// alone returns the result of partition after the visit of a partition's only row. on and err are the
// results of that visit.
func alone(on bool, err error) (bool, error) {
	if err == errEnough {
		return true, nil
	}
	return on, err
}

// presence starts to read the static columns of a partition, and which shards have rows. wait returns
// the static columns when the read has ended. The caller calls wait once. wait is nil if presence
// reads nothing. After the call of wait, present reports whether any of the asked shards has rows.
func (x *reader) presence(key [][]byte) (present func() bool, wait func() ([][]byte, error), err error) {
	p := x.plan.Presence
	found := false
	present = func() bool { return found }
	if p == nil || x.plan.Table.Timed() { // tables of strategy time have no static columns
		return present, nil, nil
	}
	shards, err := p.Shards(x.plan.Table, x.dir, key)
	if err != nil {
		return nil, nil, err
	}
	var fetches []fetch
	for _, g := range x.together(key, shards, x.group(presenceGroup)) {
		fetches = append(fetches, fetch{p.Fetch(x.bound, key, g.Members), g.Place})
	}
	type answer struct {
		rows [][][]byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- answer{err: fmt.Errorf("read: static columns: %v", p)}
			}
		}()
		rows, err := x.all(fetches)
		done <- answer{rows, err}
	}()
	return present, func() (statics [][]byte, err error) {
		a := <-done
		if x.plan.Table.Layout.Strategy == shard.Rollover {
			// The shard with the lowest number has every write of a collection.
			slices.SortStableFunc(a.rows, func(a, b [][]byte) int { return bytes.Compare(a[len(a)-1], b[len(b)-1]) })
		}
		for _, row := range a.rows {
			if len(row) <= p.Static {
				return nil, fmt.Errorf("read: static columns came as %d cells", len(row))
			}
			found = true
			if statics == nil {
				statics = row[:p.Static]
			} else {
				p.Merge(statics, row[:p.Static])
			}
		}
		return statics, a.err
	}, nil
}

// presenceGroup is how many shards one request asks for one small row each.
const presenceGroup = 50

// window is the largest number of rows of a partition that a reader merges at once. It merges that
// many if it does not know how many rows the page needs.
const window = 5000
