// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// execute serves EXECUTE. If it returns an error, nothing else ends the request.
func (r *Router) execute(ctx context.Context, req *cqldoor.Request) error {
	body, err := bodyOf(req.Message)
	if err != nil {
		return err
	}
	e, err := wire.ParseExecute(req.Version, body)
	if err != nil {
		return err
	}
	k := r.registry.known.get(e.ID)
	switch {
	case k != nil && !req.Once(r.holds):
		req.Go(func(ctx context.Context) { r.finish(ctx, req, r.executeFresh(ctx, req, k)) })
		return nil
	case k == nil || k.passed != nil: // not known, or not the store's any more
		return unprepared(e.ID)
	case k.schema != nil:
		req.Go(func(ctx context.Context) { r.finish(ctx, req, r.schema.executePrepared(ctx, req, k.schema)) })
		return nil
	}
	s, err := r.current(k.statement)
	if err != nil {
		return err
	}
	if err := s.checkCount(e.Params.Values.Count); err != nil && !e.Params.Values.Named {
		return err
	}
	if s.physical != nil && !s.conditional() && !s.goesOn(&e.Params) && !expires(s.write) {
		if ids := s.physical.named.Load(); ids != nil {
			if passed, err := r.executeOne(req, s, &e, ids); passed || err != nil && err != errUnannounced && !errors.Is(err, errWaits) {
				return s.wrong(err)
			}
		}
	}
	if s.write != nil && s.write.AnyShard() != nil {
		// If the statement is not prepared yet, the slow path prepares it.
		ids := r.registry.physical(s.write.AnyShard().Text).named.Load()
		if ids != nil && (req.Version < wire.V5 || ids.metadata != nil) {
			if passed, err := r.executeDrawn(req, s, &e, ids); passed || err != nil && !errors.Is(err, errWaits) {
				return s.wrong(err)
			}
		}
	}
	req.Go(func(ctx context.Context) { r.carryExecute(ctx, req, s) })
	return nil
}

// carryExecute executes an EXECUTE that needs several requests.
func (r *Router) carryExecute(ctx context.Context, req *cqldoor.Request, s *statement) {
	r.carry(ctx, req, func(ctx context.Context, changed bool) error {
		now, err := r.current(s)
		if err != nil {
			return err // s stays, for the next attempt
		}
		return r.executeSlowly(ctx, req, now)
	})
}

// executeFresh serves an EXECUTE after the door has read the present schema.
func (r *Router) executeFresh(ctx context.Context, req *cqldoor.Request, k *known) error {
	late := r.schema.renew(ctx)
	switch {
	case k.schema != nil:
		return r.schema.executePrepared(ctx, req, k.schema)
	case k.passed != nil && r.schema.passes(k.passed):
		return r.relay(ctx, req)
	case k.passed != nil:
		return unprepared(k.id[:])
	case late != nil:
		return late
	}
	s, err := r.current(k.statement)
	if err != nil {
		return err
	}
	r.carryExecute(ctx, req, s)
	return nil
}

// executeDrawn passes an EXECUTE of strategy random on to one shard, if it needs only one, for
// example to increment a counter.
func (r *Router) executeDrawn(req *cqldoor.Request, s *statement, e *wire.Execute, ids *ids) (passed bool, err error) {
	var env eval.Env
	if err := r.fill(&env, s, &e.Params.Values, nil); err != nil {
		return false, err
	}
	env.Memory = unwaiting{}
	b, err := s.write.Logical.Bind(&env)
	if err != nil {
		return false, err
	}
	if !s.write.Adds(b) || b.Keys.Len() != 1 {
		return false, nil
	}
	var counts *tally
	draw := r.drawers.draw
	if s.write.Table.Layout.Strategy == shard.Rollover {
		draw = r.draws(req, &e.Params, false, func(t *tally) { counts = t })
	}
	bound, err := s.write.Bound(b, draw, nil)
	if err != nil {
		return false, err
	}
	ms, err := bound.All(0)
	if err != nil {
		return false, err
	}
	e.ID, e.MetadataID = ids.statement, ids.metadata
	e.Params.SetKeyspace(nil)
	e.Params.SetValues(encodeValues(ms[0].Values))
	r.stamp(req, &e.Params, s.write)
	req.Scratch = wire.AppendExecute(req.Scratch[:0], req.Version, e)
	m := wire.Message{Op: wire.OpExecute, Flags: req.Flags &^ wire.FlagCustomPayload, Body: req.Scratch}
	if counts == nil {
		return r.passUnder(req, m, s, s.write.Stamped()), nil
	}
	of := req.Connection()
	if !s.begin(of) {
		return false, nil
	}
	req.PassUnder(m, &counting{s, counts}, of, r.schema.member != nil && s.write.Stamped())
	return true, nil
}

// executeSlowly serves an EXECUTE that needs several requests.
func (r *Router) executeSlowly(ctx context.Context, req *cqldoor.Request, s *statement) error {
	body, err := bodyOf(req.Message)
	if err != nil {
		return err
	}
	e, err := wire.ParseExecute(req.Version, body)
	if err != nil {
		return err
	}
	return r.answer(ctx, req, s, &e.Params, e.MetadataID)
}

// executeOne passes an EXECUTE on to its shard, unless the state has just changed.
func (r *Router) executeOne(req *cqldoor.Request, s *statement, e *wire.Execute, ids *ids) (passed bool, err error) {
	body, err := r.rewriteExecute(req.Scratch[:0], req.Version, s, e, ids)
	if err != nil {
		return false, err
	}
	req.Scratch = body
	return r.passUnder(req, wire.Message{Op: wire.OpExecute, Flags: req.Flags &^ wire.FlagCustomPayload, Body: body}, s, false), nil
}

// workspace holds the buffers for rewriting an EXECUTE, so that it does not allocate.
type workspace struct {
	env    eval.Env
	bucket [128]byte // a bucket's name
	values [16]eval.Value
	bytes  [16][]byte
	parts  [16][]byte
	shard  [8]byte // a value: its length and the shard
}

var workspaces = sync.Pool{New: func() any { return &workspace{shard: [8]byte{3: 4}} }}

// rewriteExecute appends the EXECUTE that goes to the shard.
func (r *Router) rewriteExecute(dst []byte, v wire.Version, s *statement, e *wire.Execute, ids *ids) ([]byte, error) {
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	if s.direct != nil && !e.Params.Values.Named {
		return s.rewriteDirect(dst, v, w, e, ids)
	}
	if err := r.fill(&w.env, s, &e.Params.Values, w.values[:0]); err != nil {
		return nil, err
	}
	w.env.Memory = unwaiting{}
	target, err := s.target(&w.env, w.parts[:0])
	if err != nil {
		return nil, err
	}
	if announces(s.write) && !r.announced(w.bucket[:0], s.write.Table, target.Key, target.Shard) {
		return nil, errUnannounced
	}
	// The metadata id stays the client's, because it is the backend's own: see prepare.
	e.ID = ids.statement
	s.showMetadata(v, &e.Params)
	whole := s.whole()
	if at := whole.Insertion(len(w.env.Values)); at >= 0 && !e.Params.Values.Named {
		binary.BigEndian.PutUint32(w.shard[4:], uint32(target.Shard))
		e.Params.SetValues(e.Params.Values.Insert(at, 1, w.shard[:]))
	} else {
		e.Params.SetValues(encodeValues(whole.Values(&w.env, target)))
	}
	return wire.AppendExecute(dst, v, e), nil
}

// rewriteDirect appends the EXECUTE if no value needs to be evaluated.
func (s *statement) rewriteDirect(dst []byte, v wire.Version, w *workspace, e *wire.Execute, ids *ids) ([]byte, error) {
	values := w.bytes[:0]
	for it := e.Params.Values.Iter(); it.Next(); {
		values = append(values, it.Bytes)
	}
	if err := s.checkCount(len(values)); err != nil {
		return nil, err
	}
	n, key, err := s.direct.Place(values, w.parts[:0])
	if err != nil {
		return nil, err
	}
	if announces(s.write) && !s.router.announced(w.bucket[:0], s.write.Table, key, n) {
		return nil, errUnannounced
	}
	binary.BigEndian.PutUint32(w.shard[4:], uint32(n))
	e.ID = ids.statement
	s.showMetadata(v, &e.Params)
	e.Params.SetValues(e.Params.Values.Insert(s.direct.At, 1, w.shard[:]))
	return wire.AppendExecute(dst, v, e), nil
}

// answer executes any statement and waits for its result.
func (r *Router) answer(ctx context.Context, req *cqldoor.Request, s *statement, params *wire.Params, metadataID []byte) error {
	for _, n := range s.needs() {
		needed(req, n)
	}
	planned(req, s)
	w := struct {
		env  eval.Env
		made made
	}{made: made{ctx: ctx}}
	defer w.made.close()
	env := &w.env
	if err := r.fill(env, s, &params.Values, nil); err != nil {
		return err
	}
	env.Wanted, env.Memory = ctx, &w.made
	if p := s.plainly(params); p != nil {
		if p.sel.Table.Renamed() {
			return r.answerRenamed(ctx, req, s, p, params, env, metadataID)
		}
		return r.answerOne(ctx, req, p, params, env, metadataID)
	}
	merged, err := s.merged(params)
	if err != nil {
		return err
	}
	switch {
	case merged != nil:
		return r.read(ctx, req, merged, params, env, metadataID)
	case s.sel != nil && s.sel.Whole == nil:
		return r.read(ctx, req, s, params, env, metadataID)
	case s.whole() != nil:
		return r.answerOne(ctx, req, s, params, env, metadataID)
	case s.batch != nil:
		return r.writtenBatch(ctx, req, s, params, env)
	}
	return r.write(ctx, req, s.write, params, env)
}

// answerOne executes a statement of one shard whose answer must be inspected, or whose physical
// statement is not prepared yet.
func (r *Router) answerOne(ctx context.Context, req *cqldoor.Request, s *statement, params *wire.Params, env *eval.Env, metadataID []byte) error {
	whole := s.whole()
	target, err := s.target(env, nil)
	if err != nil {
		return err
	}
	if announces(s.write) {
		if s.write.Table.Layout.Keep > 0 {
			b, err := s.write.Logical.Bind(env)
			if err != nil {
				return err
			}
			if err := checkKeep(s.write, b); err != nil {
				return err
			}
		}
		if err := r.announce(ctx, req, s.write.Table, target.Key, target.Shard); err != nil {
			return err
		}
	}
	values := whole.Values(env, target)
	ids, err := s.physical.prepare(ctx, req.Link, req.Version, whole.Text)
	if err != nil {
		return err
	}
	if s.conditional() {
		return r.conditional(ctx, req, s.write, params, ids, values, target.Key)
	}
	if metadataID == nil {
		metadataID = ids.metadata
	}
	p := *params
	p.SetKeyspace(nil)
	p.SetValues(encodeValues(values))
	s.showMetadata(req.Version, &p)
	body, err := call(ctx, req.Link, req.Version, wire.Message{Op: wire.OpExecute, Body: wire.AppendExecute(nil, req.Version, &wire.Execute{ID: ids.statement, MetadataID: metadataID, Params: p})})
	if err != nil {
		return err
	}
	return respond(ctx, req, nil, body)
}

// logicalRow returns the RESULT of a conditional write, which shows the row as the store has it,
// without the hidden column and with the logical table's name.
func logicalRow(v wire.Version, body []byte, t *plan.Table) ([]byte, error) {
	if wire.KindOf(body) != wire.ResultRows {
		return body, nil
	}
	rows, err := wire.ParseRows(body)
	if err != nil {
		return nil, err
	}
	columns, err := rows.Metadata.Columns()
	if err != nil {
		return nil, err
	}
	hidden := -1
	for i, c := range columns {
		if c.Name == t.Layout.Column {
			hidden = i
		}
	}
	if hidden < 0 && !t.Renamed() {
		return body, nil
	}
	var shown []wire.Column
	for i, c := range columns {
		if c.Table = t.Name; i != hidden {
			shown = append(shown, c)
		}
	}
	var w wire.RowsWriter
	w.Begin(nil, wire.EncodeColumns(v, shown))
	it := rows.Iter(nil)
	for it.Next() {
		for i, cell := range it.Cells {
			if i != hidden {
				w.Cell(cell)
			}
		}
		w.EndRow()
	}
	if err := it.Err(); err != nil {
		return nil, err
	}
	return w.Finish(), nil
}

func unprepared(id []byte) error {
	return &wire.Error{Code: wire.CodeUnprepared, ID: append([]byte(nil), id...),
		Message: "Prepared query with ID " + hexID(id) + " not found (either the query was not prepared on this host (maybe the host has been restarted?) or you have prepared too many queries and it has been evicted from the internal cache)"}
}
