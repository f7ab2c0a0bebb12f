// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/buckets"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// executeWay is the way of an EXECUTE of one shard, from its body to that of the
// one that is passed on.
func executeWay(t testing.TB) func() {
	way, _, _ := executeWayOf(t, value.Text, &shard.Layout{N: 200, Column: "shard"}, []byte("Hello, world"))
	return way
}

// executeWayOf is executeWay for a layout, and a clustering column of a type with a value. It also returns the router,
// and the EXECUTE.
func executeWayOf(t testing.TB, clustering value.Kind, layout *shard.Layout, of []byte) (func(), *Router, *wire.Execute) {
	t.Helper()
	column := func(name string, k value.Kind, kind schema.ColumnKind, position int) *schema.Column {
		return &schema.Column{Name: name, Type: value.Native(k), Kind: kind, Position: position}
	}
	logical := &schema.Table{Keyspace: "ks", Name: "t", Columns: map[string]*schema.Column{},
		PartitionKey: []*schema.Column{column("day", value.Date, schema.PartitionKey, 0)},
		Clustering:   []*schema.Column{column("title", clustering, schema.Clustering, 0)},
		Regulars:     []*schema.Column{column("body", value.Text, schema.Regular, -1)}}
	for _, c := range logical.All() {
		logical.Columns[c.Name] = c
	}
	table, err := plan.NewTable(logical, layout)
	if err != nil {
		t.Fatal(err)
	}
	r := New(Options{Now: time.Now, IntN: func(int) int { return 0 }, UUID: func() (u [16]byte) { rand.Read(u[:]); return u }})
	r.state.Present.Store(&tables.State{Under: new(tables.UnderWay),
		Schema: &schema.Schema{Keyspaces: map[string]*schema.Keyspace{"ks": {Name: "ks", Tables: map[string]*schema.Table{"t": logical}}}},
		Tables: map[string]map[string]*plan.Table{"ks": {"t": table}},
	})
	s, err := r.queries.statements.Statement("ks", "INSERT INTO t (day, title, body) VALUES (?, ?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	r.cache.Prepared(s)
	s.Physical.Named.Store(&request.IDs{Statement: make([]byte, 16), Metadata: make([]byte, 16)})
	values := wire.Values{Count: 3, Raw: wire.AppendBytes(wire.AppendBytes(wire.AppendBytes(nil, []byte{0x80, 0, 0, 1}), of), make([]byte, 400))}
	e := wire.Execute{ID: s.ID[:], MetadataID: make([]byte, 16)}
	e.Params.SetValues(values)
	body := wire.AppendExecute(nil, wire.V5, &e)
	var dst []byte
	if table.Timed() {
		key := [][]byte{{0x80, 0, 0, 1}}
		bucket := table.BucketOf(table.ShardOf(key, [][]byte{of}))
		if _, err := r.executes.passer.rewriteExecute(nil, wire.V5, s, &e, s.Physical.Named.Load()); err != buckets.ErrUnannounced {
			t.Fatalf("a bucket that is not announced is written to: %v", err)
		}
		r.reads.Buckets.Known.Add(buckets.BucketName(nil, table, key, bucket))
	}
	return func() {
		e, err := wire.ParseExecute(wire.V5, body)
		if err != nil {
			t.Fatal(err)
		}
		k := r.cache.Known.Get(e.ID)
		if k == nil {
			t.Fatal("not prepared")
		}
		if s, err = r.queries.statements.Current(k.Statement); err != nil {
			t.Fatal(err)
		}
		if dst, err = r.executes.passer.rewriteExecute(dst[:0], wire.V5, s, &e, s.Physical.Named.Load()); err != nil {
			t.Fatal(err)
		}
	}, r, &e
}

// TestExecuteAllocatesNothing checks that an EXECUTE of one shard allocates nothing.
func TestExecuteAllocatesNothing(t *testing.T) {
	if n := allocs.PerRun(1000, executeWay(t)); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestExecuteOfTimeAllocatesNothing checks the same for a row of a bucket that is in the directory
// already.
func TestExecuteOfTimeAllocatesNothing(t *testing.T) {
	for _, n := range []int{1, 4} {
		layout := &shard.Layout{Strategy: shard.Time, By: []string{"title"}, Width: timebucket.Hour, N: n, Column: "shard"}
		way, _, _ := executeWayOf(t, value.Timestamp, layout, []byte{0, 0, 1, 0x73, 0, 0, 0, 0})
		if n := allocs.PerRun(1000, way); n > 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

// TestExecuteThroughADoorAllocatesNothing sends EXECUTEs of one shard through a door, from the client's connection to
// the store's link and back. The whole process allocates nothing for them.
func TestExecuteThroughADoorAllocatesNothing(t *testing.T) {
	_, r, e := executeWayOf(t, value.Text, &shard.Layout{N: 200, Column: "shard"}, []byte("Hello, world"))
	c := plainClient(t, serveDoor(t, voidStore{}, r))
	const together = 64
	var out []byte
	body := wire.AppendExecute(nil, wire.V4, e)
	for i := range together {
		out = wire.AppendFrame(out, wire.Header{Version: wire.V4, Op: wire.OpExecute, Stream: int16(i)}, body)
	}
	in := make([]byte, together*len(wire.AppendFrame(nil, wire.Header{Version: wire.V4, Op: wire.OpResult}, void)))
	n := allocs.PerRun(200, func() {
		if _, err := c.nc.Write(out); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c.nc, in); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations for %d requests", n, together)
	}
	if op := wire.Op(in[4]); op != wire.OpResult {
		t.Errorf("the store's answer is of type %v", op)
	}
}

// voidStore answers each request at once, with a RESULT of kind Void.
type voidStore struct{}

var void = wire.AppendVoid(nil)

func (voidStore) Authenticator(context.Context) (string, error)               { return "", nil }
func (voidStore) Open(context.Context, store.LinkOptions) (store.Link, error) { return voidLink{}, nil }
func (voidStore) Events(ctx context.Context, _ func(body []byte)) error       { <-ctx.Done(); return nil }
func (voidStore) Close() error                                                { return nil }

type voidLink struct{}

func (voidLink) Forward(_ context.Context, _ wire.Message, to store.Receiver, tag uint32) {
	to.Receive(tag, wire.Message{Op: wire.OpResult, Body: void})
	to.Flush()
}

func (voidLink) Send(_ context.Context, _ wire.Message, reply func(wire.Message)) {
	reply(wire.Message{Op: wire.OpResult, Body: void})
}
func (voidLink) Flush() {}
func (voidLink) Close() {}

// passWay judges the id of a statement on a plain table.
func passWay(t testing.TB) (func(), *Router) {
	r := New(Options{Now: time.Now, IntN: func(int) int { return 0 }})
	r.schema.View.Store(&tables.View{Names: map[string]map[string]bool{"ks": {"t": true}}})
	ids := make([][16]byte, 1000)
	for i := range ids {
		text := fmt.Sprintf("SELECT c%d FROM t WHERE k = ?", i)
		ids[i] = request.NewID("ks", text)
		r.Prepared(ids[i][:], "ks", text)
	}
	i := 0
	return func() {
		i = (i + 1) % len(ids)
		if claimed, _ := r.ClaimsID(ids[i][:]); claimed {
			t.Fatal("claimed")
		}
	}, r
}

func TestPassAllocatesNothing(t *testing.T) {
	way, _ := passWay(t)
	if n := allocs.PerRun(2000, way); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkClaimsID(b *testing.B) {
	way, _ := passWay(b)
	b.ReportAllocs()
	for b.Loop() {
		way()
	}
}

func BenchmarkExecuteOne(b *testing.B) {
	way := executeWay(b)
	b.ReportAllocs()
	for b.Loop() {
		way()
	}
}

// premiseWay returns a function that does what another door adds to an EXECUTE of one shard. The
// door checks its lease before it sends the request. After the store has answered, it checks the
// state on which it planned the request, for several requests together.
func premiseWay(t testing.TB) func(together int) {
	r := New(Options{Lease: time.Hour, Now: time.Now, IntN: func(int) int { return 0 }})
	r.schema.Doors.Lease.Renew(time.Now())
	t.Cleanup(r.schema.Doors.Lease.Stop)
	s := &request.Statement{Under: r.state.Load().Under, Premises: r.attempts.Premises}
	var at wire.Arrival
	var p cqldoor.Premise = s
	return func(together int) {
		held := r.executes.holds()
		for range together {
			if !held || !s.Begin(7) {
				t.Fatal("it does not hold")
			}
		}
		at.Checked = nil
		for range together {
			if !p.Holds(&at) {
				t.Fatal("it does not hold")
			}
			p.End(7)
		}
	}
}

func TestPremiseAllocatesNothing(t *testing.T) {
	way := premiseWay(t)
	if n := allocs.PerRun(1000, func() { way(1) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPremise(b *testing.B) {
	way := premiseWay(b)
	for _, together := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(together, " together"), func(b *testing.B) {
			for range b.N / together {
				way(together)
			}
		})
	}
}
