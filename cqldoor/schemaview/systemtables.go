// SPDX-License-Identifier: Apache-2.0

package schemaview

import (
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/result"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/partitioner"
)

// Viewer shows clients the schema as if sharded tables were plain ones, and the doors as the nodes. It
// executes SELECTs from system tables, and changes the store's answers to DESCRIBE.
type Viewer struct {
	Schemas *tables.Schemas
	View    *atomic.Pointer[tables.View]
	Doors   *tables.Membership
	Cache   *request.PlanCache
	Binder  *request.Binder
	System  map[string]*schema.Keyspace // the system keyspaces as the store has them; set by Start
	Longest int                         // most bytes of rows in a result, see request.MaxResult
}

// Some system tables show sharded tables, the catalogue or the nodes (see tables.Hides). The door reads
// such a table whole, or only the keyspaces that the statement names. It leaves out the hidden rows.
// Then it executes the statement itself on the remaining rows. So every projection, filter, aggregate
// and page is right.

// schemaSelect is a SELECT from such a table. It is immutable.
type schemaSelect struct {
	*analysis.Select
	id         [16]byte
	metadataID [16]byte
	fetch      string         // reads the table, without WHERE
	times      []int          // for each of Fetch, index of its writetime among the cells, before its ttl; -1: none
	key        int            // index of the partition key (a keyspace's name or a node) among the cells
	clustering []int          // indexes of the clustering columns among the cells
	position   map[string]int // index of each column among the cells, by name
}

// newSchemaSelect analyses a SELECT.
func (x *Viewer) newSchemaSelect(keyspace, text string) (*schemaSelect, error) {
	tree, err := syntax.Parse(text)
	if err != nil {
		return nil, request.SyntaxError(err)
	}
	a, err := analysis.Analyze(tree, &schema.Schema{Keyspaces: x.System}, keyspace)
	if err != nil {
		return nil, err
	}
	s := &schemaSelect{Select: a.(*analysis.Select), id: request.NewID(keyspace, text), position: map[string]int{}}
	s.metadataID = s.ResultID()
	var list []syntax.Selector
	column := func(name string) int {
		if at, ok := s.position[name]; ok {
			return at
		}
		list = append(list, syntax.Selector{Expr: &syntax.Column{Name: name}})
		s.position[name] = len(list) - 1
		return len(list) - 1
	}
	s.key = column(s.Table.PartitionKey[0].Name)
	for _, c := range s.Table.Clustering {
		s.clustering = append(s.clustering, column(c.Name))
	}
	for _, f := range s.Fetch {
		column(f.Column.Name)
	}
	s.times = make([]int, len(s.Fetch))
	for i, f := range s.Fetch {
		if s.times[i] = -1; !f.Times {
			continue
		}
		s.times[i] = len(list)
		for _, name := range []string{"writetime", "ttl"} {
			list = append(list, syntax.Selector{Expr: &syntax.Call{Func: syntax.Name{Name: name}, Args: []syntax.Expr{&syntax.Column{Name: f.Column.Name}}}})
		}
	}
	s.fetch = syntax.Print(&syntax.Select{Selectors: list, From: syntax.Name{Keyspace: s.Table.Keyspace, Name: s.Table.Name}})
	return s, nil
}

// ServeSelect serves the QUERY or PREPARE of a SELECT from such a table.
func (x *Viewer) ServeSelect(ctx context.Context, req *cqldoor.Request, keyspace, text string) {
	s, err := x.newSchemaSelect(keyspace, text)
	if err != nil {
		req.Error(err)
		return
	}
	if req.Op == wire.OpPrepare {
		x.Cache.Known.Put(&request.Known{ID: s.id, Size: 4*len(text) + 1000, Schema: func(ctx context.Context, req *cqldoor.Request) error {
			e, err := request.ExecuteOf(req)
			if err != nil {
				return err
			}
			return x.selectRows(ctx, req, s, &e.Params, e.MetadataID)
		}})
		p := wire.Prepared{ID: s.id[:], MetadataID: s.metadataID[:], Result: request.EncodeColumns(req.Version, s.Table, s.Columns)}
		binds := make([]wire.Column, len(s.Binds))
		for i, b := range s.Binds {
			binds[i] = wire.Column{Keyspace: b.Keyspace, Table: b.Table, Name: b.Name, Type: b.Type}
		}
		p.Variables = wire.EncodeColumns(req.Version, binds)
		for _, i := range s.PartitionKeyBinds {
			p.KeyIndexes = append(p.KeyIndexes, uint16(i))
		}
		req.Reply(wire.Message{Op: wire.OpResult, Body: wire.AppendPrepared(nil, req.Version, &p)})
		return
	}
	req.Go(func(ctx context.Context) {
		q, err := request.QueryOf(req)
		if err == nil {
			err = x.selectRows(ctx, req, s, &q.Params, nil)
		}
		request.ReplyError(req, err)
	})
}

// selectRows executes a SELECT and sends the result. metadataID is the id in an EXECUTE of protocol
// v5. It is nil for a QUERY.
func (x *Viewer) selectRows(ctx context.Context, req *cqldoor.Request, s *schemaSelect, params *wire.Params, metadataID []byte) error {
	// The rows of nodes do not depend on the door's copy of the schema. A refresh takes long if the schema
	// has many columns.
	if !tables.ShowsNodes(s.Table.Keyspace, s.Table.Name) {
		if err := x.Schemas.RefreshIfChanged(ctx); err != nil {
			return err
		}
	}
	var env eval.Env
	if err := x.Binder.Fill(&env, &request.Statement{Head: &s.Header}, &params.Values, nil); err != nil {
		return err
	}
	made := request.ValueMemory{Ctx: ctx}
	defer made.Close()
	env.Wanted, env.Memory = ctx, &made
	b, err := s.Bind(&env)
	if err != nil {
		return err
	}
	page, skip := 0, 0
	if params.Has(wire.QueryPageSize) && params.PageSize > 0 {
		page = int(params.PageSize)
		if err := b.CheckPaging(page); err != nil {
			return err
		}
		if params.Has(wire.QueryPagingState) && len(params.PagingState) > 0 {
			if skip, err = s.resume(params.PagingState); err != nil {
				return err
			}
		}
	}
	f := &schemaFetch{Viewer: x, before: x.View.Load(), ctx: ctx, req: req, sel: s, bound: b, consistency: params.Consistency}
	rows, err := f.rows()
	if err != nil {
		return err
	}
	memory := request.NewMemory(ctx)
	defer memory.Close()
	result, err := s.output(b, rows, &schemaResult{memory: memory, longest: x.Longest})
	if err != nil {
		return err
	}
	var w wire.RowsWriter
	w.Begin(nil, s.metadata(req.Version, params, metadataID))
	result = result[min(skip, len(result)):]
	if page > 0 && len(result) > page {
		result = result[:page]
		w.SetPagingState(s.state(skip + page))
	}
	for _, cells := range result {
		for _, c := range cells {
			w.Cell(c)
		}
		w.EndRow()
	}
	f.answer.Warnings = append(f.answer.Warnings, request.AggregateWarnings(b)...)
	return f.answer.Reply(req, w.Finish())
}

// metadata returns a result's metadata. It leaves out the columns if the client knows them.
func (s *schemaSelect) metadata(v wire.Version, params *wire.Params, metadataID []byte) wire.Metadata {
	m := request.EncodeColumns(v, s.Table, s.Columns)
	switch changed := v >= wire.V5 && metadataID != nil && string(metadataID) != string(s.metadataID[:]); {
	case changed:
		m.Flags |= wire.MetadataNewID
		m.NewID = s.metadataID[:]
	case params.Has(wire.QuerySkipMetadata):
		m = wire.Metadata{Flags: wire.MetadataNone, Count: m.Count}
	}
	return m
}

// state returns the paging state of a page that starts at a row of the result. The door reads the
// table again for each page. Drivers read the schema in one page.
func (s *schemaSelect) state(row int) []byte {
	return binary.BigEndian.AppendUint32(slices.Clone(s.id[:]), uint32(row))
}

func (s *schemaSelect) resume(state []byte) (int, error) {
	n := len(s.id)
	if len(state) != n+4 || string(state[:n]) != string(s.id[:]) {
		return 0, &wire.Error{Code: wire.CodeProtocol, Message: "Invalid value for the paging state"}
	}
	return int(binary.BigEndian.Uint32(state[n:])), nil
}

// schemaFetch reads the rows for one execution.
type schemaFetch struct {
	*Viewer
	before      *tables.View // the view that the door had before it read the rows
	ctx         context.Context
	req         *cqldoor.Request
	sel         *schemaSelect
	bound       *analysis.BoundSelect
	consistency wire.Consistency
	answer      request.Answer // the store's first answer, for its warnings
}

// schemaRow is a row as a statement's expressions see it.
type schemaRow struct {
	at    [][]byte // the row's clustering key
	cells [][]byte
	times [][]eval.CellTime
}

// Cell implements eval.Row.
func (r *schemaRow) Cell(i int) []byte { return r.cells[i] }

// Times implements eval.Row.
func (r *schemaRow) Times(i int) []eval.CellTime { return r.times[i] }

// partitionRows holds the selected rows of one partition, in the statement's order. key is the
// partition key.
type partitionRows struct {
	key  string
	rows []*schemaRow
}

// rows reads the partitions that the statement asks for.
func (f *schemaFetch) rows() ([]partitionRows, error) {
	if f.bound.Empty() {
		return nil, nil
	}
	if tables.ShowsNodes(f.sel.Table.Keyspace, f.sel.Table.Name) {
		return f.nodeRows()
	}
	var out []partitionRows
	if f.bound.Scan {
		err := f.read(&out, f.sel.fetch, nil)
		f.sort(out)
		return out, err
	}
	for _, key := range f.bound.Keys.All() {
		if err := f.read(&out, f.sel.fetch+" WHERE keyspace_name = ?", key[0]); err != nil {
			return nil, err
		}
	}
	f.sort(out)
	return out, nil
}

// sort sorts the rows of each partition by the names that clients see.
func (f *schemaFetch) sort(all []partitionRows) {
	if len(f.View.Load().Hidden) == 0 && len(f.before.Hidden) == 0 {
		return // keep the order in which the rows came
	}
	for _, p := range all {
		slices.SortStableFunc(p.rows, func(a, b *schemaRow) int {
			for i, c := range f.sel.Table.Clustering {
				if d := c.Type.Compare(a.at[i], b.at[i]); d != 0 {
					if c.Desc != f.sel.Reversed {
						return -d
					}
					return d
				}
			}
			return 0
		})
	}
}

const schemaPage = 5000

// read executes text, and appends the selected rows to out. text reads one partition, or the whole
// table if key is nil.
func (f *schemaFetch) read(out *[]partitionRows, text string, key []byte) error {
	q := wire.Query{Text: []byte(text), Params: wire.Params{Consistency: f.consistency}}
	if key != nil {
		q.Params.SetValues(wire.Values{Count: 1, Raw: wire.AppendBytes(nil, key)})
	}
	q.Params.SetPageSize(schemaPage)
	for {
		a, err := request.AskStore(f.ctx, f.req, wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, f.req.Version, &q)})
		if err != nil {
			return err
		}
		if f.answer.Body == nil {
			f.answer = *a
		}
		rows, err := wire.ParseRows(a.Body)
		if err != nil {
			return err
		}
		it := rows.Iter(nil)
		for it.Next() {
			f.add(out, it.Cells)
		}
		if err := it.Err(); err != nil {
			return err
		}
		if rows.Metadata.Flags&wire.MetadataMore == 0 {
			break
		}
		q.Params.SetPagingState(rows.Metadata.PagingState)
	}
	return nil
}

// add appends a row if it is selected and not hidden.
func (f *schemaFetch) add(out *[]partitionRows, cells [][]byte) {
	s := f.sel
	ks := string(cells[s.key])
	cells, shown := f.shown(cells)
	if !shown || !f.selected(cells[s.key]) {
		return
	}
	clustering := make([][]byte, len(s.clustering))
	for i, at := range s.clustering {
		clustering[i] = cells[at]
	}
	if !f.bound.Slices.Contains(s.Table, clustering) {
		return
	}
	r := &schemaRow{at: clustering, cells: make([][]byte, len(s.Fetch)), times: make([][]eval.CellTime, len(s.Fetch))}
	for i, fetched := range s.Fetch {
		r.cells[i] = cells[s.position[fetched.Column.Name]]
		if at := s.times[i]; at >= 0 && r.cells[i] != nil {
			r.times[i] = []eval.CellTime{eval.CellTimeOf(cells[at], cells[at+1])}
		}
	}
	if !f.bound.Matches(r) {
		return
	}
	if n := len(*out); n == 0 || (*out)[n-1].key != ks {
		*out = append(*out, partitionRows{key: ks})
	}
	last := &(*out)[len(*out)-1]
	if s.Reversed {
		last.rows = slices.Insert(last.rows, 0, r)
	} else {
		last.rows = append(last.rows, r)
	}
}

func inTokens(ranges []analysis.TokenRange, key []byte) bool {
	t := partitioner.Murmur3(key)
	return slices.ContainsFunc(ranges, func(r analysis.TokenRange) bool { return r.Start <= t && t <= r.End })
}

// shown returns a row as clients see it, or false for a hidden row.
func (f *schemaFetch) shown(cells [][]byte) ([][]byte, bool) {
	s := f.sel
	if tables.ShowsNodes(s.Table.Keyspace, s.Table.Name) {
		if s.Table.Name == "local" {
			cells = f.localCells(cells)
		}
		return cells, true
	}
	ks := string(cells[s.key])
	if ks == catalog.Keyspace {
		return nil, false
	}
	at, ok := s.position["table_name"]
	if !ok {
		return cells, true
	}
	name := string(cells[at])
	now := f.View.Load()
	if now.Pending[syntax.Name{Keyspace: ks, Name: name}] {
		return nil, false
	}
	t, shown := now.Named(ks, name)
	if !shown {
		return nil, false
	}
	if t == nil {
		// The table may have been dropped after the rows were read.
		if t = f.before.Tables[ks][name]; t == nil {
			return cells, true
		}
	}
	if at, ok := s.position["column_name"]; ok && !t.Entry.Layout.Plain() && string(cells[at]) == t.Entry.Layout.Column {
		return nil, false
	}
	if t.Entry.Physical != t.Entry.Table {
		cells = slices.Clone(cells)
		cells[at] = []byte(t.Entry.Table)
		if at, ok := s.position["id"]; ok {
			cells[at] = t.Entry.ID[:]
		}
	}
	if at, ok := s.position["extensions"]; ok && !t.Entry.Layout.Plain() && s.Table.Name == "tables" {
		cells = slices.Clone(cells)
		cells[at] = withExtension(cells[at], optionText(t.Logical))
	}
	return cells, true
}

// withExtension adds write_sharding to a table's extensions, which are a map<text, blob>. Drivers keep
// the extensions as part of a table's metadata.
func withExtension(extensions []byte, text string) []byte {
	type pair struct{ k, v []byte }
	pairs := []pair{{[]byte(catalog.Property), []byte(text)}}
	for p := extensionsType.Parts(extensions); p.Next(); {
		k := p.Part()
		if p.Next() && string(k) != catalog.Property {
			pairs = append(pairs, pair{k, p.Part()})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return slices.Compare(a.k, b.k) })
	out := value.AppendCount(nil, len(pairs))
	for _, p := range pairs {
		out = value.AppendPart(value.AppendPart(out, p.k), p.v)
	}
	return out
}

var extensionsType = value.MapOf(value.Native(value.Text), value.Native(value.Blob), true)

// output evaluates the statement on the selected rows, and returns the rows of the result.
func (s *schemaSelect) output(b *analysis.BoundSelect, partitions []partitionRows, out *schemaResult) ([][][]byte, error) {
	shaper := result.NewShaper(b, result.LimitsOf(b), out)
	for _, p := range partitions {
		if next, err := shaper.Partition(); err != nil || next == result.Reached {
			return out.rows, err
		}
		if s.StaticsOnly { // SELECT DISTINCT: one row for each partition
			p.rows = p.rows[:min(1, len(p.rows))]
		}
	rows:
		for _, r := range p.rows {
			switch next, err := shaper.Row(r); {
			case err != nil || next == result.Reached:
				return out.rows, err
			case next == result.Enough:
				break rows
			}
		}
	}
	return out.rows, shaper.End()
}

// schemaResult is the whole result of a SELECT from the schema's tables.
type schemaResult struct {
	rows    [][][]byte
	memory  *request.Memory
	held    *request.Holding // for rows
	sorting *request.Holding
	bytes   int
	longest int
}

// Emit implements result.Output.
func (o *schemaResult) Emit(cells [][]byte) error {
	for _, c := range cells {
		o.bytes += len(c)
	}
	if o.bytes > o.longest {
		return request.ErrLong
	}
	if err := o.memory.Reserve(&o.held, request.CopyFactor*o.bytes); err != nil {
		return err
	}
	o.rows = append(o.rows, slices.Clone(cells))
	return nil
}

// Full implements result.Output: pages are cut from the whole result.
func (o *schemaResult) Full() bool { return false }

// Room implements result.Output.
func (o *schemaResult) Room(bytes int) error {
	if bytes > o.longest {
		return request.ErrLong
	}
	return o.memory.Reserve(&o.sorting, bytes)
}
