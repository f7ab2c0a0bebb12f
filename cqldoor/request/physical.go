// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/deadline"
)

// Physical holds the backend's ids of a physical statement. It is safe for concurrent use.
type Physical struct{ Named atomic.Pointer[IDs] }

// IDs are the backend's ids of a prepared statement. They are the same on all its hosts.
type IDs struct{ Statement, Metadata []byte }

// Prepare returns the ids. If they are not known yet, it prepares the text on the link.
func (p *Physical) Prepare(ctx context.Context, l store.Link, v wire.Version, text string) (*IDs, error) {
	if n := p.Named.Load(); n != nil && (v < wire.V5 || n.Metadata != nil) {
		return n, nil
	}
	return p.Renew(ctx, l, v, text)
}

// Renew prepares the text again, because the backend may have forgotten it, and returns the ids.
//
// Cassandra shows a new column in its schema tables a moment before it accepts statements that name the
// column. So if the store does not know a column, Renew tries again for about a second.
func (p *Physical) Renew(ctx context.Context, l store.Link, v wire.Version, text string) (*IDs, error) {
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
	n := &IDs{answer.ID, answer.MetadataID}
	p.Named.Store(n)
	return n, nil
}

// Execution returns the request that carries out a prepared physical statement. The request is an EXECUTE,
// unless the store has given up a statement during an earlier attempt: a store whose cache is full may give up
// a statement as soon as it is prepared. Then the request is a QUERY with the statement's text. A QUERY names no
// metadata that the client knows, so its answer describes the columns.
func Execution(l store.Link, v wire.Version, text string, e *wire.Execute) wire.Message {
	if GaveUpStatements(l) {
		q := wire.Query{Text: []byte(text), Params: e.Params}
		q.Params.SetSkipMetadata(false)
		return wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, v, &q)}
	}
	return wire.Message{Op: wire.OpExecute, Body: wire.AppendExecute(nil, v, e)}
}

// GaveUpStatements reports whether the store has given up a statement during an earlier attempt at the request.
func GaveUpStatements(l store.Link) bool {
	e, ok := l.(*Coordinator)
	return ok && e.forgotten.Load()
}

// unknownColumn reports whether the store has refused a statement because it does not know one of its columns.
func unknownColumn(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && e.Code == wire.CodeInvalid && strings.HasPrefix(e.Message, "Undefined column name ")
}
