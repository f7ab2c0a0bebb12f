// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// sink is a Receiver that counts.
type sink struct {
	t    testing.TB
	left sync.WaitGroup
}

func (s *sink) Receive(_ uint32, resp wire.Message) {
	if resp.Op == wire.OpError {
		s.t.Errorf("error: %s", resp.Body)
	}
	s.left.Done()
}
func (s *sink) Flush() {}

// inFlight is how many requests the benchmarks keep under way.
const inFlight = 48

func benchEngine(b testing.TB, o storage.Options) *local {
	e, err := Open(b.TempDir(), Options{Storage: o})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	c := newLocal(b, e, wire.V4)
	must(b, c, simpleKeyspace, "CREATE TABLE k.t (p int PRIMARY KEY, v blob)")
	return c
}

func benchmark(b *testing.B, c *local, body func(n int) []byte) {
	s := &sink{t: b}
	l := c.link.(store.Forwarder)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		s.left.Add(1)
		l.Forward(b.Context(), wire.Message{Op: wire.OpExecute, Body: body(n)}, s, 0)
		if n++; n%inFlight == 0 {
			l.Flush()
			s.left.Wait()
		}
	}
	s.left.Wait()
}

func BenchmarkWrite(b *testing.B) {
	for _, periodic := range []bool{false, true} {
		name := map[bool]string{false: "sync", true: "periodic"}[periodic]
		b.Run(name, func(b *testing.B) {
			c := benchEngine(b, storage.Options{Periodic: periodic})
			p := prepareOn(b, c, "INSERT INTO k.t (p, v) VALUES (?, ?)")
			bodies := executeBodies(p, 1<<14, bytes.Repeat([]byte{7}, 100))
			benchmark(b, c, func(n int) []byte { return bodies[n%len(bodies)] })
		})
	}
}

func BenchmarkRead(b *testing.B) {
	c := benchEngine(b, storage.Options{Periodic: true})
	insert := prepareOn(b, c, "INSERT INTO k.t (p, v) VALUES (?, ?)")
	for _, body := range executeBodies(insert, 1<<14, bytes.Repeat([]byte{7}, 100)) {
		c.do(wire.Message{Op: wire.OpExecute, Body: body})
	}
	bodies := executeBodies(prepareOn(b, c, "SELECT v FROM k.t WHERE p = ?"), 1<<14)
	benchmark(b, c, func(n int) []byte { return bodies[n%len(bodies)] })
}

// executeBodies are EXECUTEs whose first value counts.
func executeBodies(p wire.Prepared, n int, values ...[]byte) [][]byte {
	bodies := make([][]byte, n)
	for i := range bodies {
		all := append([][]byte{integerValue(i)}, values...)
		bodies[i] = executeBody(wire.V4, p, func(q *wire.Params) { q.SetSkipMetadata(true) }, all...)
	}
	return bodies
}

// BenchmarkLongWrite writes values that are counted against a budget.
func BenchmarkLongWrite(b *testing.B) {
	c := benchEngine(b, storage.Options{Periodic: true, FS: vfs.NewMem()})
	p := prepareOn(b, c, "INSERT INTO k.t (p, v) VALUES (?, ?)")
	bodies := executeBodies(p, 16, bytes.Repeat([]byte{7}, 2*longBody))
	memory := budget.New(400<<20, 0)
	s := &sink{t: b}
	b.SetBytes(2 * longBody)
	n := 0
	for b.Loop() {
		s.left.Add(1)
		ctx := budget.WithClient(b.Context(), memory.Client())
		c.link.(store.Forwarder).Forward(ctx, wire.Message{Op: wire.OpExecute, Body: bodies[n%len(bodies)]}, s, 0)
		if n++; n%inFlight == 0 {
			c.link.(store.Forwarder).Flush()
			s.left.Wait()
		}
	}
	s.left.Wait()
}
