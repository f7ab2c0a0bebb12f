// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
)

// TestUndecodable sends messages that Cassandra can decode, and messages that it cannot. The door must not
// pass on the second kind: Cassandra would close a connection that other clients share.
func TestUndecodable(t *testing.T) {
	const text = "SELECT * FROM a"
	q := func(change func(q *wire.Query)) []byte {
		q := wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.One}}
		change(&q)
		return wire.AppendQuery(nil, wire.V5, &q)
	}
	whole := q(func(*wire.Query) {})
	named := q(func(q *wire.Query) {
		q.Params.SetValues(wire.Values{Count: 1, Named: true, Raw: wire.AppendBytes(wire.AppendString(nil, []byte("\xff")), nil)})
	})
	batch := func(text string, kind byte) []byte {
		b := wire.Batch{Count: 1, Raw: wire.AppendBatchStatement(nil, &wire.BatchStatement{Text: []byte(text)}), Params: wire.Params{Consistency: wire.One}}
		b.Raw[0] = kind
		return wire.AppendBatch(nil, wire.V5, &b)
	}
	paged := batch("INSERT", 0)
	paged = append(paged[:len(paged)-4], wire.AppendBytes(wire.AppendInt(nil, int32(wire.QueryPagingState)), []byte("forged"))...)
	execute := wire.AppendExecute(nil, wire.V5, &wire.Execute{ID: []byte("id"), MetadataID: []byte("m"), Params: wire.Params{Consistency: wire.One}})
	for _, c := range []struct {
		what string
		op   wire.Op
		body []byte
		ok   bool
	}{
		{"a query", wire.OpQuery, whole, true},
		{"a query with more behind it", wire.OpQuery, append(slices.Clone(whole), "more"...), true},
		{"half a query", wire.OpQuery, whole[:len(whole)-2], false},
		{"a consistency level that is none", wire.OpQuery, q(func(q *wire.Query) { q.Params.Consistency = 99 }), false},
		{"a text that is none", wire.OpQuery, q(func(q *wire.Query) { q.Text = []byte("SELECT \xff") }), false},
		{"a name that is no text", wire.OpQuery, named, false},
		{"a statement", wire.OpPrepare, wire.AppendPrepare(nil, wire.V5, &wire.Prepare{Text: []byte(text)}), true},
		{"a keyspace that is no text", wire.OpPrepare, wire.AppendPrepare(nil, wire.V5, &wire.Prepare{Text: []byte(text), Keyspace: []byte("\xc0")}), false},
		{"an id", wire.OpExecute, execute, true},
		{"an id and no metadata", wire.OpExecute, execute[:4], false},
		{"a batch", wire.OpBatch, batch("INSERT", 0), true},
		{"a batch of another kind", wire.OpBatch, batch("INSERT", 2), false},
		{"a batch of what is no text", wire.OpBatch, batch("\xed\xa0\x80", 0), false},
		{"a batch with a paging state", wire.OpBatch, paged, false},
		{"nothing", wire.OpBatch, nil, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := newServer(t)
			var mu sync.Mutex
			reached := 0
			s.handle = func(ss *session, h wire.Header, _ []byte) {
				mu.Lock()
				reached++
				mu.Unlock()
				ss.reply(h, wire.OpResult, wire.AppendInt(nil, int32(wire.ResultVoid)))
			}
			l := open(t, connectTo(t, Options{ConnsPerHost: 1}, s), store.LinkOptions{})
			resp := ask(t, l, c.op, c.body)
			mu.Lock()
			defer mu.Unlock()
			if (reached == 1) != c.ok || (resp.Op == wire.OpResult) != c.ok {
				t.Errorf("%d messages reached the host; the answer is %s", reached, resp.Op)
			}
			if !c.ok {
				wantError(t, wire.V5, resp, wire.CodeProtocol)
			}
		})
	}
}

// TestPagingStatesArePartedByOptions sends several requests with a paging state at once. Between two of
// them comes a message that the host can decode in any case.
func TestPagingStatesArePartedByOptions(t *testing.T) {
	s := newServer(t)
	var mu sync.Mutex
	var came []string
	s.came = func(op wire.Op) {
		mu.Lock()
		defer mu.Unlock()
		came = append(came, op.String())
	}
	l := open(t, connectTo(t, Options{ConnsPerHost: 1}, s), store.LinkOptions{})
	mu.Lock()
	came = nil
	mu.Unlock()
	query := wire.Query{Text: []byte("SELECT * FROM a"), Params: wire.Params{Consistency: wire.One}}
	query.Params.SetPagingState([]byte("forged"))
	execute := wire.Execute{ID: []byte("id"), MetadataID: []byte("m"), Params: query.Params}
	var answered sync.WaitGroup
	for range 20 {
		for _, req := range []wire.Message{{Op: wire.OpQuery, Body: wire.AppendQuery(nil, wire.V5, &query)}, {Op: wire.OpExecute, Body: wire.AppendExecute(nil, wire.V5, &execute)}} {
			answered.Add(1)
			go l.Send(t.Context(), req, func(wire.Message) { answered.Done() })
		}
	}
	answered.Wait()
	eventually(t, "all have come", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(came) == 80
	})
	c := l.(*link).p.pick()
	eventually(t, "none is in flight", func() bool { return c.inFlight.Load() == 0 })
	for i, op := range came {
		if strings.EqualFold(op, "OPTIONS") != (i%2 == 1) {
			t.Fatalf("message %d is %s", i, op)
		}
	}
}

// forwardedV5 returns messages of protocol v5 as clients send them. Each has about the given number of bytes.
func forwardedV5(size int) map[string]wire.Message {
	text := []byte("INSERT INTO ks.t (p, c, v) VALUES (?, ?, '" + strings.Repeat("x", size) + "')")
	params := wire.Params{Consistency: wire.One}
	values := wire.Values{Count: 3, Raw: wire.AppendBytes(wire.AppendBytes(wire.AppendBytes(nil, []byte("key")), []byte("row")), make([]byte, size))}
	bound := params
	bound.SetValues(values)
	named := params
	named.SetValues(wire.Values{Count: 1, Named: true, Raw: wire.AppendBytes(wire.AppendString(nil, []byte("v")), make([]byte, size))})
	batch := wire.Batch{Count: 10, Params: params}
	for range batch.Count {
		batch.Raw = wire.AppendBatchStatement(batch.Raw, &wire.BatchStatement{Prepared: true, ID: make([]byte, 16), Values: wire.Values{Count: 1, Raw: wire.AppendBytes(nil, make([]byte, size/batch.Count))}})
	}
	return map[string]wire.Message{
		"text":    {Op: wire.OpQuery, Body: wire.AppendQuery(nil, wire.V5, &wire.Query{Text: text, Params: params})},
		"named":   {Op: wire.OpQuery, Body: wire.AppendQuery(nil, wire.V5, &wire.Query{Text: []byte("SELECT"), Params: named})},
		"prepare": {Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, wire.V5, &wire.Prepare{Text: text})},
		"execute": {Op: wire.OpExecute, Body: wire.AppendExecute(nil, wire.V5, &wire.Execute{ID: make([]byte, 16), MetadataID: make([]byte, 16), Params: bound})},
		"batch":   {Op: wire.OpBatch, Body: wire.AppendBatch(nil, wire.V5, &batch)},
	}
}

func TestDecodingAllocatesNothing(t *testing.T) {
	for name, req := range forwardedV5(10_000) {
		if e := undecodable(wire.V5, req); e != nil {
			t.Fatalf("%s: %v", name, e)
		}
		if n := allocs.PerRun(100, func() { undecodable(wire.V5, req); pages(wire.V5, req) }); n != 0 {
			t.Errorf("%s: decoding allocates %v times", name, n)
		}
	}
}

// BenchmarkDecode measures the time that decoding adds to a forwarded message of protocol v5.
func BenchmarkDecode(b *testing.B) {
	for _, size := range []int{100, 10_000, 1_000_000} {
		all := forwardedV5(size)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			b.Run(fmt.Sprintf("%s/%d bytes", name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					undecodable(wire.V5, all[name])
					pages(wire.V5, all[name])
				}
			})
		}
	}
}
