// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"slices"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/partitioner"
)

// current is the present state of a row that conditional writes concern.
type current struct {
	view    rowView
	row     storage.Row
	live    bool // the row exists
	statics bool // the static row exists and matters
	tested  []analysis.Tested
}

// present is the present state of the partition that conditional writes concern. Many writes of a
// batch may have conditions on one long row, and all of them on the static row. Each is read once.
type present struct {
	w    *writing
	t    *table
	rows map[string]*presentRow
	of   []*presentRow // by index in w.writes; nil: no conditions

	key     [][]byte
	static  storage.Row
	statics bool // the static row exists and matters
	shared  rowView
	at      map[*schema.Column]int // indexes of static columns in shared
	tested  []analysis.Tested
}

// presentRow is a row, and the columns that the writes read of it.
type presentRow struct {
	clustering [][]byte
	onlyStatic bool
	fetched    []analysis.Fetched
	plan       *fetchPlan             // of fetched
	at         map[*schema.Column]int // indexes in fetched; nil: those of the only write
	loaded     bool
	current
}

// add adds what a write reads.
func (r *presentRow) add(b *boundWrite) {
	if r.fetched == nil {
		r.fetched, r.plan = b.Fetch, &b.plan.fetch
		return
	}
	if r.at == nil {
		r.fetched = slices.Clone(r.fetched)
		r.at = map[*schema.Column]int{}
		for i, f := range r.fetched {
			r.at[f.Column] = i
		}
	}
	for _, f := range b.Fetch {
		if _, ok := r.at[f.Column]; !ok {
			r.at[f.Column] = len(r.fetched)
			r.fetched = append(r.fetched, f)
			r.plan = nil
		}
	}
}

// present gathers what the conditional writes read, and reads the static row.
func (w *writing) present() (*present, error) {
	p := &present{w: w, t: w.writes[0].plan.table, rows: map[string]*presentRow{},
		of: make([]*presentRow, len(w.writes))}
	var statics []analysis.Fetched
	for i := range w.writes {
		b := &w.writes[i]
		if !b.Conditional() {
			continue
		}
		p.key = b.Keys.At(0)
		clustering, onlyStatic := rowOf(b)
		name := "static"
		if !onlyStatic {
			name = "row" + nameOf(p.t.Table, clustering)
		}
		r := p.rows[name]
		if r == nil {
			r = &presentRow{clustering: clustering, onlyStatic: onlyStatic}
			p.rows[name] = r
		}
		p.of[i] = r
		r.add(b)
		for _, f := range b.Fetch {
			if f.Column.Kind != schema.Static {
				continue
			}
			if _, ok := p.at[f.Column]; !ok {
				if p.at == nil {
					p.at = map[*schema.Column]int{}
				}
				p.at[f.Column] = len(statics)
				statics = append(statics, f)
			}
		}
	}
	return p, p.loadStatic(statics)
}

// loadStatic reads the static row, if it matters.
//
// Static columns matter if a static column is written or has a condition. The same holds for
// regular ones.
func (p *present) loadStatic(fetched []analysis.Fetched) error {
	var plan fetchPlan
	if len(fetched) > 0 {
		plan = newFetchPlan(p.t, fetched)
	}
	p.shared.begin(&plan, p.w.seconds)
	p.tested = make([]analysis.Tested, len(fetched))
	if p.w.looksAtStatics() {
		raw := partitioner.AppendComposite(nil, p.key...)
		q := storage.Query{Now: p.w.seconds, Columns: plan.columns, Room: p.w.roomForRow, Packed: true}
		var err error
		if p.statics, err = p.t.store.GetStatic(partitioner.Murmur3(raw), raw, &q, &p.static); err != nil {
			return storageError(err)
		}
	}
	if p.statics {
		if p.shared.partition(p.key, &p.static); p.shared.err != nil {
			return p.shared.err
		}
	}
	for c, i := range p.at {
		if !p.w.looksAt(c) {
			p.shared.cells[i] = nil
		}
		p.tested[i] = analysis.NewTested(c.Type, p.shared.cells[i])
	}
	return nil
}

// load reads the row. If onlyStatic is set, the first row of the partition represents it, which
// shows whether the partition exists. Where the writes read no regular column, a row without a
// marker is none.
func (p *present) load(cur *current, plan *fetchPlan, fetched []analysis.Fetched, clustering [][]byte, onlyStatic bool) error {
	w := p.w
	raw := partitioner.AppendComposite(nil, p.key...)
	token := partitioner.Murmur3(raw)
	q := storage.Query{Now: w.seconds, Columns: plan.columns, All: w.c.engine.limits != nil, Room: w.roomForRow, Packed: w.c.engine.limits == nil}
	var err error
	row := &cur.row
	if onlyStatic {
		it := p.t.store.Read(token, raw, &q)
		defer it.Close()
		for more := it.NextPartition() && it.Next(); more && !cur.live; {
			row = it.Row()
			if cur.live = w.look().rows || row.HasMarker; !cur.live {
				more = it.Next()
			}
		}
		err = it.Err()
	} else {
		cur.live, err = p.t.store.Get(token, raw, clustering, &q, row)
	}
	if err != nil {
		return storageError(err)
	}
	cur.statics = p.statics
	cur.view.begin(plan, w.seconds)
	cur.view.partition(p.key, nil)
	if !cur.live {
		row = nil
	}
	if cur.view.row(row); cur.view.err != nil {
		return cur.view.err
	}
	for i, f := range fetched {
		switch {
		case f.Column.Kind == schema.Static:
			cur.view.cells[i] = nil
			if at, ok := p.at[f.Column]; ok {
				cur.view.cells[i] = p.shared.cells[at]
			}
		case !w.looksAt(f.Column):
			cur.view.cells[i] = nil
		case onlyStatic: // the row is the iterator's
			cur.view.cells[i] = cloneCell(cur.view.cells[i])
		}
	}
	cur.tested = make([]analysis.Tested, len(fetched))
	for i, f := range fetched {
		cur.tested[i] = analysis.NewTested(f.Column.Type, cur.view.cells[i])
	}
	return nil
}

// test returns the present value that a condition tests.
func (p *present) test(r *presentRow, c *analysis.Condition) *analysis.Tested {
	switch {
	case c.Column.Kind == schema.Static:
		return &p.tested[p.at[c.Column]]
	case r.at == nil:
		return &r.tested[c.Cell]
	}
	return &r.tested[r.at[c.Column]]
}

func cloneCell(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}

// holds returns whether the conditions of a write, by index, hold.
func (p *present) holds(i int) (bool, error) {
	b, r := &p.w.writes[i], p.of[i]
	if !r.loaded {
		if r.plan == nil {
			plan := newFetchPlan(p.t, r.fetched)
			r.plan = &plan
		}
		if err := p.load(&r.current, r.plan, r.fetched, r.clustering, r.onlyStatic); err != nil {
			return false, err
		}
		r.loaded = true
	}
	exists := r.live
	if b.Scope == analysis.ScopeStatic {
		exists = r.statics
	}
	switch {
	case b.IfNotExists:
		return !exists, nil
	case b.IfExists:
		return exists, nil
	}
	for i := range b.Conditions {
		c := &b.Conditions[i]
		ok, err := c.Applies(p.test(r, c.Condition))
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// found reads what a batch that was not applied reports: of every existing row with a condition,
// the primary key and the columns of the conditions, in clustering order.
func (p *present) found() ([]analysis.Fetched, [][][]byte, error) {
	w, t := p.w, p.t
	fetched := w.reported(t)
	plan := newFetchPlan(t, fetched)
	var conditional, ofRows []*boundWrite
	for i := range w.writes {
		b := &w.writes[i]
		if !b.Conditional() {
			continue
		}
		conditional = append(conditional, b)
		if !b.staticCondition() {
			ofRows = append(ofRows, b)
		}
	}
	if len(ofRows) > 0 {
		conditional = ofRows
	}
	slices.SortStableFunc(conditional, func(a, b *boundWrite) int {
		ra, _ := rowOf(a)
		rb, _ := rowOf(b)
		return analysis.CompareClustering(t.Table, ra, rb)
	})
	var rows [][][]byte
	var last [][]byte
	for i, b := range conditional {
		clustering, onlyStatic := rowOf(b)
		if i > 0 && nameOf(t.Table, last) == nameOf(t.Table, clustering) {
			continue
		}
		last = clustering
		var cur current
		if err := p.load(&cur, &plan, fetched, clustering, onlyStatic); err != nil {
			return nil, nil, err
		}
		if cur.there() {
			rows = append(rows, cur.view.cells)
		}
	}
	return fetched, rows, nil
}
