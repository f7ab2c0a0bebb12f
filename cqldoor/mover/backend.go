// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"fmt"
	"sync"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// backend sends statements to the store under the door's own account, page by page. It is safe for
// concurrent use.
type backend struct {
	store store.Store

	mu      sync.Mutex
	link    store.Link
	version wire.Version
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
		b.link = nil
	}
}

// query sends one statement. state is the paging state of the page, and size the largest number of
// its rows.
func (b *backend) query(ctx context.Context, cl wire.Consistency, text string, values [][]byte, state []byte, size int32) (page, error) {
	link, version, err := b.open(ctx)
	if err != nil {
		return page{}, err
	}
	q := wire.Query{Text: []byte(text), Params: wire.Params{Consistency: cl}}
	q.Params.SetPageSize(size)
	if state != nil {
		q.Params.SetPagingState(state)
	}
	v := wire.Values{Count: len(values)}
	for _, b := range values {
		v.Raw = wire.AppendBytes(v.Raw, b)
	}
	q.Params.SetValues(v)
	type answer struct {
		page page
		err  error
	}
	done := make(chan answer, 1)
	link.Send(ctx, wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, version, &q)}, func(resp wire.Message) {
		p, err := readPage(version, resp)
		done <- answer{p, err}
	})
	select {
	case a := <-done:
		return a.page, a.err
	case <-ctx.Done():
		return page{}, ctx.Err()
	}
}

// readPage copies the rows of a response.
func readPage(v wire.Version, resp wire.Message) (page, error) {
	_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return page{}, err
	}
	if resp.Op == wire.OpError {
		e, err := wire.ParseError(v, body)
		if err != nil {
			return page{}, err
		}
		return page{}, e
	}
	if wire.KindOf(body) != wire.ResultRows {
		return page{}, nil
	}
	rows, err := wire.ParseRows(append([]byte(nil), body...))
	if err != nil {
		return page{}, err
	}
	p := page{rows: make([][][]byte, 0, rows.Count)}
	it := rows.Iter(nil)
	for it.Next() {
		p.rows = append(p.rows, append([][]byte(nil), it.Cells...))
	}
	if rows.Metadata.Flags&wire.MetadataMore != 0 {
		p.next = rows.Metadata.PagingState
	}
	return p, it.Err()
}
