// SPDX-License-Identifier: Apache-2.0

package throttling

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/observe"
)

// Under is the store below a Store.
type Under interface {
	// Do carries out one operation whose request has this body, and appends the answer's body to
	// dst.
	Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error)
	// Has reports whether the store has an operation.
	Has(operation string) bool
}

// Options holds the dependencies and settings of a Store.
type Options struct {
	Store Under // needed

	// Schema returns a table's schema as clients know it. It may cache schemas. Nil: keys are
	// unknown.
	Schema func(ctx context.Context, table string) (*schema.Table, error)

	// ShowKeys shows keys in clear text; otherwise their hashes are shown.
	ShowKeys bool
}

// Store counts the requests that the store below it throttles. It is safe for concurrent use.
type Store struct {
	options Options
	counts  *counts
}

// New makes a Store.
func New(o Options) *Store { return &Store{options: o, counts: newCounts()} }

// Has implements Under.
func (s *Store) Has(operation string) bool { return s.options.Store.Has(operation) }

// Tables returns the counts by table, in no order.
func (s *Store) Tables() []TableCount { return s.counts.byTable() }

// Keys returns the partition keys that met limits, the most frequent first.
func (s *Store) Keys() []KeyCount { return s.counts.byKey() }

// Do implements Under.
func (s *Store) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	var n *note
	if u := observe.Of(ctx); u != nil { // the door may split the request into several, and retry some of them
		n = &note{s: s, operation: operation, body: body}
		u.Told = n.failed
		defer n.end()
	}
	begun := len(dst)
	out, err := s.options.Store.Do(ctx, operation, body, dst)
	switch {
	case err != nil:
		if n == nil {
			n = &note{s: s, operation: operation, body: body}
		}
		if !n.seen.Load() {
			n.failed(err)
		}
	case operation == "BatchWriteItem" || operation == "BatchGetItem":
		s.left(operation, body, out[begun:])
	case operation == "DeleteTable":
		q := new(api.DeleteTable)
		if q.Decode(new(api.Decoder), body) == nil {
			s.counts.forget(api.TableName(q.Table))
		}
	}
	return out, err
}

// longestBatch is the length of an answer to BatchGetItem up to which the keys left out were
// throttled. DynamoDB also leaves out keys if the answer would be too long, from 1 MB of one
// partition on.
const longestBatch = 1 << 20

// left counts the parts of a batch that the store left out. The store does not tell the cause.
func (s *Store) left(operation string, body, out []byte) {
	member := []byte(`"UnprocessedItems":`)
	if operation == "BatchGetItem" {
		member = []byte(`"UnprocessedKeys":`)
		if len(out) > longestBatch {
			return
		}
	}
	if _, after, ok := bytes.Cut(out, member); !ok || bytes.HasPrefix(after, []byte("{}")) {
		return
	}
	n := &note{s: s, operation: operation, body: body}
	q, ok := n.request().(api.Answered)
	if !ok {
		return
	}
	r, err := q.DecodeResponse(new(api.Decoder), out)
	if err != nil {
		return
	}
	unprocessed(r, func(g target) { n.count(g, What{Write: writes(operation)}) })
}

// writes reports whether an operation on items writes.
func writes(operation string) bool {
	o := api.OperationOf(operation)
	return o.About == api.Items && o.Writes
}

// note counts the limits that one client request meets.
type note struct {
	s         *Store
	operation string
	body      []byte
	seen      atomic.Bool // a part of the request was throttled

	mu      sync.Mutex
	ended   bool // the body no longer belongs to the request
	read    bool
	q       api.Request
	schemas map[string]*schema.Table
}

// failed counts an error of the request, or of one of its requests to the store, if the error is
// about limits.
func (n *note) failed(err error) {
	var e *exception.Error
	if !errors.As(err, &e) {
		return
	}
	if e.Kind == exception.TransactionCanceled {
		n.cancelled(e)
		return
	}
	for _, w := range whats(e, writes(n.operation)) {
		n.seen.Store(true)
		n.count(targetOf(n.request()), w)
	}
}

// cancelled counts the actions of a transaction that met limits. If all of the error's
// ThrottlingReasons have one cause, that cause applies to actions that do not name their own.
func (n *note) cancelled(e *exception.Error) {
	var all What
	for i, r := range e.Throttling {
		if w := ofReason(r, writes(n.operation)); i == 0 {
			all = w
		} else if w != all {
			all = What{}
			break
		}
	}
	for i, r := range e.Reasons {
		cause, ok := ofReasonCode(r)
		if !ok {
			continue
		}
		n.seen.Store(true)
		w := What{Cause: cause, Write: writes(n.operation)}
		if cause == Untold && all.Cause != Untold {
			w = all
		}
		n.count(action(n.request(), i), w)
	}
}

// end ends the time in which the body may be read, because a part of the request for which nobody
// waits may fail later.
func (n *note) end() {
	n.mu.Lock()
	n.ended = true
	n.mu.Unlock()
}

// request returns the client's request, or nil if it cannot be read.
func (n *note) request() api.Request {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.read && !n.ended {
		n.read = true
		q, ok := api.New(n.operation)
		if ok && q.Decode(new(api.Decoder), bytes.Clone(n.body)) == nil {
			n.q = q
		}
	}
	return n.q
}

// patience is the longest wait for a schema.
const patience = time.Second

// schema returns the schema of a table, or nil if it is not available.
func (n *note) schema(table string) *schema.Table {
	if n.s.options.Schema == nil || table == "" {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	t, ok := n.schemas[table]
	if !ok {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		t, _ = n.s.options.Schema(ctx, table) // without a schema the key is unknown, and only the table is counted
		if n.schemas == nil {
			n.schemas = map[string]*schema.Table{}
		}
		n.schemas[table] = t
	}
	return t
}

func (n *note) count(g target, w What) {
	g.table = api.TableName(g.table)
	key := g.key(n.schema(g.table), w.Index)
	switch {
	case key == "":
	case n.s.options.ShowKeys:
		key = shown(key)
	default:
		key = hashed(key)
	}
	w.Index = strings.Clone(w.Index)
	n.s.counts.add(strings.Clone(g.table), key, w)
}
