// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/binary"
	"sync"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/shard"
)

// passer rewrites a statement of one shard and passes it on. It does not wait for the store.
type passer struct {
	binder   *binder
	cache    *planCache
	placer   *placer
	buckets  *buckets
	premises *premises
}

// queryOne passes a QUERY on to its shard, unless the state has just changed.
func (p *passer) queryOne(req *cqldoor.Request, s *statement, q *wire.Query) (passed bool, err error) {
	var scratch [16]eval.Value
	var env eval.Env
	if err := p.binder.fill(&env, s, &q.Params.Values, scratch[:0]); err != nil {
		return false, err
	}
	env.Memory = unwaiting{}
	body, err := p.rewriteQuery(req, s, q, &env)
	if err != nil {
		return false, err
	}
	req.Scratch = body
	return p.passUnder(req, wire.Message{Op: wire.OpQuery, Flags: req.Flags &^ wire.FlagCustomPayload, Body: body}, s, true), nil
}

// rewriteQuery writes the QUERY that goes to the shard.
func (p *passer) rewriteQuery(req *cqldoor.Request, s *statement, q *wire.Query, env *eval.Env) ([]byte, error) {
	values, err := s.values(env)
	if err != nil {
		return nil, err
	}
	out := *q
	out.Text = []byte(s.whole().Text)
	out.Params.SetKeyspace(nil)
	out.Params.SetValues(encodeValues(values))
	return wire.AppendQuery(req.Scratch[:0], req.Version, &out), nil
}

// executeOne passes an EXECUTE on to its shard, unless the state has just changed.
func (p *passer) executeOne(req *cqldoor.Request, s *statement, e *wire.Execute, ids *ids) (passed bool, err error) {
	body, err := p.rewriteExecute(req.Scratch[:0], req.Version, s, e, ids)
	if err != nil {
		return false, err
	}
	req.Scratch = body
	return p.passUnder(req, wire.Message{Op: wire.OpExecute, Flags: req.Flags &^ wire.FlagCustomPayload, Body: body}, s, false), nil
}

// executeDrawn passes an EXECUTE of strategy random on to one shard, if it needs only one, for
// example to increment a counter.
func (p *passer) executeDrawn(req *cqldoor.Request, s *statement, e *wire.Execute, ids *ids) (passed bool, err error) {
	var env eval.Env
	if err := p.binder.fill(&env, s, &e.Params.Values, nil); err != nil {
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
	draw := p.placer.drawers.draw
	if s.write.Table.Layout.Strategy == shard.Rollover {
		draw = p.placer.draws(req, &e.Params, false, func(t *tally) { counts = t })
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
	p.placer.stamp(req, &e.Params, s.write)
	req.Scratch = wire.AppendExecute(req.Scratch[:0], req.Version, e)
	m := wire.Message{Op: wire.OpExecute, Flags: req.Flags &^ wire.FlagCustomPayload, Body: req.Scratch}
	if counts == nil {
		return p.passUnder(req, m, s, s.write.Stamped()), nil
	}
	of := req.Connection()
	if !s.begin(of) {
		return false, nil
	}
	req.PassUnder(m, &counting{s, counts, p.placer.rollovers}, of, !p.premises.alone() && s.write.Stamped())
	return true, nil
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
func (p *passer) rewriteExecute(dst []byte, v wire.Version, s *statement, e *wire.Execute, ids *ids) ([]byte, error) {
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	if s.direct != nil && !e.Params.Values.Named {
		return p.rewriteDirect(dst, v, s, w, e, ids)
	}
	if err := p.binder.fill(&w.env, s, &e.Params.Values, w.values[:0]); err != nil {
		return nil, err
	}
	w.env.Memory = unwaiting{}
	target, err := s.target(&w.env, w.parts[:0])
	if err != nil {
		return nil, err
	}
	if announces(s.write) && !p.buckets.announced(w.bucket[:0], s.write.Table, target.Key, target.Shard) {
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
func (p *passer) rewriteDirect(dst []byte, v wire.Version, s *statement, w *workspace, e *wire.Execute, ids *ids) ([]byte, error) {
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
	if announces(s.write) && !p.buckets.announced(w.bucket[:0], s.write.Table, key, n) {
		return nil, errUnannounced
	}
	binary.BigEndian.PutUint32(w.shard[4:], uint32(n))
	e.ID = ids.statement
	s.showMetadata(v, &e.Params)
	e.Params.SetValues(e.Params.Values.Insert(s.direct.At, 1, w.shard[:]))
	return wire.AppendExecute(dst, v, e), nil
}

// passUnder passes on a request planned on a statement's state, unless that has just changed.
func (p *passer) passUnder(req *cqldoor.Request, m wire.Message, s *statement, keep bool) bool {
	if p.premises.alone() { // no other door changes anything
		req.Pass(m)
		return true
	}
	of := req.Connection()
	if !s.begin(of) {
		return false
	}
	req.PassUnder(m, s, of, keep)
	return true
}
