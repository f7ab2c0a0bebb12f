// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/shard"
)

// emptyStore is a link to a store that has no rows, and whose client goes after so
// many requests. Requests come from several goroutines.
type emptyStore struct {
	requests atomic.Int64
	leaves   int64
	gone     context.CancelFunc
}

func (e *emptyStore) Close() {}

func (e *emptyStore) Flush() {}

func (e *emptyStore) Send(_ context.Context, req wire.Message, reply func(wire.Message)) {
	reply(e.answer(req))
}

func (e *emptyStore) Forward(_ context.Context, req wire.Message, to store.Receiver, tag uint32) {
	to.Receive(tag, e.answer(req))
	to.Flush()
}

func (e *emptyStore) answer(req wire.Message) wire.Message {
	if req.Op == wire.OpPrepare {
		none := wire.Metadata{Flags: wire.MetadataNone}
		return wire.Message{Op: wire.OpResult, Body: wire.AppendPrepared(nil, wire.V4, &wire.Prepared{ID: []byte("id"), Variables: none, Result: none})}
	}
	if e.requests.Add(1) == e.leaves {
		e.gone()
	}
	var w wire.RowsWriter
	w.Begin(nil, wire.Metadata{Flags: wire.MetadataNone, Count: 50})
	return wire.Message{Op: wire.OpResult, Body: w.Finish()}
}

// tablesRouter is a router for sharded tables of CREATE TABLE statements.
func tablesRouter(t *testing.T, texts ...string) *Router {
	t.Helper()
	r := New(Options{Now: time.Now, Timeuuid: random, UUID: random, IntN: func(n int) int { return n / 2 }})
	ks := &schema.Keyspace{Name: "ks", Tables: map[string]*schema.Table{}}
	state := &tables.State{Schema: &schema.Schema{Keyspaces: map[string]*schema.Keyspace{"ks": ks}}, Tables: map[string]map[string]*plan.Table{"ks": {}}}
	for _, text := range texts {
		tree, err := syntax.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		table, layout := declared(t, tree.(*syntax.CreateTable))
		ks.Tables[table.Name] = table
		if state.Tables["ks"][table.Name], err = plan.NewTable(table, layout); err != nil {
			t.Fatal(err)
		}
	}
	r.state.Present.Store(state)
	return r
}

func declared(t *testing.T, c *syntax.CreateTable) (*schema.Table, *shard.Layout) {
	t.Helper()
	table := &schema.Table{Keyspace: "ks", Name: c.Name.Name, Columns: map[string]*schema.Column{}}
	for _, d := range c.Columns {
		typ, err := analysis.ResolveType(d.Type, nil)
		if err != nil {
			t.Fatal(err)
		}
		column := &schema.Column{Name: d.Name, Type: typ, Kind: schema.Regular, Position: -1}
		table.Columns[d.Name] = column
		table.Counter = table.Counter || typ.Kind == value.Counter
		if d.Static {
			column.Kind = schema.Static
			table.Statics = append(table.Statics, column)
		}
	}
	for i, name := range c.PartitionKey {
		column := table.Columns[name]
		column.Kind, column.Position = schema.PartitionKey, i
		table.PartitionKey = append(table.PartitionKey, column)
	}
	for i, name := range c.Clustering {
		column := table.Columns[name]
		column.Kind, column.Position = schema.Clustering, i
		table.Clustering = append(table.Clustering, column)
	}
	for _, d := range c.Columns {
		if column := table.Columns[d.Name]; column.Kind == schema.Regular {
			table.Regulars = append(table.Regulars, column)
		}
	}
	options := map[string]string{}
	for _, p := range c.With {
		for _, e := range p.Value.(*syntax.Map).Entries {
			options[e.Key.(*syntax.Constant).Text] = e.Value.(*syntax.Constant).Text
		}
	}
	layout, err := shard.Parse(options)
	if err != nil {
		t.Fatal(err)
	}
	return table, layout
}

// ints is a list of n ints, serialized.
func ints(n int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(n))
	for i := range n {
		b = append(binary.BigEndian.AppendUint32(b, 4), be32(i)...)
	}
	return b
}

// TestProducts sends statements that name as many rows as the product of two lists of
// thousands, or of a list and a long value. What the door allocates for them is bounded
// by what they say, and by the requests that it sends; it sends no more when the client
// has gone.
func TestProducts(t *testing.T) {
	const (
		many     = 10_000
		leaves   = 200
		allowed  = 64 << 20 // for lists of many, and the requests that are sent
		tooMany  = "Too many statements in a batch"
		tooLarge = "Batch too large"
		tooOften = "counts for each marker"
	)
	r := tablesRouter(t,
		"CREATE TABLE ks.t (p int, c int, v int, b blob, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '20'}",
		"CREATE TABLE ks.k (p int, q int, c int, d int, v int, PRIMARY KEY ((p, q), c, d)) WITH write_sharding = {'shards': '20', 'by': 'c'}",
		"CREATE TABLE ks.s (p int, c int, v int, s int static, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '20'}",
		"CREATE TABLE ks.r (p int, c int, v int, l list<int>, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '1000', 'strategy': 'random'}",
		"CREATE TABLE ks.n (p int, c int, n counter, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '1000', 'strategy': 'random'}",
	)
	list, long := ints(many), make([]byte, 1<<20)
	for _, test := range []struct {
		text    string
		values  [][]byte
		refused string // "": it goes on until the client goes
	}{
		{"SELECT " + strings.Repeat("(blob) :v, ", 2000) + "c FROM t WHERE p = 1", [][]byte{long}, tooOften},
		{"SELECT c FROM t WHERE p = 1 AND b IN (" + strings.Repeat(":v, ", 2000) + ":v) ALLOW FILTERING", [][]byte{long}, tooOften},
		{"UPDATE t SET v = 1 WHERE p = 1 AND c = 1 IF b IN (" + strings.Repeat(":v, ", 2000) + ":v)", [][]byte{long}, tooOften},
		{"BEGIN BATCH " + strings.Repeat("UPDATE t SET b = :v WHERE p = 1 AND c = 1; ", 2000) + "APPLY BATCH", [][]byte{long}, tooOften},

		{"SELECT c FROM t WHERE p IN ? AND c IN ?", [][]byte{list, list}, ""},
		{"SELECT c FROM t WHERE p IN ? AND c IN ? PER PARTITION LIMIT 2", [][]byte{list, list}, ""},
		{"SELECT count(*) FROM t WHERE p IN ? AND c IN ?", [][]byte{list, list}, ""},
		{"SELECT max(v) FROM t WHERE p IN ? AND c > 3", [][]byte{list}, ""},
		{"SELECT avg(v) FROM t WHERE p IN ? AND c IN ?", [][]byte{list, list}, ""},
		{"SELECT p, count(*) FROM t WHERE p IN ? AND c IN ? GROUP BY p", [][]byte{list, list}, ""},
		{"SELECT c FROM t WHERE p IN ? AND c IN ? ORDER BY c", [][]byte{list, list}, ""},
		{"SELECT JSON c FROM t WHERE p IN ? AND c IN ?", [][]byte{list, list}, ""},
		{"SELECT d FROM k WHERE p IN ? AND q IN ?", [][]byte{list, list}, ""},
		{"SELECT d FROM k WHERE p IN ? AND q IN ? AND c IN ? AND d IN ?", [][]byte{list, list, list, list}, ""},
		{"SELECT d FROM k WHERE p = 1 AND q = 2 AND c IN ? AND d IN ?", [][]byte{list, list}, ""},
		{"SELECT d FROM k WHERE p = 1 AND q = 2 AND c IN ? AND d IN ? ORDER BY c DESC, d DESC", [][]byte{list, list}, ""},
		{"SELECT d FROM k WHERE p = 1 AND q IN ? AND c IN ? AND d > 4", [][]byte{list, list}, ""},
		{"SELECT c, s FROM s WHERE p IN ? AND c IN ?", [][]byte{list, list}, ""},
		{"SELECT DISTINCT s FROM s WHERE p IN ?", [][]byte{list}, ""},
		{"SELECT c, v FROM r WHERE p IN ? AND c IN ?", [][]byte{list, list}, ""},
		{"SELECT v FROM r WHERE p IN ?", [][]byte{list}, ""},

		{"DELETE FROM t WHERE p IN ?", [][]byte{list}, ""},
		{"DELETE FROM k WHERE p IN ? AND q IN ? AND c IN ?", [][]byte{list, list, list}, ""},
		{"DELETE FROM k WHERE p IN ? AND q IN ? AND c IN ? AND d > 3", [][]byte{list, list, list}, ""},
		{"DELETE FROM t WHERE p IN ? AND c IN ?", [][]byte{list, list}, tooMany},
		{"DELETE v FROM t WHERE p IN ? AND c IN ?", [][]byte{list, list}, tooMany},
		{"UPDATE t SET v = 1 WHERE p IN ? AND c IN ?", [][]byte{list, list}, tooMany},
		{"UPDATE k SET v = 1 WHERE p IN ? AND q IN ? AND c IN ? AND d IN ?", [][]byte{list, list, list, list}, tooMany},
		{"UPDATE s SET v = 1, s = 2 WHERE p IN ? AND c IN ?", [][]byte{list, list}, tooMany},
		{"UPDATE r SET l = l + [1] WHERE p IN ? AND c = 1", [][]byte{list}, tooMany},
		{"DELETE FROM n WHERE p IN ? AND c = 1", [][]byte{list}, tooMany},
		{"UPDATE t SET b = ? WHERE p IN ? AND c = 4", [][]byte{long, list}, tooLarge},
		{"UPDATE t SET b = ? WHERE p = 1 AND c IN ?", [][]byte{long, list}, tooLarge},
		{"BEGIN BATCH " + strings.Repeat("UPDATE t SET v = 1 WHERE p = 1 AND c IN ?; ", 8) + "APPLY BATCH", [][]byte{list, list, list, list, list, list, list, list}, tooMany},
		{"BEGIN BATCH UPDATE t SET v = 1 WHERE p IN ? AND c IN ?; DELETE FROM k WHERE p IN ? AND q IN ?; APPLY BATCH", [][]byte{list, list, list, list}, tooMany},
		{"BEGIN BATCH DELETE FROM k WHERE p IN ? AND q IN ?; APPLY BATCH", [][]byte{list, list}, tooMany},
	} {
		t.Run(test.text[:min(len(test.text), 90)], func(t *testing.T) {
			s, err := r.queries.statements.Statement("ks", test.text)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			link := &emptyStore{leaves: leaves, gone: cancel}
			values := wire.Values{Count: len(test.values), Named: strings.Contains(test.text, ":v")}
			for _, v := range test.values {
				if values.Named {
					values.Raw = wire.AppendString(values.Raw, []byte("v"))
				}
				values.Raw = wire.AppendBytes(values.Raw, v)
			}
			params := wire.Params{Consistency: wire.One}
			params.SetValues(values)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err = r.queries.answers.answer(ctx, &cqldoor.Request{Version: wire.V4, Link: link}, s, &params, nil)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > allowed {
				t.Errorf("%d MiB were allocated", n>>20)
			}
			switch {
			case test.refused == "" && !errors.Is(err, context.Canceled), test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
				t.Errorf("it ended with %v", err)
			case link.requests.Load() > leaves+int64(r.opts.FanOut):
				t.Errorf("%d requests were sent, after a client that left at %d", link.requests.Load(), leaves)
			}
		})
	}
}
