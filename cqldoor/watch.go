// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"strings"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/observe"
)

// This file measures requests for package observe: their latency by table and operation, and the
// codes of their errors. A request begins when the door has read its bytes. It ends when the door
// hands the answer to the client's connection. Forwarded requests are measured like all others.
// Most of the cost is reading the clock. So the door reads the clock once for all requests of one
// read, and once for all responses of one write.

// Operations names what a request does, by the indices Operation….
var Operations = []string{"other", "select", "insert", "update", "delete", "truncate", "batch", "prepare", "schema"}

// These are the indices of Operations.
const (
	OperationOther = iota
	OperationSelect
	OperationInsert
	OperationUpdate
	OperationDelete
	OperationTruncate
	OperationBatch
	OperationPrepare
	OperationSchema
)

// OperationOf returns the index of a statement's operation.
func OperationOf(k syntax.StatementKind) int {
	switch k {
	case syntax.StatementSelect:
		return OperationSelect
	case syntax.StatementInsert:
		return OperationInsert
	case syntax.StatementUpdate:
		return OperationUpdate
	case syntax.StatementDelete:
		return OperationDelete
	case syntax.StatementTruncate:
		return OperationTruncate
	case syntax.StatementBatch:
		return OperationBatch
	case syntax.StatementUse, syntax.StatementUnknown, syntax.StatementOther, syntax.StatementDescribe:
		return OperationOther
	}
	return OperationSchema
}

// SeriesOf returns the series that measures a statement, or nil if nothing is measured. All
// system tables share the series "system".
func SeriesOf(all *observe.Requests, h syntax.Head, keyspace string) *observe.Series {
	if all == nil {
		return nil
	}
	op := OperationOf(h.Kind)
	switch op {
	case OperationOther, OperationSchema, OperationBatch:
		return all.None().Series(op)
	}
	if h.Name.Keyspace != "" {
		keyspace = h.Name.Keyspace
	}
	switch {
	case keyspace == "":
		return all.Other().Series(op)
	case strings.HasPrefix(keyspace, "system"):
		return all.Table("", "system").Series(op)
	}
	return all.Table(keyspace, h.Name.Name).Series(op)
}

// watched is what the door notes of a request that is under way. The zero value is not measured.
type watched struct {
	series *observe.Series
	begun  int64
	span   observe.Span // nil: no span is sent
	child  observe.Span // the store's part of a request that is passed on
}

// sends begins the store's part of a request that is passed on as one request.
func (w *watched) sends() {
	if w.span != nil {
		w.child = w.span.Child("store", nil)
	}
}

// heard ends the store's part. resp is the store's response.
func (w *watched) heard(resp wire.Message) {
	EndSpan(w.child, resp)
	w.child = nil
}

// EndSpan ends the span of a request that was answered with resp. s may be nil.
func EndSpan(s observe.Span, resp wire.Message) {
	if s == nil {
		return
	}
	code := ""
	if resp.Op == wire.OpError {
		code = CodeOf(resp)
	}
	s.End(code)
}

// end measures a request that is answered with resp. fan is what it has asked of the store, nil
// if that was not counted.
func (w *watched) end(resp wire.Message, fan *observe.Fan) {
	if w.series == nil && w.span == nil {
		return
	}
	w.endAt(observe.Now(), resp)
	if fan != nil && w.series != nil {
		w.series.Table().Fanned(fan)
	}
}

// endAt is end at a given time of observe.Now.
func (w *watched) endAt(now int64, resp wire.Message) {
	code := ""
	if resp.Op == wire.OpError {
		code = CodeOf(resp)
	}
	w.finish(now, code)
}

// measure measures the requests of one connection. Its methods that touch the present request
// belong to the reader.
type measure struct {
	observe.Observer
	present  watched
	passing  *passing     // requests that were passed on; nil: nothing is measured
	answered atomic.Int64 // when the first unflushed response came; 0: none, or not measured
}

// set says what observes the requests. It is called before the connection is used.
func (m *measure) set(o observe.Observer) {
	m.Observer = o
	if m.on() {
		m.passing = new(passing)
	}
}

// on says whether anything observes requests.
func (m *measure) on() bool { return m.Observer != observe.Observer{} }

// answeredAt returns when a request that was passed on was answered. Responses that came together
// share one time.
func (m *measure) answeredAt(w *watched) int64 {
	if w.series == nil {
		return 0
	}
	now := m.answered.Load()
	if now == 0 {
		now = observe.Now()
		m.answered.Store(now)
	}
	return now
}

// flushed notes that the responses that came together have been sent.
func (m *measure) flushed() {
	if m.answered.Load() != 0 {
		m.answered.Store(0)
	}
}

// fail measures a request that the door answers with its own error.
func (w *watched) fail(e *wire.Error) { w.finish(observe.Now(), codeName(e.Code)) }

func (w *watched) finish(now int64, code string) {
	if w.series != nil {
		w.series.Took(now - w.begun)
		if code != "" {
			w.series.Table().Failed(code)
		}
	}
	if w.child != nil {
		w.child.End(code)
	}
	if w.span != nil {
		w.span.End(code)
	}
}

// CodeOf returns the name of the code of an ERROR.
func CodeOf(resp wire.Message) string {
	_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err == nil {
		c := wire.NewCursor(body)
		if code := wire.Code(c.Int()); c.Err() == nil {
			return codeName(code)
		}
	}
	return observe.Other
}

// codeName formats a code as a label: read_timeout.
func codeName(c wire.Code) string { return strings.ReplaceAll(c.String(), " ", "_") }

// none returns the series for requests that name no table.
func (m *measure) none(op int) *observe.Series {
	if m.Requests != nil {
		return m.Requests.None().Series(op)
	}
	return nil
}

// series returns the series that measures a statement.
func (m *measure) series(h syntax.Head, keyspace string) *observe.Series {
	return SeriesOf(m.Requests, h, keyspace)
}

// names notes the table and operation of a QUERY or PREPARE.
func (c *conn) names(h wire.Header, message []byte, t syntax.Head) {
	if c.measure.Requests == nil {
		return
	}
	keyspace := c.keyspace
	if t.Name.Keyspace == "" {
		var err error
		if keyspace, err = c.effectiveKeyspace(h, message); err != nil {
			keyspace = c.keyspace // the request will be refused
		}
	}
	series := c.measure.series(t, keyspace)
	if h.Op == wire.OpPrepare {
		series = series.Of(OperationPrepare)
	}
	c.measure.present.series = series
}

// batched notes the table of one statement of a BATCH. A batch on one table is measured in that
// table's series.
func (m *measure) batched(first bool, of *observe.Series) {
	if of == nil || m.present.series == nil {
		return
	}
	if of = of.Of(OperationBatch); first {
		m.present.series = of
	} else if m.present.series != of {
		m.present.series = m.none(OperationBatch)
	}
}

// begin begins the span of the present request and returns what is known of the request.
func (m *measure) begin(h wire.Header, body []byte) watched {
	w := m.present
	if t := m.Tracer; t != nil {
		name := "request"
		if w.series != nil {
			name = w.series.Name()
		}
		parent, state := parentOf(h, body)
		w.span = t.Start(name, parent, state)
	}
	return w
}

// parentOf returns the client's span from the custom payload (W3C Trace Context).
func parentOf(h wire.Header, body []byte) (parent, state string) {
	if h.Flags&wire.FlagCustomPayload == 0 {
		return "", ""
	}
	p, _, err := wire.SplitPrefix(h.Op, h.Flags, body)
	if err != nil {
		return "", ""
	}
	c := wire.NewCursor(p.Payload)
	m := c.BytesMap()
	return string(m["traceparent"]), string(m["tracestate"])
}

// passing holds the requests that were passed on, by stream, in pieces that are made when they
// are first needed. The reader writes an entry before it forwards the request. The goroutine that
// receives the response takes the entry after that, and before the client has the answer and may
// reuse the stream.
type passing [(1 << 16) / passingChunk]*[passingChunk]passingEntry

const passingChunk = 64

// passingEntry is a watched request without its spans, which are stored separately.
type passingEntry struct {
	series *observe.Series
	begun  int64
	spans  *watched
}

// watch notes a request that is passed on.
func (m *measure) watch(stream int16, w watched) {
	if m.passing == nil {
		return
	}
	at := uint16(stream)
	chunk := &m.passing[at/passingChunk]
	if *chunk == nil {
		*chunk = new([passingChunk]passingEntry)
	}
	e := passingEntry{series: w.series, begun: w.begun}
	if w.span != nil {
		w.sends()
		e.spans = &watched{span: w.span, child: w.child}
	}
	(*chunk)[at%passingChunk] = e
}

// take removes and returns the request whose answer has come.
func (p *passing) take(stream int16) (w watched) {
	if p == nil {
		return w
	}
	at := uint16(stream)
	e := &p[at/passingChunk][at%passingChunk]
	if e.spans != nil {
		w = *e.spans
	}
	w.series, w.begun = e.series, e.begun
	return w
}
