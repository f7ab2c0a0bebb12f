// SPDX-License-Identifier: Apache-2.0

package dynamodoor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/dynamodoor/requestid"
)

// exchange is the memory of one request and its answer.
type exchange struct {
	body   []byte
	answer []byte
	id     [52]byte
}

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

// keptBytes is the most memory that an exchange keeps for the next request.
const keptBytes = 256 << 10

func (x *exchange) release() {
	if cap(x.body)+cap(x.answer) <= keptBytes {
		exchanges.Put(x)
	}
}

// ServeHTTP answers one request.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.inFlight.Add(1)
	defer d.inFlight.Add(-1)
	x := exchanges.Get().(*exchange)
	defer x.release()
	ctx := d.request(r.Context())
	sent, answer := budget.Open(ctx), budget.Open(ctx)
	defer sent.Close()
	defer answer.Close()
	if err := d.read(ctx, x, r, &sent); err != nil {
		d.unread(w, r, x, err)
		return
	}
	header := w.Header()
	header["x-amzn-RequestId"] = []string{x.requestID()}
	if origin(header, r) {
		return
	}
	if r.Method == http.MethodGet {
		d.refused.Add(1)
		send(w, r, http.StatusOK, "", []byte("healthy: dynamodb."+d.options.Region+".amazonaws.com "))
		return
	}
	content, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	content = strings.TrimSpace(content)
	if r.Method != http.MethodPost || len(x.body) > 0 && content != "application/json" && content != contentType {
		d.refused.Add(1)
		send(w, r, http.StatusNotFound, "", []byte("<UnknownOperationException/>\n"))
		return
	}
	if content != contentType {
		content = "application/json"
	}
	operation, who, err := d.check(ctx, r, x, &sent)
	if errors.Is(err, errTooLong) {
		d.refused.Add(1)
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		d.refused.Add(1)
	} else {
		o := api.OperationOf(operation)
		if o.Endless {
			c := http.NewResponseController(w) // its deadlines would end the request
			// Inside a program there is no connection and no deadline.
			_, _ = c.SetReadDeadline(time.Time{}), c.SetWriteDeadline(time.Time{})
		}
		if who != (principal.Principal{}) {
			ctx = principal.With(ctx, who)
		}
		ctx, w := d.watch(ctx, r, operation, o, x.body)
		if len(x.body) > shortBytes {
			err = take(ctx, &sent, decodes(x.body))
		}
		if err == nil {
			err = take(ctx, &answer, o.Returns)
		}
		if err != nil {
			d.refused.Add(1)
		} else if d.options.Forwards {
			id := new(requestid.ID)
			err = d.do(requestid.With(ctx, id), operation, o, x)
			if text := id.Get(); text != "" {
				header["x-amzn-RequestId"] = []string{text}
			}
		} else {
			err = d.do(ctx, operation, o, x)
		}
		switch n := int64(len(x.answer)); {
		case err != nil:
		case onlyReads(o):
			answer.Shrink(n)
			err = take(ctx, &answer, n)
		case n > shortBytes: // what has been written cannot be refused any more
			answer.Add(max(0, n-answer.Bytes()))
		}
		w.end(err)
	}
	status := http.StatusOK
	if err != nil {
		e := exception.Of(err)
		gone := r.Context().Err() != nil // the client has disconnected, which caused the error
		if e.Kind == exception.InternalServerError && e.Raw == nil && !gone {
			d.options.Log.Error("dynamodb", "operation", operation, "error", err)
		}
		status = e.Status()
		x.answer = e.AppendJSON(x.answer[:0])
	}
	send(w, r, status, content, x.answer)
}

// unread answers a request whose body could not be read.
func (d *Door) unread(w http.ResponseWriter, r *http.Request, x *exchange, err error) {
	d.refused.Add(1)
	w.Header()["Connection"] = []string{"close"} // the rest of the body is not the next request
	switch {
	case errors.Is(err, errNoRoom):
		w.Header()["x-amzn-RequestId"] = []string{x.requestID()}
		send(w, r, errNoRoom.Status(), contentType, errNoRoom.AppendJSON(x.answer[:0]))
	case errors.Is(err, errTooLong):
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	default: // the body breaks off, or its chunks are malformed
		w.WriteHeader(http.StatusBadRequest)
	}
	// A client that waits for the answer gets it now. A client that is still sending would not see
	// the answer if the connection were cut off, so read the rest.
	_ = http.NewResponseController(w).Flush()
	_, _ = io.CopyN(io.Discard, r.Body, 4*d.options.MaxBody)
}

var errTooLong = errors.New("the body is too long")

// read reads the body. It returns an error if the body is too long or cut off, or if there is no
// room for it.
func (d *Door) read(ctx context.Context, x *exchange, r *http.Request, h *budget.Account) error {
	x.body = x.body[:0]
	most := d.options.MaxBody
	if r.ContentLength > most {
		return errTooLong
	}
	if r.ContentLength >= 0 {
		most = r.ContentLength
	}
	return d.fill(ctx, x, r.Body, most, h)
}

// fill reads a body of at most a number of bytes from a reader.
func (d *Door) fill(ctx context.Context, x *exchange, from io.Reader, most int64, h *budget.Account) error {
	for {
		if len(x.body) == cap(x.body) {
			// Allocate only as bytes arrive, whatever a header announces.
			n := min(2*int64(cap(x.body)), most+1)
			x.body = append(make([]byte, 0, max(n, min(most+1, 4<<10))), x.body...)
		}
		n, err := from.Read(x.body[len(x.body):cap(x.body)])
		x.body = x.body[:len(x.body)+n]
		if int64(len(x.body)) > most {
			return errTooLong
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the body: %w", err)
		}
		if len(x.body) > shortBytes && h.Bytes() == 0 {
			if err := take(ctx, h, decoded*most); err != nil {
				return err
			}
		}
	}
}

// origin answers the request that browsers send before a request from another origin, and allows
// them to read the answer.
func origin(header http.Header, r *http.Request) (done bool) {
	if r.Header.Get("Origin") == "" {
		return false
	}
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", "x-amzn-RequestId,x-amz-crc32,Content-Encoding,Date")
	if r.Method != http.MethodOptions {
		return false
	}
	if h := r.Header.Get("Access-Control-Request-Headers"); h != "" {
		header.Set("Access-Control-Allow-Headers", h)
	}
	if m := r.Header.Get("Access-Control-Request-Method"); m != "" {
		header.Set("Access-Control-Allow-Methods", m)
	}
	header.Set("Access-Control-Max-Age", "172800")
	header.Set("Content-Length", "0")
	return true
}

// check returns the operation and its principal, or the error in the request, in AWS's order: the
// JSON, the operation, the authorization, the presence of a body.
func (d *Door) check(ctx context.Context, r *http.Request, x *exchange, h *budget.Account) (string, principal.Principal, error) {
	body := x.body
	var who principal.Principal
	operation, known := api.Targeted(r.Header.Get("X-Amz-Target"))
	known = known && d.options.Store.Has(operation)
	var err error
	if !known {
		err = exception.New(exception.UnknownOperation, "")
	} else {
		err = checkAuthorization(r)
		if err == nil && d.options.Keys != nil {
			who, err = d.options.Keys.Verify(r, body, d.options.Now())
		}
	}
	if encodingOf(r) != "" { // the door decodes it only for clients that may send it
		if err == nil {
			err = d.decode(ctx, x, r, h)
		}
		if body = x.body; err != nil {
			return operation, who, err
		}
	}
	if err == nil && len(body) > 0 {
		return operation, who, nil
	}
	if len(body) > 0 || err == nil {
		if j := checkJSON(body); j != nil {
			return operation, who, j
		}
	}
	return operation, who, err
}

// checkJSON returns an error if the body is not JSON.
func checkJSON(body []byte) error {
	var r jsontext.Reader
	r.Reset(body)
	r.Skip()
	if r.End() != nil {
		return exception.New(exception.Serialization, "")
	}
	return nil
}

// do lets the store carry out the operation. A panic becomes an internal error of this one request.
func (d *Door) do(ctx context.Context, operation string, o *api.Operation, x *exchange) (err error) {
	way := d.lanes.of(o)
	if onlyReads(o) && way == d.lanes.long {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, answerWithin) // after that, no answer can be sent any more
		defer cancel()
	}
	flow := way.FlowOf(ctx)
	if err := way.Enter(ctx, flow); err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	defer func() {
		way.Leave(flow)
		if p := recover(); p != nil {
			d.panics.Add(1)
			d.options.Log.Error("dynamodb: a bug", "operation", operation, "panic", p, "stack", string(debug.Stack()))
			err = exception.New(exception.InternalServerError, "")
		}
	}()
	d.requests.Add(1)
	answer, err := d.options.Store.Do(ctx, operation, x.body, x.answer[:0])
	if answer != nil {
		x.answer = answer
	}
	return err
}
