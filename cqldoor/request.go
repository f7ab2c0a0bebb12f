// SPDX-License-Identifier: Apache-2.0

package cqldoor

import (
	"strings"
	"unsafe"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/observe"
)

// handle routes every request. It reads only as much of the request as shows who handles it, and
// passes it on.
func (c *conn) handle(h wire.Header, body []byte) {
	c.requests.Add(1)
	c.measure.present.series, c.measure.present.span = c.measure.none(OperationOther), nil
	if c.draining.Load() {
		// Every driver takes a request that is answered with "is bootstrapping" to another host
		// at once, because that request was certainly not executed.
		c.measure.present.fail(errDraining)
		c.replyError(h.Stream, errDraining)
		return
	}
	if c.inFlight.begin() > c.d.opts.MaxInFlight {
		c.measure.present.fail(errInFlight)
		c.inFlight.finish()
		c.d.counts.overloaded.Add(1)
		c.replyError(h.Stream, errInFlight)
		return
	}
	if s := c.d.standing; s != nil {
		c.term = s.Term() & TermMask
	}
	if e := c.route(h, body); e != nil {
		c.measure.present.fail(e)
		c.inFlight.finish()
		c.replyError(h.Stream, e)
	}
}

var (
	errDraining = &wire.Error{Code: wire.CodeIsBootstrapping, Message: "evenkeel: this front door is shutting down; the request was not executed"}
	errInFlight = &wire.Error{Code: wire.CodeOverloaded, Message: "evenkeel: too many requests are in flight on this connection; the request was not executed"}
	errUse      = &wire.Error{Code: wire.CodeInvalid, Message: "evenkeel: USE cannot be prepared; execute it as it is"}
)

// route makes sure that a request is answered once, or returns the error to answer it with.
func (c *conn) route(h wire.Header, body []byte) *wire.Error {
	message := body
	if h.Flags&wire.FlagCustomPayload != 0 {
		_, rest, err := wire.SplitPrefix(h.Op, h.Flags, body)
		if err != nil {
			return c.d.malformed(err)
		}
		message = rest
	}
	switch h.Op {
	case wire.OpExecute:
		return c.routeExecute(h, body, message)
	case wire.OpBatch:
		return c.routeBatch(h, body, message)
	}
	return c.routeText(h, body, message)
}

// malformed counts a body that does not match its opcode.
func (d *Door) malformed(err error) *wire.Error {
	d.counts.malformed.Add(1)
	return wire.AsError(err)
}

// routeText routes a QUERY or PREPARE.
func (c *conn) routeText(h wire.Header, body, message []byte) *wire.Error {
	text, err := wire.QueryText(message)
	if err != nil {
		return c.d.malformed(err)
	}
	t := syntax.TargetBytes(text)
	c.names(h, message, t)
	if t.Kind == syntax.StatementUse {
		if e := c.expectParse(len(text)); e != nil {
			return e
		}
	}
	if t.Kind == syntax.StatementUse && parses(text) {
		if h.Op == wire.OpPrepare {
			return errUse
		}
		if c.d.opts.Router == nil || !c.d.opts.Router.Claims(t, c.keyspace) {
			c.inFlight.finish()
			c.use(h, strings.Clone(t.Name.Name))
			return nil
		}
	}
	if c.d.opts.Router != nil {
		keyspace, err := c.effectiveKeyspace(h, message)
		if err != nil {
			return c.d.malformed(err)
		}
		if c.refusesKeyspace(keyspace) || c.claims(t, text, keyspace) || h.Op == wire.OpPrepare && !ofSystem(t, keyspace) {
			if e := c.expectParse(len(text)); e != nil {
				return e
			}
			c.serveRouter(h, body)
			return nil
		}
	}
	if t.Kind == syntax.StatementSelect && (t.Name.Keyspace == "system" || t.Name.Keyspace == "") {
		if k := specialOf(t.Name.Name); k != specialNone {
			keyspace := t.Name.Keyspace
			if keyspace == "" {
				if keyspace, err = c.effectiveKeyspace(h, message); err != nil {
					return c.d.malformed(err)
				}
			}
			if keyspace == "system" {
				if h.Op == wire.OpPrepare {
					k += specialPrepareLocal - specialLocal
				}
				c.forwardSpecial(h, body, k)
				return nil
			}
		}
	}
	if h.Op == wire.OpPrepare && c.d.opts.Router != nil {
		c.forwardPrepare(c.newRequest(h, body), wire.Message{Op: h.Op, Flags: h.Flags, Body: body})
		return nil
	}
	if ofSystem(t, c.keyspace) {
		c.forward(h, body, nil) // no door changes the store's own tables
		return nil
	}
	c.forward(h, body, c.d.standing)
	return nil
}

// parses says whether a text is a statement. The store refuses any other text.
func parses(text []byte) bool {
	_, err := syntax.Parse(string(text))
	return err == nil
}

// ofSystem says whether a statement reads a system table.
func ofSystem(t syntax.Head, keyspace string) bool {
	if t.Name.Keyspace != "" {
		keyspace = t.Name.Keyspace
	}
	return t.Kind == syntax.StatementSelect && strings.HasPrefix(keyspace, "system")
}

// claims asks the router whether it claims a statement. For a batch it asks about each table.
func (c *conn) claims(t syntax.Head, text []byte, keyspace string) bool {
	if t.Kind != syntax.StatementBatch {
		return c.d.opts.Router.Claims(t, keyspace)
	}
	any := false
	for name := range syntax.Tables(unsafe.String(unsafe.SliceData(text), len(text))) {
		any = true
		if c.d.opts.Router.Claims(syntax.Head{Kind: t.Kind, Name: name}, keyspace) {
			return true
		}
	}
	return !any && c.d.opts.Router.Claims(t, keyspace)
}

// refusesKeyspace asks the router whether it refuses the keyspace that a single request names, as
// it would refuse a USE. The connection's own keyspace was accepted before.
func (c *conn) refusesKeyspace(keyspace string) bool {
	return keyspace != c.keyspace && c.d.opts.Router.Claims(syntax.Head{Kind: syntax.StatementUse, Name: syntax.Name{Name: keyspace}}, "")
}

// effectiveKeyspace returns the keyspace of unqualified names in a QUERY or PREPARE.
func (c *conn) effectiveKeyspace(h wire.Header, message []byte) (string, error) {
	if c.version < wire.V5 {
		return c.keyspace, nil
	}
	var in []byte
	if h.Op == wire.OpPrepare {
		p, err := wire.ParsePrepare(c.version, message)
		if err != nil {
			return "", err
		}
		in = p.Keyspace
	} else {
		q, err := wire.ParseQuery(c.version, message)
		if err != nil {
			return "", err
		}
		in = q.Params.Keyspace
	}
	if in == nil {
		return c.keyspace, nil
	}
	if string(in) == c.keyspace { // avoids an allocation
		return c.keyspace, nil
	}
	return string(in), nil
}

func (c *conn) routeExecute(h wire.Header, body, message []byte) *wire.Error {
	id, err := wire.ExecuteID(message)
	if err != nil {
		return c.d.malformed(err)
	}
	if c.d.opts.Router != nil {
		claimed, of := c.d.opts.Router.ClaimsID(id)
		if of != nil {
			c.measure.present.series = of
		}
		if claimed {
			c.serveRouter(h, body)
			return nil
		}
	}
	if k := c.d.special.get(id); k != specialNone {
		e, err := wire.ParseExecute(c.version, message)
		if err != nil {
			return c.d.malformed(err)
		}
		// Rewriting the rows needs the metadata of the columns.
		e.Params.SetSkipMetadata(false)
		h.Flags &^= wire.FlagCustomPayload
		c.forwardSpecial(h, wire.AppendExecute(nil, c.version, &e), k)
		return nil
	}
	c.forward(h, body, c.d.standing)
	return nil
}

func (c *conn) routeBatch(h wire.Header, body, message []byte) *wire.Error {
	c.measure.present.series = c.measure.none(OperationBatch)
	if c.d.opts.Router == nil {
		c.forward(h, body, c.d.standing)
		return nil
	}
	b, err := wire.ParseBatch(c.version, message)
	if err != nil {
		return c.d.malformed(err)
	}
	keyspace := c.keyspace
	if b.Params.Keyspace != nil {
		keyspace = string(b.Params.Keyspace)
		if c.refusesKeyspace(keyspace) {
			c.serveRouter(h, body)
			return nil
		}
	}
	claimed, first, texts := false, true, 0
	for it := b.Iter(); it.Next(); first = false {
		part := false
		if it.Prepared {
			var of *observe.Series
			part, of = c.d.opts.Router.ClaimsID(it.ID)
			c.measure.batched(first, of)
		} else {
			t := syntax.TargetBytes(it.Text)
			texts += len(it.Text)
			part = c.claims(t, it.Text, keyspace)
			c.measure.batched(first, c.measure.series(t, keyspace))
		}
		claimed = claimed || part
	}
	if claimed {
		if e := c.expectParse(texts); e != nil {
			return e
		}
		c.serveRouter(h, body)
		return nil
	}
	c.forward(h, body, c.d.standing)
	return nil
}

// serveRouter hands a request to the router.
func (c *conn) serveRouter(h wire.Header, body []byte) {
	c.d.counts.routed.Add(1)
	r := c.newRequest(h, body)
	use := r.uses.Load()
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if c.sending {
			panic(p) // the connection has to end
		}
		c.d.panicked(p)
		r.fail(use)
	}()
	c.handed, c.inFlight.open = true, false
	c.d.opts.Router.Serve(c.ctx, r)
}

// forwardPrepare passes a PREPARE on and tells the router of its response.
func (c *conn) forwardPrepare(r *Request, req wire.Message) {
	r.Retain()
	r.watched.sends()
	c.send(req, tagRequest+r.index)
}

// forwardSpecial passes a request on and sends its response through rewrite.
func (c *conn) forwardSpecial(h wire.Header, body []byte, k special) {
	r := c.newRequest(h, body)
	if h.Op == wire.OpPrepare {
		r.Retain()
	}
	r.special = k
	r.watched.sends()
	c.send(wire.Message{Op: h.Op, Flags: h.Flags, Body: body}, tagRequest+r.index)
}
