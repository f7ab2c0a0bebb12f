// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/observe"
)

// What is measured of requests (package observe): how long they take, by table and
// operation, and the codes of the errors that they are answered with. A request begins
// when the bytes that it came in were read, and ends when its answer is handed to the
// client's connection. Forwarded requests are measured as all others are. To read the
// clock is most of what that costs, so it is read once for the requests that came in one
// read, and once for the responses that are written together.

// Operations are what requests do, by the indices Operation….
var Operations = []string{"other", "select", "insert", "update", "delete", "truncate", "batch", "prepare", "schema"}

// The indices of Operations.
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

// OperationOf is the index of what a statement does.
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

// SeriesOf is where a statement with a head is measured; nil where nothing is. The
// system's tables are measured together, as "system".
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

// watched is what is known of a request while it is under way. The zero value is one that
// is not measured.
type watched struct {
	series *observe.Series
	begun  int64
	span   observe.Span // nil where none is told
	child  observe.Span // of a request that is passed on: the store's part of it
}

// sends begins the store's part of a request that is passed on as one.
func (w *watched) sends() {
	if w.span != nil {
		w.child = w.span.Child("store", nil)
	}
}

// heard ends the store's part, which was answered with resp.
func (w *watched) heard(resp wire.Message) {
	EndSpan(w.child, resp)
	w.child = nil
}

// EndSpan ends the span of a request that was answered with resp; it may be nil.
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

// end ends a request that is answered with resp. fan is what it has asked of the store, if
// that was counted.
func (w *watched) end(resp wire.Message, fan *observe.Fan) {
	if w.series == nil && w.span == nil {
		return
	}
	w.endAt(observe.Now(), resp)
	if fan != nil && w.series != nil {
		w.series.Table().Fanned(fan)
	}
}

// endAt ends a request that is answered with resp at a time of observe.Now.
func (w *watched) endAt(now int64, resp wire.Message) {
	code := ""
	if resp.Op == wire.OpError {
		code = CodeOf(resp)
	}
	w.finish(now, code)
}

// answeredAt is when a request that was passed on was answered: responses that came
// together came at one time.
func (c *conn) answeredAt(w *watched) int64 {
	if w.series == nil {
		return 0
	}
	now := c.answered.Load()
	if now == 0 {
		now = observe.Now()
		c.answered.Store(now)
	}
	return now
}

// fail ends a request that the door answers with an error of its own.
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

// CodeOf is the name of the code of an ERROR.
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

// codeName is a code's name as a label: read_timeout.
func codeName(c wire.Code) string { return strings.ReplaceAll(c.String(), " ", "_") }

// measures says whether requests are told to anyone.
func (c *conn) measures() bool { return c.d.opts.Observe != observe.Observer{} }

// none is where requests that name no table are measured.
func (c *conn) none(op int) *observe.Series {
	if all := c.d.opts.Observe.Requests; all != nil {
		return all.None().Series(op)
	}
	return nil
}

// series is where a statement with a head is measured.
func (c *conn) series(h syntax.Head, keyspace string) *observe.Series {
	return SeriesOf(c.d.opts.Observe.Requests, h, keyspace)
}

// names notes what a QUERY or PREPARE is about.
func (c *conn) names(h wire.Header, message []byte, t syntax.Head) {
	if c.d.opts.Observe.Requests == nil {
		return
	}
	keyspace := c.keyspace
	if t.Name.Keyspace == "" {
		var err error
		if keyspace, err = c.effectiveKeyspace(h, message); err != nil {
			keyspace = c.keyspace // the request is refused
		}
	}
	if c.present.series = c.series(t, keyspace); h.Op == wire.OpPrepare {
		c.present.series = c.present.series.Of(OperationPrepare)
	}
}

// batched notes what a statement of a BATCH is about: a batch on one table is measured
// there.
func (c *conn) batched(first bool, of *observe.Series) {
	if of == nil || c.present.series == nil {
		return
	}
	if of = of.Of(OperationBatch); first {
		c.present.series = of
	} else if c.present.series != of {
		c.present.series = c.none(OperationBatch)
	}
}

// begun is the present request, whose series is known, with its span.
func (c *conn) begun(h wire.Header, body []byte) watched {
	w := c.present
	if t := c.d.opts.Observe.Tracer; t != nil {
		name := "request"
		if w.series != nil {
			name = w.series.Name()
		}
		parent, state := parentOf(h, body)
		w.span = t.Start(name, parent, state)
	}
	return w
}

// parentOf is what the custom payload says of the client's span (W3C Trace Context).
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

// passing are the requests that were passed on, by stream, in pieces that are made when
// they are first needed. The reader writes an entry before it forwards the request; who
// receives the response takes it after that, and before the client has the answer and
// may use the stream again.
type passing [(1 << 16) / passingChunk]*[passingChunk]passingEntry

const passingChunk = 64

// passingEntry is a watched request; spans are apart, where there are any.
type passingEntry struct {
	series *observe.Series
	begun  int64
	spans  *watched
}

// watch notes a request that is passed on.
func (c *conn) watch(stream int16, w watched) {
	if c.passing == nil {
		return
	}
	at := uint16(stream)
	chunk := &c.passing[at/passingChunk]
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

// take takes a request that is answered.
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
