// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/binary"
	"sync"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/read"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/rollover"
	"github.com/evenkeel/evenkeel/cqldoor/write"
	"github.com/evenkeel/evenkeel/shard"
)

// passer rewrites a statement of one shard and passes it on. It does not wait for the store.
type passer struct {
	binder   *request.Binder
	cache    *request.PlanCache
	placer   *write.Placer
	buckets  *buckets.Buckets
	premises *request.Premises
}

// queryOne passes a QUERY on to its shard. It returns false if the state has just changed.
func (p *passer) queryOne(req *cqldoor.Request, s *request.Statement, q *wire.Query) (passed bool, err error) {
	var scratch [16]eval.Value
	var env eval.Env
	if err := p.binder.Fill(&env, s, &q.Params.Values, scratch[:0]); err != nil {
		return false, err
	}
	env.Memory = request.NoWait{}
	body, err := p.rewriteQuery(req, s, q, &env)
	if err != nil {
		return false, err
	}
	req.Scratch = body
	return p.passUnder(req, wire.Message{Op: wire.OpQuery, Flags: req.Flags &^ wire.FlagCustomPayload, Body: body}, s, true), nil
}

// rewriteQuery writes the QUERY that goes to the shard.
func (p *passer) rewriteQuery(req *cqldoor.Request, s *request.Statement, q *wire.Query, env *eval.Env) ([]byte, error) {
	values, err := s.Values(env)
	if err != nil {
		return nil, err
	}
	out := *q
	out.Text = []byte(s.Whole().Text)
	out.Params.SetKeyspace(nil)
	out.Params.SetValues(request.EncodeValues(values))
	return wire.AppendQuery(req.Scratch[:0], req.Version, &out), nil
}

// executeOne passes an EXECUTE on to its shard. It returns false if the state has just changed.
func (p *passer) executeOne(req *cqldoor.Request, s *request.Statement, e *wire.Execute, ids *request.IDs) (passed bool, err error) {
	body, err := p.rewriteExecute(req.Scratch[:0], req.Version, s, e, ids)
	if err != nil {
		return false, err
	}
	req.Scratch = body
	return p.passUnder(req, wire.Message{Op: wire.OpExecute, Flags: req.Flags &^ wire.FlagCustomPayload, Body: body}, s, false), nil
}

// executeDrawn passes a write of strategy random or rollover on to one shard that it draws. It returns false
// if the values of the write need several shards, or if the state has just changed. An increment of a counter
// needs only one shard.
func (p *passer) executeDrawn(req *cqldoor.Request, s *request.Statement, e wire.Execute, ids *request.IDs) (passed bool, err error) {
	var env eval.Env
	if err := p.binder.Fill(&env, s, &e.Params.Values, nil); err != nil {
		return false, err
	}
	env.Memory = request.NoWait{}
	b, err := s.Write.Logical.Bind(&env)
	if err != nil {
		return false, err
	}
	if !s.Write.Adds(b) || b.Keys.Len() != 1 {
		return false, nil
	}
	var counts *rollover.Tally
	draw := p.placer.Drawers.Draw
	if s.Write.Table.Layout.Strategy == shard.Rollover {
		draw = p.placer.Draws(req, &e.Params, false, func(t *rollover.Tally) { counts = t })
	}
	bound, err := s.Write.Bound(b, draw, nil)
	if err != nil {
		return false, err
	}
	ms, err := bound.All(0)
	if err != nil {
		return false, err
	}
	e.ID, e.MetadataID = ids.Statement, ids.Metadata
	e.Params.SetKeyspace(nil)
	e.Params.SetValues(request.EncodeValues(ms[0].Values))
	p.placer.Stamp(req, &e.Params, s.Write)
	req.Scratch = wire.AppendExecute(req.Scratch[:0], req.Version, &e)
	m := wire.Message{Op: wire.OpExecute, Flags: req.Flags &^ wire.FlagCustomPayload, Body: req.Scratch}
	if counts == nil {
		return p.passUnder(req, m, s, s.Write.Stamped()), nil
	}
	of := req.Connection()
	if !s.Begin(of) {
		return false, nil
	}
	req.PassUnder(m, &rollover.Counting{Statement: s, Tally: counts, Rollovers: p.placer.Rollovers}, of, !p.premises.Alone() && s.Write.Stamped())
	return true, nil
}

// executeInPlace passes an EXECUTE on to its shard while the layout of the table is being changed. It returns false
// if the rows may have two places, if a page of the result may follow, if the door must evaluate a value first, or if the
// state has just changed.
func (p *passer) executeInPlace(req *cqldoor.Request, s *request.Statement, e *wire.Execute) bool {
	ids := s.InPlace.Physical.Named.Load()
	params := &e.Params
	switch {
	case ids == nil || req.Version >= wire.V5 && ids.Metadata == nil || params.Values.Named:
		return false
	case s.Sel != nil && (params.Has(wire.QueryPagingState) || params.Has(wire.QueryPageSize) && params.PageSize < 2 || params.Consistency.IsSerial()):
		return false
	case s.Write != nil:
		p.placer.StampInChange(req, params)
	}
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	values := w.bytes[:0]
	for it := params.Values.Iter(); it.Next(); {
		values = append(values, it.Bytes)
	}
	if len(values) != len(s.Head.Binds) {
		return false
	}
	n, one := s.InPlace.Shard(values, w.parts[:0], params.DefaultTimestamp)
	if !one {
		return false
	}
	if rule.On(rule.QuorumInChange) {
		params.Consistency = read.AtLeastQuorum(params.Consistency)
	}
	e.ID = ids.Statement
	s.ShowMetadata(req.Version, params)
	params.SetKeyspace(nil)
	binary.BigEndian.PutUint32(w.shard[4:], uint32(n))
	params.SetValues(params.Values.Insert(s.InPlace.At, 1, w.shard[:]))
	of := req.Connection()
	if !s.Begin(of) {
		return false
	}
	req.Scratch = wire.AppendExecute(req.Scratch[:0], req.Version, e)
	req.PassUnder(wire.Message{Op: wire.OpExecute, Flags: req.Flags &^ wire.FlagCustomPayload, Body: req.Scratch}, s, of, true)
	return true
}

// workspace holds the buffers with which the door rewrites an EXECUTE. With them the door does not allocate.
type workspace struct {
	env    eval.Env
	bucket [128]byte // a bucket's name
	values [16]eval.Value
	bytes  [16][]byte
	parts  [16][]byte
	shard  [8]byte // the shard as a value: the value's length, then the shard
}

var workspaces = sync.Pool{New: func() any { return &workspace{shard: [8]byte{3: 4}} }}

// rewriteExecute appends the EXECUTE that goes to the shard to dst.
func (p *passer) rewriteExecute(dst []byte, v wire.Version, s *request.Statement, e *wire.Execute, ids *request.IDs) ([]byte, error) {
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	if s.Direct != nil && !e.Params.Values.Named {
		return p.rewriteDirect(dst, v, s, w, e, ids)
	}
	if err := p.binder.Fill(&w.env, s, &e.Params.Values, w.values[:0]); err != nil {
		return nil, err
	}
	w.env.Memory = request.NoWait{}
	target, err := s.Target(&w.env, w.parts[:0])
	if err != nil {
		return nil, err
	}
	if buckets.Announces(s.Write) && !p.buckets.Announced(w.bucket[:0], s.Write.Table, target.Key, target.Shard) {
		return nil, buckets.ErrUnannounced
	}
	// The door passes on the client's metadata id, because the client has the backend's: see preparer.prepare.
	e.ID = ids.Statement
	s.ShowMetadata(v, &e.Params)
	whole := s.Whole()
	if at := whole.Insertion(len(w.env.Values)); at >= 0 && !e.Params.Values.Named {
		binary.BigEndian.PutUint32(w.shard[4:], uint32(target.Shard))
		e.Params.SetValues(e.Params.Values.Insert(at, 1, w.shard[:]))
	} else {
		e.Params.SetValues(request.EncodeValues(whole.Values(&w.env, target)))
	}
	return wire.AppendExecute(dst, v, e), nil
}

// rewriteDirect does the same as rewriteExecute for a statement that needs no value evaluated.
func (p *passer) rewriteDirect(dst []byte, v wire.Version, s *request.Statement, w *workspace, e *wire.Execute, ids *request.IDs) ([]byte, error) {
	values := w.bytes[:0]
	for it := e.Params.Values.Iter(); it.Next(); {
		values = append(values, it.Bytes)
	}
	if err := s.CheckCount(len(values)); err != nil {
		return nil, err
	}
	n, key, err := s.Direct.Place(values, w.parts[:0])
	if err != nil {
		return nil, err
	}
	if buckets.Announces(s.Write) && !p.buckets.Announced(w.bucket[:0], s.Write.Table, key, n) {
		return nil, buckets.ErrUnannounced
	}
	binary.BigEndian.PutUint32(w.shard[4:], uint32(n))
	e.ID = ids.Statement
	s.ShowMetadata(v, &e.Params)
	e.Params.SetValues(e.Params.Values.Insert(s.Direct.At, 1, w.shard[:]))
	return wire.AppendExecute(dst, v, e), nil
}

// passUnder passes on a request that was planned on a statement's state. It returns false if that state is no
// longer the present one.
func (p *passer) passUnder(req *cqldoor.Request, m wire.Message, s *request.Statement, keep bool) bool {
	if p.premises.Alone() { // no other door changes anything
		req.Pass(m)
		return true
	}
	of := req.Connection()
	if !s.Begin(of) {
		return false
	}
	req.PassUnder(m, s, of, keep)
	return true
}
