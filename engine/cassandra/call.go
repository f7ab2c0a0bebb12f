// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/deadline"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/partitioner"
)

// outcome says what has happened to a request.
type outcome uint8

const (
	answered outcome = iota // it has been answered
	queued                  // the committer will answer it
	refused                 // it may take long and c is not detached: only c.kind has been set
	waiting                 // c.wants is not there yet: it has changed nothing, and must run anew
)

// call is one request under way. Calls are reused.
type call struct {
	engine   *Engine
	link     *link
	ctx      context.Context // of the request; done when nobody waits for the answer
	to       store.Receiver
	tag      uint32
	version  wire.Version
	kind     kind
	detached bool   // it runs in a goroutine of its own and may take its time
	placed   bool   // it has a place in its lane
	stop     func() // ends its deadline; nil if it has none
	memory   budget.Account
	granted  int // bytes that it may hold without asking for more
	rows     int // of these, bytes for the stored rows that it reads
	wants    int // bytes that it needs to begin again; see waiting
	rowRoom  func(bytes int, wait bool) (bool, error)

	params   wire.Params
	env      eval.Env
	seconds  int64 // present time of the request, seconds since 1970
	warnings []string

	values  []wire.Value
	writer  wire.RowsWriter
	buffer  []byte // for responses
	scratch []byte
	read    read
	rowPlan *rowPlan // the row that fill puts into a batch
}

var calls = sync.Pool{New: func() any {
	c := new(call)
	c.rowRoom = c.roomForRow
	return c
}}

func newCall(ctx context.Context, l *link, to store.Receiver, tag uint32) *call {
	c := calls.Get().(*call)
	c.engine, c.link, c.ctx, c.to, c.tag, c.version = l.engine, l, ctx, to, tag, l.version
	c.detached, c.placed, c.memory, c.granted = false, false, budget.Account{}, shortAnswer
	c.kind = systemReads
	return c
}

// release makes the call available for reuse. It drops all views of the request's body.
func (c *call) release() {
	c.memory.Close()
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
	c.to, c.link, c.ctx, c.engine, c.rowPlan = nil, nil, nil, nil, nil
	c.params = wire.Params{}
	clear(c.values)
	clear(c.env.Values)
	c.values, c.env.Values, c.warnings = c.values[:0], c.env.Values[:0], nil
	c.read.reset()
	const keep = 1 << 20
	if cap(c.buffer) <= keep {
		calls.Put(c)
	}
}

func murmur3Token(key [][]byte) []byte {
	var scratch [256]byte
	return wire.AppendLong(nil, partitioner.Murmur3(partitioner.AppendComposite(scratch[:0], key...)))
}

// refuse says that a request must go to a lane.
func (c *call) refuse(k kind) (outcome, error) {
	c.kind = k
	return refused, nil
}

// run serves a request.
func (c *call) run(req wire.Message) outcome {
	out, err := c.dispatch(req)
	if errors.Is(err, errLater) {
		return waiting
	}
	if err != nil {
		c.fail(err)
		return answered
	}
	return out
}

func (c *call) dispatch(req wire.Message) (out outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = answered, c.engine.panicked(p)
		}
	}()
	_, body, err := wire.SplitPrefix(req.Op, req.Flags, req.Body)
	if err != nil {
		return answered, err
	}
	c.rows = 0
	c.env = eval.Env{Values: c.env.Values[:0], Timeuuid: c.engine.timeuuid, UUID: randomUUID, Token: murmur3Token, Wanted: c, Memory: c}
	c.writer = wire.RowsWriter{}
	switch req.Op {
	case wire.OpExecute:
		return c.execute(body)
	case wire.OpQuery:
		return c.query(body)
	case wire.OpBatch:
		return c.batch(body)
	case wire.OpPrepare:
		return c.prepare(body)
	case wire.OpOptions:
		c.buffer = wire.AppendSupported(c.buffer[:0], supported)
		c.answer(wire.OpSupported, c.buffer)
		return answered, nil
	case wire.OpRegister:
		_, err := wire.ParseRegister(body)
		if err == nil {
			c.answer(wire.OpReady, nil)
		}
		return answered, err
	case wire.OpStartup:
		c.answer(wire.OpReady, nil)
		return answered, nil
	}
	return answered, wire.Errorf(wire.CodeProtocol, "Unexpected request opcode %d", uint8(req.Op))
}

var supported = map[string][]string{
	wire.OptionCQLVersion:       {"3.4.7"},
	wire.OptionCompression:      {"snappy", "lz4"},
	wire.OptionProtocolVersions: {"3/v3", "4/v4", "5/v5", "6/v6-beta"},
}

// answer sends a response that is not a result of rows.
func (c *call) answer(op wire.Op, body []byte) {
	resp := wire.Message{Op: op, Body: body}
	if len(c.warnings) > 0 && c.version >= wire.V4 {
		resp.Flags |= wire.FlagWarning
		resp.Body = append(wire.AppendStringList(c.scratch[:0], c.warnings), body...)
		c.scratch = resp.Body
	}
	c.to.Receive(c.tag, resp)
}

// fail answers the request with an error.
func (c *call) fail(err error) {
	if err == errGone && deadline.Passed(c.ctx) {
		err = c.late()
	}
	c.answer(wire.OpError, errorMessage(err, c.version).Body)
}

func errorMessage(err error, v wire.Version) wire.Message {
	return wire.Message{Op: wire.OpError, Body: wire.AsError(err).Append(nil, v)}
}

// storageError returns the client's error for a failure of storage. It leaves out paths and keys
// that the failure may name.
func storageError(err error) error {
	var e *wire.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, errAtLength):
		return errAtLength
	case errors.Is(err, errLater):
		return errLater
	case errors.Is(err, storage.ErrMalformed):
		return wire.Invalidf("%v", err)
	case errors.Is(err, storage.ErrFull), errors.Is(err, storage.ErrFailed):
		// Cassandra gives this error when its commit log fails. Without reasons, the message is
		// the same in every protocol version.
		return &wire.Error{Code: wire.CodeWriteFailure, Message: fmt.Sprintf("Operation failed: %v", err), Consistency: wire.One, Required: 1, WriteType: wire.WriteSimple}
	}
	return wire.Errorf(wire.CodeServer, "storage: %v", err)
}

// panicked turns a bug during a request into an internal error for this request. The next request
// is served.
func (e *Engine) panicked(p any) error {
	return wire.Errorf(wire.CodeServer, "internal error: %s", fmt.Sprint(p))
}

// values reads the values of the markers, in their order.
func (c *call) bindValues(v *wire.Values, p *plan, count func(want, got int) error) error {
	c.values = v.Slice(c.values[:0])
	c.env.Values = c.env.Values[:0]
	if v.Named {
		return c.bindNamed(p)
	}
	if len(c.values) != len(p.binds) {
		return count(len(p.binds), len(c.values))
	}
	for i := range c.values {
		c.env.Values = append(c.env.Values, eval.Value{Bytes: c.values[i].Bytes, Unset: c.values[i].Unset})
	}
	return nil
}

// bindNamed reads values that are given by name. As in Cassandra, a value that is not given is
// null in v4 and before, and unset later.
func (c *call) bindNamed(p *plan) error {
	first := make(map[string]int, len(c.values)) // index of the first value of each name
	for i := len(c.values) - 1; i >= 0; i-- {
		first[string(c.values[i].Name)] = i
	}
	for i := range p.binds {
		at, ok := first[p.binds[i].Name]
		if !ok {
			return wire.Invalidf("Invalid amount of bind variables")
		}
		v := &c.values[at]
		c.env.Values = append(c.env.Values, eval.Value{Bytes: v.Bytes, Unset: v.Unset})
	}
	return eval.CheckNamed(c.env.Values)
}

// times sets the present time for the request.
func (c *call) times() {
	c.env.Now = c.engine.clock.timestamp()
	c.seconds = c.env.Now / 1e6
	if c.params.Has(wire.QueryNowInSeconds) {
		c.seconds = int64(c.params.NowInSeconds)
	}
}
