// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/deadline"
)

// physical holds the backend's ids of a physical statement. It is safe for concurrent use.
type physical struct{ named atomic.Pointer[ids] }

// ids are a backend's ids of a prepared statement. They are the same on all its hosts.
type ids struct{ statement, metadata []byte }

// prepare returns the ids. It prepares the text on the link if that has not been done.
func (p *physical) prepare(ctx context.Context, l store.Link, v wire.Version, text string) (*ids, error) {
	if n := p.named.Load(); n != nil && (v < wire.V5 || n.metadata != nil) {
		return n, nil
	}
	return p.renew(ctx, l, v, text)
}

// renew prepares the text again, because the backend may have forgotten it.
//
// Cassandra shows a new column in its schema tables a moment before it accepts statements that name the
// column. So if the store does not know a column, renew tries again for about a second.
func (p *physical) renew(ctx context.Context, l store.Link, v wire.Version, text string) (*ids, error) {
	req := wire.Message{Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, v, &wire.Prepare{Text: []byte(text)})}
	body, err := store.Call(ctx, l, v, req)
	for pause := 20 * time.Millisecond; unknownColumn(err) && pause < time.Second && deadline.Sleep(ctx, pause) == nil; pause *= 2 {
		body, err = store.Call(ctx, l, v, req)
	}
	if err != nil {
		return nil, err
	}
	answer, err := wire.ParsePrepared(v, body)
	if err != nil {
		return nil, err
	}
	n := &ids{answer.ID, answer.MetadataID}
	p.named.Store(n)
	return n, nil
}

// execution returns the request that carries out a prepared physical statement: an EXECUTE. But a store
// whose cache is full may give up a statement as soon as it is prepared. So if the store had given one up,
// the request is a QUERY with the statement's text. It names no metadata that the client knows, so its
// answer describes the columns.
func execution(l store.Link, v wire.Version, text string, e *wire.Execute) wire.Message {
	if gaveUpStatements(l) {
		q := wire.Query{Text: []byte(text), Params: e.Params}
		q.Params.SetSkipMetadata(false)
		return wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, v, &q)}
	}
	return wire.Message{Op: wire.OpExecute, Body: wire.AppendExecute(nil, v, e)}
}

// gaveUpStatements reports whether the store had given up a statement of an earlier attempt at the request.
func gaveUpStatements(l store.Link) bool {
	e, ok := l.(*coordinator)
	return ok && e.forgotten.Load()
}

// unknownColumn reports whether the store has refused a physical statement because it does not know a
// column of it.
func unknownColumn(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && e.Code == wire.CodeInvalid && strings.HasPrefix(e.Message, "Undefined column name ")
}

// planCache holds planned and prepared statements. Each kind is bounded; the least recently used
// entries are dropped first.
type planCache struct {
	known     *knownIDs                   // prepared by clients
	texts     *lru[[16]byte, *statement]  // sent by clients as text, by id
	physicals *lru[string, *physical]     // by text
	widths    *lru[string, *atomic.Int64] // size of a row, by what is selected of it; 0: not known
}

// newPlanCache returns an empty cache.
func newPlanCache() *planCache {
	text := func(_ [16]byte, s *statement) int { return statementBytes(s.text) }
	physicalText := func(text string, _ *physical) int { return len(text) }
	return &planCache{newKnownIDs(knownBytes), newLRU[[16]byte, *statement](1_000).bounded(knownBytes, text),
		newLRU[string, *physical](10_000).bounded(knownBytes, physicalText), newLRU[string, *atomic.Int64](10_000)}
}

// statementBytes returns about how many bytes a planned statement takes: some 40 times its text if that
// is long.
func statementBytes(text string) int { return 4*len(text) + 1000 + 36*max(0, len(text)-longStatement) }

// longStatement is the length up to which most of a statement's text is names.
const longStatement = 4 << 10

// prepared remembers a statement that a client has prepared.
func (r *planCache) prepared(s *statement) {
	r.known.put(&known{id: s.id, statement: s, size: statementBytes(s.text)})
}

// physical returns the entry of a physical statement.
func (r *planCache) physical(text string) *physical {
	return r.physicals.getOr(text, func() *physical { return &physical{} })
}

// width returns the size of a row of a selection.
func (r *planCache) width(selection string) *atomic.Int64 {
	return r.widths.getOr(selection, func() *atomic.Int64 { return new(atomic.Int64) })
}

// preparer answers PREPAREs of statements on sharded tables.
type preparer struct {
	cache    *planCache
	explains *explains
	binder   *binder
	buckets  *buckets
}

// prepare answers a PREPARE.
func (x *preparer) prepare(ctx context.Context, req *cqldoor.Request, s *statement) error {
	p := wire.Prepared{ID: s.id[:], MetadataID: s.metadataID[:]}
	if whole := s.whole(); whole != nil {
		ids, err := s.physical.renew(ctx, req.Link, req.Version, whole.Text)
		if err != nil {
			return err
		}
		// The backend answers the EXECUTE, so the backend compares the metadata id.
		p.MetadataID = ids.metadata
	} else if s.write != nil && s.write.AnyShard() != nil {
		// The store may have forgotten it and have told the client so.
		text := s.write.AnyShard().Text
		if _, err := x.cache.physical(text).renew(ctx, req.Link, req.Version, text); err != nil {
			return err
		}
	}
	binds := make([]wire.Column, len(s.head.Binds))
	for i, b := range s.head.Binds {
		binds[i] = wire.Column{Keyspace: b.Keyspace, Table: b.Table, Name: b.Name, Type: b.Type}
	}
	p.Variables = wire.EncodeColumns(req.Version, binds)
	for _, i := range s.head.PartitionKeyBinds {
		p.KeyIndexes = append(p.KeyIndexes, uint16(i))
	}
	p.Result = wire.Metadata{Flags: wire.MetadataNone}
	if s.sel != nil {
		p.Result = encodeColumns(req.Version, s.head.Table, s.sel.Logical.Columns)
	}
	var body []byte
	var flags wire.Flags
	if asksExplain(req.Message) {
		if req.Username != "" {
			if err := permitted(ctx, req.Link, req.Version, s.needs()); err != nil {
				return err
			}
		}
		e, err := x.explain(ctx, s)
		if err != nil {
			return err
		}
		flags = wire.FlagCustomPayload
		body = wire.AppendBytesMap(nil, map[string][]byte{ExplainPayload: e})
	}
	req.Reply(wire.Message{Op: wire.OpResult, Flags: flags, Body: wire.AppendPrepared(body, req.Version, &p)})
	return nil
}
