// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// client sends requests and waits for their responses.
type client interface {
	do(req wire.Message) wire.Message
	use(keyspace string)
}

// openMemory opens an engine in memory.
func openMemory(t testing.TB) *Engine {
	t.Helper()
	e, err := Open("data", Options{Storage: storage.Options{FS: vfs.NewMem(), SweepInterval: -1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// local is a client of an engine.
type local struct {
	t    testing.TB
	e    *Engine
	v    wire.Version
	link store.Link
}

func newLocal(t testing.TB, e *Engine, v wire.Version) *local {
	c := &local{t: t, e: e, v: v}
	c.use("")
	return c
}

func (c *local) use(keyspace string) {
	l, err := c.e.Open(context.Background(), store.LinkOptions{Version: c.v, Keyspace: keyspace})
	if err != nil {
		c.t.Fatal(err)
	}
	c.link = l
}

func (c *local) do(req wire.Message) wire.Message {
	got := make(chan wire.Message, 1)
	c.link.Send(context.Background(), req, func(resp wire.Message) {
		resp.Body = bytes.Clone(resp.Body)
		got <- resp
	})
	select {
	case resp := <-got:
		return resp
	case <-time.After(2 * time.Minute): // far more than any answer takes on a loaded machine
		c.t.Fatal("no answer")
		panic("unreachable")
	}
}

// remote is a client of a real Cassandra, on protocol v4.
type remote struct {
	t    testing.TB
	addr string
	conn net.Conn
	r    *bufio.Reader
}

func dial(t testing.TB, addr string) *remote {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &remote{t: t, addr: addr, conn: conn, r: bufio.NewReader(conn)}
	if resp := c.do(wire.Message{Op: wire.OpStartup, Body: wire.AppendStartup(nil, map[string]string{wire.OptionCQLVersion: "3.0.0"})}); resp.Op != wire.OpReady {
		t.Fatalf("STARTUP: %v", resp)
	}
	return c
}

func (c *remote) use(string) {} // the connection keeps it

func (c *remote) do(req wire.Message) wire.Message {
	c.t.Helper()
	frame := append([]byte{4, byte(req.Flags), 0, 1, byte(req.Op)}, wire.AppendInt(nil, int32(len(req.Body)))...)
	if _, err := c.conn.Write(append(frame, req.Body...)); err != nil {
		c.t.Fatal(err)
	}
	head := make([]byte, 9)
	if _, err := io.ReadFull(c.r, head); err != nil {
		c.t.Fatal(err)
	}
	cur := wire.NewCursor(head[5:])
	body := make([]byte, cur.Int())
	if _, err := io.ReadFull(c.r, body); err != nil {
		c.t.Fatal(err)
	}
	return wire.Message{Op: wire.Op(head[4]), Flags: wire.Flags(head[1]), Body: body}
}

func queryBody(v wire.Version, text string, pageSize int32, state []byte) []byte {
	q := wire.Query{Text: []byte(text)}
	q.Params.Consistency = wire.One
	q.Params.SetPageSize(pageSize)
	q.Params.SetPagingState(state)
	return wire.AppendQuery(nil, v, &q)
}

// run executes a statement, page by page, and prints what came.
func run(t testing.TB, c client, v wire.Version, text string, pageSize int32) string {
	t.Helper()
	var b strings.Builder
	var state []byte
	for page := 0; ; page++ {
		resp := c.do(wire.Message{Op: wire.OpQuery, Body: queryBody(v, text, pageSize, state)})
		var more bool
		more, state = printResponse(t, &b, c, v, resp, page > 0)
		if !more {
			return b.String()
		}
	}
}

func printResponse(t testing.TB, b *strings.Builder, c client, v wire.Version, resp wire.Message, goesOn bool) (bool, []byte) {
	t.Helper()
	prefix, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range prefix.WarningList() {
		fmt.Fprintf(b, "warning: %s\n", w)
	}
	if resp.Op == wire.OpError {
		e, err := wire.ParseError(v, body)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(b, "error %04x: %s\n", int32(e.Code), e.Message)
		return false, nil
	}
	switch kind := wire.KindOf(body); kind {
	case wire.ResultVoid:
		fmt.Fprintf(b, "void\n")
	case wire.ResultSetKeyspace:
		ks, err := wire.ParseSetKeyspace(body)
		if err != nil {
			t.Fatal(err)
		}
		c.use(ks)
		fmt.Fprintf(b, "keyspace %s\n", ks)
	case wire.ResultSchemaChange:
		s, err := wire.ParseSchemaChange(body)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(b, "%s %s %s %s\n", s.Change, s.Target, s.Keyspace, s.Name)
	case wire.ResultRows:
		return printRows(t, b, body, goesOn)
	default:
		t.Fatalf("result of kind %d: %s", kind, hex.EncodeToString(body))
	}
	return false, nil
}

func printRows(t testing.TB, b *strings.Builder, body []byte, goesOn bool) (bool, []byte) {
	t.Helper()
	rows, err := wire.ParseRows(body)
	if err != nil {
		t.Fatal(err)
	}
	cols, err := rows.Metadata.Columns()
	if err != nil {
		t.Fatal(err)
	}
	if !goesOn {
		for i, c := range cols {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(b, "%s.%s.%s %s", c.Keyspace, c.Table, c.Name, c.Type)
		}
		b.WriteByte('\n')
	}
	it := rows.Iter(nil)
	for it.Next() {
		for i, cell := range it.Cells {
			if i > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(printCell(cols[i].Type, cell))
		}
		b.WriteByte('\n')
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return rows.Metadata.Flags&wire.MetadataMore != 0, bytes.Clone(rows.Metadata.PagingState)
}

func printCell(t *value.Type, cell []byte) string {
	switch {
	case cell == nil:
		return "null"
	case t.Kind == value.Text || t.Kind == value.Ascii:
		return string(cell)
	}
	return string(t.Format(nil, cell))
}
