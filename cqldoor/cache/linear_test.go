// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/testkit/register"
)

const registers = 16

const (
	readText  = "SELECT c FROM ks.t WHERE k = ?"
	writeText = "UPDATE ks.t SET c = c + 1 WHERE k = ?"
)

// TestLinearizable lets 64 writers and 32 readers use 16 partitions. The store waits before and
// after it executes a request. Now and then it reports an error, for a request that it has executed
// or not. The test of this name in dynamodoor/cache is similar.
func TestLinearizable(t *testing.T) { synctest.Test(t, linearizable) }

func linearizable(t *testing.T) {
	begin := time.Now()
	s := &registerStore{slow: true}
	c, err := New(t.Context(), Options{Store: s, Size: MinSize, Now: func() time.Time { return begin.Add(500 * time.Since(begin)) }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var all [registers]register.Register
	var links []store.Link
	for range 2 {
		l := opened(t, c, "")
		prepare(t, l, readText)
		prepare(t, l, writeText)
		links = append(links, l)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running sync.WaitGroup
	// send gives a client who loses patience at times.
	send := func(m wire.Message) (wire.Message, bool) {
		ctx := context.Background()
		if rand.IntN(20) == 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(5))*time.Millisecond)
			defer cancel()
		}
		resp := ask(ctx, links[rand.IntN(len(links))], m)
		return resp, resp.Op == wire.OpResult
	}
	for range 64 {
		running.Go(func() {
			for ctx.Err() == nil {
				n := rand.IntN(registers)
				m := execute(writeText, wire.One, n)
				switch rand.IntN(4) {
				case 0:
					m = batch(writeText, n)
				case 1:
					if rand.IntN(10) == 0 {
						m = query(fmt.Sprintf("UPDATE ks.t SET c = c + 1 WHERE k = %d", n))
					}
				}
				all[n].Begin()
				began := time.Now()
				if _, ok := send(m); ok {
					all[n].Acknowledge()
				}
				time.Sleep(time.Duration(rand.IntN(40))*time.Millisecond + 10*time.Since(began)) // there are times when nobody writes
			}
		})
	}
	for range 32 {
		running.Go(func() {
			for ctx.Err() == nil {
				n := rand.IntN(registers)
				level := []wire.Consistency{wire.One, wire.LocalOne, wire.One, wire.Quorum}[rand.IntN(4)]
				floor := all[n].Floor()
				if resp, ok := send(execute(readText, level, n)); ok {
					all[n].Check(t, fmt.Sprintf("partition %d at %v", n, level), floor, valueOf(t, resp))
				}
			}
		})
	}
	time.Sleep(2 * time.Second)
	stop()
	running.Wait()
	st := c.Stats()
	t.Logf("%+v", st)
	if st.Hits < 100 || st.Misses < 100 || st.Coalesced < 100 {
		t.Errorf("the test does not test much: %+v", st)
	}
}

// registerStore is a store of one table with a counter in each partition, which speaks as much of
// the protocol as the test does.
type registerStore struct {
	store.Store
	slow bool

	mu     sync.Mutex
	values [registers]int64
	asked  int   // EXECUTEs of readText
	ttl    int32 // default_time_to_live
	hold   chan struct{}
	sentTo []context.Context
}

func (s *registerStore) Open(context.Context, store.LinkOptions) (store.Link, error) {
	return registerLink{s}, nil
}

func (s *registerStore) Events(context.Context, func([]byte)) error { return nil }

type registerLink struct{ s *registerStore }

func (registerLink) Close() {}

func (l registerLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	body := append([]byte(nil), req.Body...)
	go func() {
		fails := l.pause(ctx)
		switch {
		case fails == 1:
			reply(failure(wire.CodeOverloaded))
			return
		case fails == 3 && req.Op != wire.OpPrepare: // a write is carried out later
			reply(failure(wire.CodeWriteTimeout))
			time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
			l.s.do(context.Background(), wire.Message{Op: req.Op, Body: body})
			return
		}
		resp := l.s.do(ctx, wire.Message{Op: req.Op, Body: body})
		if l.pause(ctx) == 2 && req.Op != wire.OpPrepare {
			resp = failure(wire.CodeWriteTimeout)
		}
		reply(resp)
	}()
}

// pause takes time; it returns 1, 2 or 3 now and then.
func (l registerLink) pause(ctx context.Context) int {
	if !l.s.slow {
		return 0
	}
	time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
	if ctx.Err() != nil {
		return 1
	}
	return rand.IntN(150)
}

func (s *registerStore) do(ctx context.Context, req wire.Message) wire.Message {
	switch req.Op {
	case wire.OpPrepare:
		p, _ := wire.ParsePrepare(wire.Highest, req.Body)
		id := idOf(string(p.Text))
		return wire.Message{Op: wire.OpResult, Body: wire.AppendPrepared(nil, wire.Highest, &wire.Prepared{ID: id, MetadataID: id, KeyIndexes: []uint16{0}, Result: wire.Metadata{Flags: wire.MetadataNone}})}
	case wire.OpQuery:
		q, _ := wire.ParseQuery(wire.Highest, req.Body)
		n := 0
		if _, err := fmt.Sscanf(string(q.Text), "UPDATE ks.t SET c = c + 1 WHERE k = %d", &n); err != nil {
			return rows(int64(s.ttl), 4)
		}
		return s.add(n)
	case wire.OpBatch:
		b, _ := wire.ParseBatch(wire.Highest, req.Body)
		it := b.Iter()
		it.Next()
		return s.add(keyIn(&it.Values))
	}
	e, _ := wire.ParseExecute(wire.Highest, req.Body)
	n := keyIn(&e.Params.Values)
	if string(e.ID) == string(idOf(writeText)) {
		return s.add(n)
	}
	s.mu.Lock()
	s.asked++
	s.sentTo = append(s.sentTo, ctx)
	value, hold := s.values[n], s.hold
	s.mu.Unlock()
	if hold != nil {
		<-hold
	}
	return rows(value, 8)
}

func (s *registerStore) add(n int) wire.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[n]++
	return wire.Message{Op: wire.OpResult, Body: wire.AppendVoid(nil)}
}

func failure(code wire.Code) wire.Message {
	return wire.Message{Op: wire.OpError, Body: wire.Errorf(code, "as asked").Append(nil, wire.Highest)}
}

// rows is a RESULT of one row with one cell of so many bytes.
func rows(value int64, size int) wire.Message {
	var b []byte
	for _, n := range []uint32{2, 4, 1, 1, uint32(size)} { // Rows, without metadata, one column, one row
		b = binary.BigEndian.AppendUint32(b, n)
	}
	cell := binary.BigEndian.AppendUint64(nil, uint64(value))
	return wire.Message{Op: wire.OpResult, Body: append(b, cell[8-size:]...)}
}

func valueOf(t *testing.T, resp wire.Message) int64 {
	if len(resp.Body) != 28 {
		t.Fatalf("%v %x", resp.Op, resp.Body)
	}
	return int64(binary.BigEndian.Uint64(resp.Body[20:]))
}

func idOf(text string) []byte { return append([]byte("0123456789"), text[:6]...) }

func keyIn(v *wire.Values) int {
	it := v.Iter()
	it.Next()
	return int(binary.BigEndian.Uint32(it.Bytes))
}

func values(n int) wire.Values {
	return wire.Values{Count: 1, Raw: wire.AppendBytes(nil, binary.BigEndian.AppendUint32(nil, uint32(n)))}
}

func execute(text string, level wire.Consistency, n int) wire.Message {
	e := wire.Execute{ID: idOf(text), MetadataID: idOf(text), Params: wire.Params{Consistency: level}}
	e.Params.SetValues(values(n))
	e.Params.SetDefaultTimestamp(rand.Int64())
	return wire.Message{Op: wire.OpExecute, Body: wire.AppendExecute(nil, wire.Highest, &e)}
}

func batch(text string, n int) wire.Message {
	b := wire.Batch{Count: 1, Raw: wire.AppendBatchStatement(nil, &wire.BatchStatement{Prepared: true, ID: idOf(text), Values: values(n)}), Params: wire.Params{Consistency: wire.One}}
	return wire.Message{Op: wire.OpBatch, Body: wire.AppendBatch(nil, wire.Highest, &b)}
}

func query(text string) wire.Message {
	q := wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.One}}
	return wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, wire.Highest, &q)}
}

func opened(t *testing.T, c *Cache, username string) store.Link {
	t.Helper()
	l, err := c.Open(t.Context(), store.LinkOptions{Version: wire.Highest, Keyspace: "ks", Username: username})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func prepare(t *testing.T, l store.Link, text string) {
	t.Helper()
	for {
		resp := ask(t.Context(), l, wire.Message{Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, wire.Highest, &wire.Prepare{Text: []byte(text)})})
		if resp.Op == wire.OpResult {
			return
		}
	}
}

// ask sends a request and waits for its response.
func ask(ctx context.Context, l store.Link, m wire.Message) wire.Message {
	done := make(chan wire.Message, 1)
	l.Send(ctx, m, func(resp wire.Message) {
		resp.Body = append([]byte(nil), resp.Body...)
		done <- resp
	})
	return <-done
}
