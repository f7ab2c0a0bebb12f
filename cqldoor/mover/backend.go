// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// backend sends statements to the store under the door's own account, page by page. It is safe for
// concurrent use.
type backend struct {
	store store.Store

	mu       sync.Mutex
	link     store.Link
	version  wire.Version
	prepared map[string]ids // by text
}

// page is one page of rows, with cells by position. next is nil after the last page.
type page struct {
	rows [][][]byte
	next []byte
}

func (b *backend) open(ctx context.Context) (store.Link, wire.Version, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link != nil {
		return b.link, b.version, nil
	}
	version := wire.Highest
	if v, ok := b.store.(store.Versioned); ok {
		newest, err := v.MaxVersion(ctx)
		if err != nil {
			return nil, 0, fmt.Errorf("ask for the backend's protocol version: %w", err)
		}
		version = min(version, newest)
	}
	link, err := b.store.Open(ctx, store.LinkOptions{Version: version, Own: true})
	if err != nil {
		return nil, 0, fmt.Errorf("connect to the backend: %w", err)
	}
	b.link, b.version = link, version
	return link, version, nil
}

func (b *backend) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.link != nil {
		b.link.Close()
		b.link, b.prepared = nil, nil
	}
}

// query sends one statement, prepared. state is the paging state of the page, and size the largest
// number of its rows.
func (b *backend) query(ctx context.Context, cl wire.Consistency, s statement, state []byte, size int32) (page, error) {
	p := wire.Params{Consistency: cl}
	p.SetPageSize(size)
	if state != nil {
		p.SetPagingState(state)
	}
	p.SetSkipMetadata(true)
	p.SetValues(s.bound())
	return b.send(ctx, func(link store.Link, v wire.Version, spell bool) (wire.Message, error) {
		if spell {
			return wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, v, &wire.Query{Text: []byte(s.text), Params: p})}, nil
		}
		ids, err := b.prepare(ctx, link, v, s.text)
		if err != nil {
			return wire.Message{}, err
		}
		e := wire.Execute{ID: ids.statement, MetadataID: ids.metadata, Params: p}
		return wire.Message{Op: wire.OpExecute, Body: wire.AppendExecute(nil, v, &e)}, nil
	})
}

// batch sends several statements, prepared. The store applies all or none.
func (b *backend) batch(ctx context.Context, cl wire.Consistency, parts []statement) error {
	kind := wire.BatchUnlogged // the store applies the writes to one partition atomically
	if slices.ContainsFunc(parts, func(s statement) bool { return s.logged }) {
		kind = wire.BatchLogged
	}
	_, err := b.send(ctx, func(link store.Link, v wire.Version, spell bool) (wire.Message, error) {
		all := wire.Batch{Type: kind, Count: len(parts), Params: wire.Params{Consistency: cl}}
		for _, s := range parts {
			part := wire.BatchStatement{Values: s.bound()}
			if spell {
				part.Text = []byte(s.text)
			} else {
				ids, err := b.prepare(ctx, link, v, s.text)
				if err != nil {
					return wire.Message{}, err
				}
				part.Prepared, part.ID = true, ids.statement
			}
			all.Raw = wire.AppendBatchStatement(all.Raw, &part)
		}
		return wire.Message{Op: wire.OpBatch, Body: wire.AppendBatch(nil, v, &all)}, nil
	})
	return err
}

// bound encodes the values of a statement's markers.
func (s *statement) bound() wire.Values {
	v := wire.Values{Count: len(s.values)}
	for _, b := range s.values {
		v.Raw = wire.AppendBytes(v.Raw, b)
	}
	return v
}

// send sends the request that build returns, and reads the answer. If the store has forgotten a prepared
// statement, send calls build again with spell set. The second request then has the texts of its statements,
// because the store may forget the next prepared statement just as fast.
func (b *backend) send(ctx context.Context, build func(l store.Link, v wire.Version, spell bool) (wire.Message, error)) (page, error) {
	link, version, err := b.open(ctx)
	if err != nil {
		return page{}, err
	}
	for again := false; ; again = true {
		req, err := build(link, version, again)
		if err != nil {
			return page{}, err
		}
		got, err := exchange(ctx, link, version, req, readPage)
		var e *wire.Error
		if again || !errors.As(err, &e) || e.Code != wire.CodeUnprepared {
			return got, err
		}
		b.forget()
	}
}

// ids are the store's ids of a prepared statement.
type ids struct{ statement, metadata []byte }

// maxPrepared is how many statements are kept prepared. Different rows need different statements if
// their cells were written at different times.
const maxPrepared = 1000

// prepare returns the ids of a statement. It prepares the statement if that has not been done.
func (b *backend) prepare(ctx context.Context, link store.Link, v wire.Version, text string) (ids, error) {
	b.mu.Lock()
	known, ok := b.prepared[text]
	b.mu.Unlock()
	if ok {
		return known, nil
	}
	made, err := exchange(ctx, link, v, wire.Message{Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, v, &wire.Prepare{Text: []byte(text)})}, readPrepared)
	if err != nil {
		return ids{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.prepared == nil || len(b.prepared) >= maxPrepared {
		b.prepared = map[string]ids{}
	}
	b.prepared[text] = made
	return made, nil
}

// forget makes the mover prepare its statements again.
func (b *backend) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.prepared = nil
}

// exchange sends a request and waits for its answer. read copies what it needs of the answer.
func exchange[T any](ctx context.Context, link store.Link, v wire.Version, req wire.Message, read func(wire.Version, []byte) (T, error)) (T, error) {
	type answer struct {
		got T
		err error
	}
	done := make(chan answer, 1)
	link.Send(ctx, req, func(resp wire.Message) {
		var a answer
		var body []byte
		if body, a.err = wire.ResultBody(v, resp); a.err == nil {
			a.got, a.err = read(v, body)
		}
		done <- a
	})
	select {
	case a := <-done:
		return a.got, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// readPrepared copies the ids of a PREPARED.
func readPrepared(v wire.Version, body []byte) (ids, error) {
	p, err := wire.ParsePrepared(v, append([]byte(nil), body...))
	return ids{p.ID, p.MetadataID}, err
}

// readPage copies the rows of a response.
func readPage(_ wire.Version, body []byte) (page, error) {
	if wire.KindOf(body) != wire.ResultRows {
		return page{}, nil
	}
	rows, err := wire.ParseRows(append([]byte(nil), body...))
	if err != nil {
		return page{}, err
	}
	p := page{rows: make([][][]byte, 0, rows.Count)}
	width := rows.Metadata.Count
	cells := make([][]byte, 0, rows.Count*width) // of all rows
	it := rows.Iter(nil)
	for it.Next() {
		cells = append(cells, it.Cells...)
		p.rows = append(p.rows, cells[len(cells)-width:len(cells):len(cells)])
	}
	if rows.Metadata.Flags&wire.MetadataMore != 0 {
		p.next = rows.Metadata.PagingState
	}
	return p, it.Err()
}
