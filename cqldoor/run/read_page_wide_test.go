// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"math"
	"net"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/read"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// TestNarrow reads rows as large ones are read, and compares with a plain table.
func TestNarrow(t *testing.T) {
	w := &twins{scene: newScene(t, embedded(t)), layouts: layouts}
	w.router.reads.Held = 500
	w.create("p int, c text, d int, v text, s int static, PRIMARY KEY (p, c, d)", " WITH CLUSTERING ORDER BY (c DESC, d ASC)")
	for i := range 60 {
		// One row in ten is larger than all that may be held.
		long := strings.Repeat("x", 20+1000*(i%10/9))
		if fault := w.write(fmt.Sprintf("INSERT INTO TABLE (p, c, d, v) VALUES (%d, 'key %d', %d, '%s')", i/50, i%7, i, long)); fault != "" {
			t.Fatal(fault)
		}
	}
	for _, text := range []string{
		"SELECT * FROM TABLE WHERE p = 0",
		"SELECT d, v FROM TABLE WHERE p = 0 ORDER BY c ASC, d DESC",
		"SELECT v FROM TABLE WHERE p = 0 LIMIT 17",
		"SELECT c, v FROM TABLE WHERE p = 0 AND c IN ('key 1', 'key 3', 'key 4')",
		"SELECT d FROM TABLE WHERE p IN (0, 1, 2) PER PARTITION LIMIT 9",
		"SELECT v FROM TABLE WHERE p = 0 AND (c, d) > ('key 5', 12) AND c < 'key 7' ALLOW FILTERING",
		"SELECT c, d, v FROM TABLE WHERE p = 0 AND d = 33 ALLOW FILTERING",
		"SELECT c, v FROM TABLE WHERE p = 0 AND v > 'xxxxxxxxxxxxxxxxxxxxx' ALLOW FILTERING",
		"SELECT c, max(v), count(*) FROM TABLE WHERE p = 0 GROUP BY c",
		"SELECT p, c, s, v FROM TABLE",
	} {
		if fault := w.read(text); fault != "" {
			t.Error(fault)
		}
	}
}

// measured is a store at each of whose answers what is held is measured: a look now
// and then might miss when it is the most.
type measured struct {
	store.Store
	peak peak
}

type peak struct {
	mu   sync.Mutex
	most uint64
}

func (p *peak) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = max(p.most, heap())
}

func (m *measured) MaxVersion(ctx context.Context) (wire.Version, error) {
	return m.Store.(store.Versioned).MaxVersion(ctx)
}

func (m *measured) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := m.Store.Open(ctx, o)
	return measuredLink{l, &m.peak}, err
}

type measuredLink struct {
	store.Link
	peak *peak
}

func (l measuredLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	l.Link.Send(ctx, req, func(resp wire.Message) {
		l.peak.look() // the door still holds all that it waits with: this answer may be the last
		reply(resp)
		l.peak.look()
	})
}

// TestLargeRows reads pages of large rows and measures what the door holds of them.
func TestLargeRows(t *testing.T) {
	const (
		rows  = 36
		size  = 2 << 20
		page  = 4
		limit = 64 << 20
	)
	peak := func(held int) (most uint64) {
		st := &measured{Store: embedded(t)}
		s := newScene(t, st)
		s.router.reads.Held = held
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".large (p int, c int, v blob, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '16'}")
		c := plainClient(t, serveDoor(t, s.store, s.router))
		for i := range rows {
			p := wire.Params{Consistency: wire.One}
			p.SetValues(wire.Values{Count: 2, Raw: wire.AppendBytes(wire.AppendBytes(nil, be32(i)), make([]byte, size))})
			c.call(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &wire.Query{Text: []byte("INSERT INTO " + s.keyspace + ".large (p, c, v) VALUES (1, ?, ?)"), Params: p}))
		}
		// The store keeps blocks that were read in its cache. In half of all processes that are
		// built with -race, Pebble takes the memory of its cache from Go's heap. So everything is
		// read once before, row by row, which fills the cache as far as it will be.
		for i := range rows {
			p := wire.Params{Consistency: wire.One}
			p.SetValues(wire.Values{Count: 1, Raw: wire.AppendBytes(nil, be32(i))})
			c.call(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &wire.Query{Text: []byte("SELECT v FROM " + s.keyspace + ".large WHERE p = 1 AND c = ?"), Params: p}))
		}
		before := heap()
		st.peak.mu.Lock()
		st.peak.most = before
		st.peak.mu.Unlock()
		q := wire.Query{Text: []byte("SELECT c, v FROM " + s.keyspace + ".large WHERE p = 1"), Params: wire.Params{Consistency: wire.One}}
		q.Params.SetPageSize(page)
		for next := 0; ; {
			result, err := wire.ParseRows(c.call(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &q)))
			if err != nil {
				t.Fatal(err)
			}
			if result.Count != page && next < rows {
				t.Fatalf("%d rows came after %d", result.Count, next)
			}
			for it := result.Iter(nil); it.Next(); next++ {
				if string(it.Cells[0]) != string(be32(next)) || len(it.Cells[1]) != size {
					t.Fatalf("row %d is %x with %d bytes", next, it.Cells[0], len(it.Cells[1]))
				}
			}
			if result.Metadata.PagingState == nil {
				if next != rows {
					t.Fatalf("%d rows", next)
				}
				break
			}
			q.Params.SetPagingState(append([]byte(nil), result.Metadata.PagingState...))
		}
		st.peak.mu.Lock()
		defer st.peak.mu.Unlock()
		return max(st.peak.most, before) - before
	}
	bounded, free := peak(read.MaxHeld), peak(math.MaxInt)
	t.Logf("%d MiB at most; without a bound %d MiB", bounded>>20, free>>20)
	if bounded > limit {
		t.Errorf("a page of %d rows of %d MiB took %d MiB", page, size>>20, bounded>>20)
	}
	if free <= limit {
		t.Errorf("without a bound a page took %d MiB: the test shows nothing", free>>20)
	}
}

// heap is how many bytes are held: it collects first what is not, which would
// otherwise be there for as long as the collector has no time.
func heap() uint64 {
	runtime.GC()
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func be32(n int) []byte { return []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)} }

// plain is a client that holds one message at a time.
type plain struct {
	t   *testing.T
	nc  net.Conn
	dec *wire.Decoder
	out []byte
}

func plainClient(t *testing.T, addr string) *plain {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	c := &plain{t: t, nc: nc, dec: wire.NewResponseDecoder(nc, 256<<20)}
	c.call(wire.OpStartup, wire.AppendStartup(nil, map[string]string{wire.OptionCQLVersion: "3.4.5"}))
	return c
}

func (c *plain) send(op wire.Op, body []byte) {
	c.t.Helper()
	c.out = wire.AppendFrame(c.out[:0], wire.Header{Version: wire.V4, Op: op}, body)
	if _, err := c.nc.Write(c.out); err != nil {
		c.t.Fatal(err)
	}
}

// call gives the body of the response, which is valid until the next call.
func (c *plain) call(op wire.Op, body []byte) []byte {
	c.t.Helper()
	c.send(op, body)
	h, body, err := c.dec.Next()
	if err != nil {
		c.t.Fatal(err)
	}
	if h.Op == wire.OpError {
		e, err := wire.ParseError(wire.V4, body)
		c.t.Fatal(e, err)
	}
	return body
}

// TestLongResults reads results that are longer than one message may be: in pages
// they come in more of them, and what is not paged is refused.
func TestLongResults(t *testing.T) {
	s := newScene(t, embedded(t))
	s.router.reads.Longest = 2000
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int, c int, v text, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '3'}")
	for i := range 60 {
		s.must(s.v5, fmt.Sprintf("INSERT INTO %s.t (p, c, v) VALUES (%d, %d, '%s')", s.keyspace, i/40, i, strings.Repeat("x", 100)))
	}
	for _, text := range []string{"SELECT c, v FROM ks.t WHERE p = 0", "SELECT c, v FROM ks.t WHERE p IN (0, 1)", "SELECT JSON c, v FROM ks.t WHERE p IN (0, 1)"} {
		text = strings.ReplaceAll(text, "ks.", s.keyspace+".")
		want := 60
		if strings.HasSuffix(text, "0") {
			want = 40
		}
		a := s.paged(s.v5, text, 25)
		if a.Kind == difftest.Error || len(a.Rows) != want {
			t.Errorf("%s in pages: %s", text, show(a))
		}
		if a := s.query(s.v5, text); a.Kind != difftest.Error || !strings.Contains(a.Text, "read it in pages") {
			t.Errorf("%s at once: %s", text, show(a))
		}
	}
	if a := s.query(s.v5, "SELECT c, v FROM "+s.keyspace+".t WHERE p IN (0, 1) ORDER BY c"); a.Kind != difftest.Error || !strings.Contains(a.Text, "read it in pages") {
		t.Errorf("sorted: %s", show(a))
	}
}
