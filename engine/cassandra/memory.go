// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"errors"
	"math"
	"unsafe"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// Long requests and answers are counted against the budget of the request's context, if it has
// one (see package budget). Short ones are bounded by the lanes, and so are reads of system tables:
// drivers need them to connect, and to learn which nodes live.

const (
	// shortAnswer is the size of an answer up to which it is not counted. Such answers are made
	// on the caller's goroutine, which cannot wait.
	shortAnswer = 256 << 10

	// longBody is the least size of a request that is counted. decoded is the factor by which it
	// counts: it is copied, and binding a list of many short values takes six times its bytes.
	longBody = 64 << 10
	decoded  = 8

	// copied is the factor by which an answer counts: a copy of it waits for the client or the
	// door before the original is freed.
	copied = 2
)

var errNoRoom = wire.Errorf(wire.CodeOverloaded, "%v", budget.ErrNoRoom)

// errLater says that the request waits for memory, and then begins again.
var errLater = errors.New("engine: the request waits for memory")

// errAtLength says that the answer is too long for the caller's goroutine.
var errAtLength = errors.New("engine: the answer is for a lane")

// begin waits until there is room for a request that may take long, then calls start, perhaps
// before it returns.
func (c *call) begin(req wire.Message, start func(error)) {
	body := len(req.Body)
	c.granted = math.MaxInt
	if c.link.own || (c.kind == changes || c.kind == systemReads) && body < longBody {
		start(nil)
		return
	}
	if c.memory = budget.Open(c.ctx); !c.memory.On() {
		start(nil)
		return
	}
	c.granted = shortAnswer
	most := int64(shortAnswer)
	if body >= longBody {
		c.memory.Add(int64(body))
		most += (decoded-1)*int64(body) + (syntax.Parsed-decoded)*int64(textOf(c.version, req))
	}
	c.memory.Queue(c.ctx, most, func(err error) { start(refusal(err)) })
}

// atOnce runs a request on the caller's goroutine, unless it is long. Binding a long request takes many
// times its length, and the caller cannot wait for memory.
func (c *call) atOnce(req wire.Message) outcome {
	if len(req.Body) >= longBody && !c.link.own && budget.Counts(c.ctx) {
		if k, ok := c.engine.laneOf(c.version, req); ok {
			c.kind = k
			return refused
		}
	}
	return c.run(req)
}

// textOf returns the length of the text that a long request has the engine parse.
func textOf(v wire.Version, req wire.Message) (n int) {
	_, body, err := wire.SplitPrefix(req.Op, req.Flags, req.Body)
	if err != nil {
		return 0 // the request will be refused
	}
	switch req.Op {
	case wire.OpQuery, wire.OpPrepare:
		text, _ := wire.QueryText(body)
		return len(text)
	case wire.OpBatch:
		b, err := wire.ParseBatch(v, body)
		if err != nil {
			return 0
		}
		for it := b.Iter(); it.Next(); {
			n += len(it.Text)
		}
	}
	return n
}

// laneOf returns the lane of a long request. The statement is not analysed yet, so each SELECT counts as
// a scan.
func (e *Engine) laneOf(v wire.Version, req wire.Message) (k kind, ok bool) {
	_, body, err := wire.SplitPrefix(req.Op, req.Flags, req.Body)
	if err != nil {
		return 0, false
	}
	text := ""
	switch req.Op {
	case wire.OpBatch:
		return writes, true
	case wire.OpQuery, wire.OpPrepare:
		in, err := wire.QueryText(body)
		if err != nil {
			return 0, false
		}
		text = unsafe.String(unsafe.SliceData(in), len(in))
	case wire.OpExecute:
		x, err := wire.ParseExecute(v, body)
		if err != nil {
			return 0, false
		}
		p := e.plans.get(x.ID)
		if p == nil {
			return 0, false
		}
		text = p.text
	default:
		return 0, false
	}
	switch syntax.Target(text).Kind {
	case syntax.StatementSelect:
		return scans, true
	case syntax.StatementInsert, syntax.StatementUpdate, syntax.StatementDelete, syntax.StatementBatch:
		return writes, true
	}
	return changes, true
}

// refusal returns the error for a request that found no room.
func refusal(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, budget.ErrNoRoom):
		return errNoRoom
	}
	return errGone
}

// again waits for the memory that the request wants, and runs the request again.
func (c *call) again(req wire.Message) outcome {
	c.rows, c.writer = 0, wire.RowsWriter{}
	if err := c.room(c.wants); err != nil {
		c.fail(err)
		return answered
	}
	c.warnings = nil
	return c.run(req)
}

// roomForRow implements storage.Query's Room for a read, which holds one row at a time.
func (c *call) roomForRow(bytes int, wait bool) (bool, error) {
	rows := max(c.rows, bytes/copied)
	if c.fits(rows) {
		return true, nil
	}
	if !c.detached {
		return false, errAtLength
	}
	if !wait {
		return false, nil
	}
	c.rows = rows
	return true, c.room(c.writer.Size() + c.read.sorted.Size())
}

// fits reports whether there is room now for the stored rows that the request reads, of so many bytes
// in all.
func (c *call) fits(rows int) bool {
	all := rows + c.writer.Size() + c.read.sorted.Size()
	if all > c.granted && !c.detached && (c.engine.limits != nil || !budget.Counts(c.ctx)) {
		c.granted = math.MaxInt // what has been read has been paid for
	}
	if all > c.granted {
		if !c.detached || !c.memory.Try(int64(copied*(all-c.granted))) {
			return false
		}
		c.granted = all
	}
	c.rows = rows
	return true
}

// roomForRow implements storage.Query's Room for a write, which keeps the rows that it reads. The write
// does not wait, because it has locked its partitions. It ends and begins again when there is room.
func (w *writing) roomForRow(bytes int, _ bool) (bool, error) {
	c := w.c
	rows := c.rows + bytes/copied
	if c.fits(rows) {
		return true, nil
	}
	c.wants = rows + c.writer.Size() + c.read.sorted.Size()
	return false, errLater
}

// Hold implements eval.Env's Memory.
func (c *call) Hold(bytes int) error {
	return c.room(bytes + c.writer.Size() + c.read.sorted.Size())
}

// room makes the request hold so many bytes of rows. If there is no room, it waits, and others
// get its place in the lane meanwhile.
func (c *call) room(bytes int) error {
	bytes += c.rows
	if bytes <= c.granted {
		return nil
	}
	if !c.detached {
		if c.engine.limits != nil || !budget.Counts(c.ctx) {
			c.granted = math.MaxInt // what has been read has been paid for
			return nil
		}
		return errAtLength
	}
	bytes = max(bytes, c.granted/4*5) // in steps, not for every row
	more := int64(copied * (bytes - c.granted))
	if !c.memory.Try(more) {
		way, flow := c.engine.lanes[c.kind], &c.link.flows[c.kind]
		way.Leave(flow)
		c.placed = false
		if err := c.memory.Take(c.ctx, more); err != nil {
			return refusal(err)
		}
		if way.Again(c.ctx, flow) != nil {
			return errGone
		}
		c.placed = true
	}
	c.granted = bytes
	return nil
}
