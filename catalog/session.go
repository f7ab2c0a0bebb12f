// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"fmt"
	"sync"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// A Session runs CQL as the door's own account.
type Session interface {
	// Query executes one statement and returns all rows of its result. values are the serialized
	// values of its markers. Errors of the backend are *wire.Error. A condition is decided among the
	// replicas of all data centres (SERIAL).
	Query(ctx context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]Row, error)
}

// NodesSession is a Session over a store of several nodes.
type NodesSession interface {
	Session

	// EachNode executes a statement at each node that the session is connected to, and returns the
	// rows of all. all says that no known node is missing.
	EachNode(ctx context.Context, cql string) (rows []Row, all bool, err error)
}

// Row holds the cells of a row by column name. Null cells are left out.
type Row = schema.Row

// StoreSession is a Session that sends its statements to a store.
type StoreSession struct {
	st store.Store

	mu      sync.Mutex
	link    store.Link
	version wire.Version
}

// NewSession makes a session. It connects when it is first used.
func NewSession(st store.Store) *StoreSession { return &StoreSession{st: st} }

// Close closes the session's link.
func (s *StoreSession) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != nil {
		s.link.Close()
		s.link = nil
	}
}

func (s *StoreSession) open(ctx context.Context) (store.Link, wire.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != nil {
		return s.link, s.version, nil
	}
	version := wire.Highest
	if v, ok := s.st.(store.Versioned); ok {
		newest, err := v.MaxVersion(ctx)
		if err != nil {
			return nil, 0, fmt.Errorf("ask for the backend's protocol version: %w", err)
		}
		version = min(version, newest)
	}
	link, err := s.st.Open(ctx, store.LinkOptions{Version: version, Own: true})
	if err != nil {
		return nil, 0, fmt.Errorf("connect to the backend: %w", err)
	}
	s.link, s.version = link, version
	return link, version, nil
}

// pageRows is the number of rows in one response.
const pageRows = 2000

// Query implements Session.
func (s *StoreSession) Query(ctx context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]Row, error) {
	link, version, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return query(ctx, link, version, cl, cql, values...)
}

// EachNode implements NodesSession.
func (s *StoreSession) EachNode(ctx context.Context, cql string) (rows []Row, all bool, err error) {
	link, version, err := s.open(ctx)
	if err != nil {
		return nil, false, err
	}
	nodes, ok := link.(store.NodesLink)
	if !ok {
		return nil, false, nil
	}
	links, all := nodes.Nodes()
	for _, l := range links {
		of, err := query(ctx, l, version, wire.One, cql)
		if err != nil {
			return nil, false, err
		}
		rows = append(rows, of...)
	}
	return rows, all, nil
}

// query executes one statement over a link.
func query(ctx context.Context, link store.Link, version wire.Version, cl wire.Consistency, cql string, values ...[]byte) ([]Row, error) {
	q := wire.Query{Text: []byte(cql), Params: wire.Params{Consistency: cl}}
	q.Params.SetPageSize(pageRows)
	if !cl.IsSerial() {
		q.Params.SetSerialConsistency(wire.Serial)
	}
	v := wire.Values{Count: len(values)}
	for _, b := range values {
		v.Raw = wire.AppendBytes(v.Raw, b)
	}
	q.Params.SetValues(v)
	var all []Row
	for {
		body, err := store.Call(ctx, link, version, wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, version, &q)})
		if err != nil {
			return nil, err
		}
		if wire.KindOf(body) != wire.ResultRows {
			return nil, nil
		}
		rows, err := wire.ParseRows(body)
		if err != nil {
			return nil, err
		}
		if all, err = appendRows(all, &rows); err != nil {
			return nil, err
		}
		if rows.Metadata.Flags&wire.MetadataMore == 0 {
			return all, nil
		}
		q.Params.SetPagingState(rows.Metadata.PagingState)
	}
}

func appendRows(all []Row, rows *wire.Rows) ([]Row, error) {
	columns, err := rows.Metadata.Columns()
	if err != nil {
		return nil, err
	}
	it := rows.Iter(nil)
	for it.Next() {
		r := make(Row, len(columns))
		for i, c := range columns {
			if it.Cells[i] != nil {
				r[c.Name] = it.Cells[i]
			}
		}
		all = append(all, r)
	}
	return all, it.Err()
}
