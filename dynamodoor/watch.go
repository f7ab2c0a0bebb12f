// SPDX-License-Identifier: Apache-2.0

package dynamodoor

import (
	"context"
	"net/http"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/observe"
)

// The door measures requests (package observe). The time of a request begins when the door has read
// its body, and ends when its answer is complete. The door measures a table by name from its first
// successful request on. Otherwise a client could fill memory with made-up names.

// Operations lists the names under which operations are measured. Operations on the endpoint, and
// unknown ones, are "other".
var Operations = func() []string {
	names := []string{"other"}
	for _, o := range api.Operations {
		if o.About != api.Endpoint {
			names = append(names, o.Name)
		}
	}
	return names
}()

// operations maps the names in Operations to their indices.
var operations = func() map[string]int {
	m := make(map[string]int, len(Operations))
	for i, name := range Operations {
		m[name] = i
	}
	return m
}()

// watched is a request that is measured. The zero value is one that is not measured.
type watched struct {
	all       *observe.Requests
	operation string
	table     string // "": it names none, or several
	begun     int64
	under     *observe.Under
	span      observe.Span
}

// watch begins to measure a request. It returns the context with which the request continues.
func (d *Door) watch(ctx context.Context, r *http.Request, operation string, o *api.Operation, body []byte) (context.Context, watched) {
	to := d.options.Observe
	if to == (observe.Observer{}) {
		return ctx, watched{}
	}
	w := watched{all: to.Requests, operation: operation, begun: observe.Now(), table: tableOf(body)}
	if to.Tracer != nil {
		w.span = to.Tracer.Start(strings.TrimRight(operation+" "+w.table, " "), r.Header.Get("Traceparent"), r.Header.Get("Tracestate"))
	}
	if w.span != nil || o.Fans {
		w.under = &observe.Under{Span: w.span}
		ctx = observe.With(ctx, w.under)
	}
	return ctx, w
}

// end ends the measurement.
func (w *watched) end(err error) {
	code := ""
	if err != nil {
		code = exception.Of(err).Kind.Name()
	}
	if w.span != nil {
		w.span.End(code)
	}
	if w.all == nil {
		return
	}
	t := w.all.None()
	switch {
	case w.table == "":
	case code == exception.ResourceNotFound.Name(), err == nil && w.operation == "DeleteTable":
		t = w.all.Known("", w.table)
		w.all.Forget("", w.table)
	case err != nil:
		t = w.all.Known("", w.table)
	default:
		t = w.all.Table("", w.table)
	}
	t.Series(operations[w.operation]).Took(observe.Now() - w.begun)
	if code != "" {
		t.Failed(code)
	}
	if w.under != nil && (w.under.Fan.Reads.Load() || w.under.Fan.Requests.Load() > 1) {
		t.Fanned(&w.under.Fan)
	}
}

// tableOf returns the table that a request names. It returns "" if there is none at the top level,
// as in batches and PartiQL. It reads no further than the name.
func tableOf(body []byte) string {
	var r jsontext.Reader
	r.Reset(body)
	if len(body) == 0 || r.Peek() != jsontext.Object {
		return ""
	}
	for r.Object(); r.Next(); {
		if r.Name() != "TableName" || r.Peek() != jsontext.String {
			r.Skip()
			continue
		}
		return api.TableName(r.Text())
	}
	return ""
}
