// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/read"
	"github.com/evenkeel/evenkeel/engine/cassandra"
	"github.com/evenkeel/evenkeel/engine/throughput"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// limitedScene is a table of 16 shards on an engine that keeps
// limits: so many read and write units a second of a table's one partition.
type limitedScene struct {
	*scene
	engine *cassandra.Engine
}

// passing is an engine whose clock stands still until it refuses something: however
// long a machine takes, no units come back meanwhile.
type passing struct {
	*cassandra.Engine
	by    time.Duration // which passes for each refusal
	nanos *atomic.Int64
}

func (p passing) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := p.Engine.Open(ctx, o)
	return passingLink{l, p}, err
}

type passingLink struct {
	store.Link
	of passing
}

func (l passingLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	l.Link.Send(ctx, req, func(resp wire.Message) {
		if resp.Op == wire.OpError {
			l.of.nanos.Add(int64(l.of.by))
		}
		reply(resp)
	})
}

func newLimitedScene(t *testing.T, limit throughput.Rate, by time.Duration) *limitedScene {
	t.Helper()
	begun, nanos := time.Now(), new(atomic.Int64)
	e, err := cassandra.Open(t.TempDir(), cassandra.Options{
		Capacity: &throughput.Limits{Partition: limit, Fresh: limit, SplitAfter: -1},
		Clock:    func() time.Time { return begun.Add(time.Duration(nanos.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	s := &limitedScene{newScene(t, passing{e, by, nanos}), e}
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".spread (p int, c int, v text, s int static, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '16'}")
	return s
}

// refused is how many requests were throttled.
func (s *limitedScene) refused() (n int64) {
	for _, of := range s.engine.Consumption() {
		for _, total := range []throughput.Total{of.Read, of.Write} {
			for _, x := range total.Throttled {
				n += x.Requests
			}
		}
	}
	return n
}

func isThrottled(a *difftest.Answer) bool {
	return a.Kind == difftest.Error && strings.Contains(a.Text, "received only 0 responses")
}

// A read of several shards waits for throttled shards, and then gives the same result as without
// throttling. A read of one shard gets the error.
func TestThrottledShardsAreAskedAgain(t *testing.T) {
	s := newLimitedScene(t, throughput.Rate{Read: 250, Write: 1e6}, 50*time.Millisecond)
	s.router.reads.RetryFor = time.Minute
	for i := range 96 {
		s.must(s.v5, fmt.Sprintf("INSERT INTO %s.spread (p, c, v) VALUES (%d, %d, '%s')", s.keyspace, i%2, i, strings.Repeat("x", 3000)))
	}
	s.must(s.v5, "INSERT INTO "+s.keyspace+".spread (p, s) VALUES (1, 7)")
	var all, back, few strings.Builder
	for i := range 48 {
		fmt.Fprintf(&all, "%d\n", 2*i)
		fmt.Fprintf(&back, "%d\n", 2*(47-i))
		if i < 7 {
			fmt.Fprintf(&few, "%d\n", 2*(i+11))
		}
	}
	for _, q := range []struct{ text, want string }{
		{"SELECT c FROM TABLE WHERE p = 0", all.String()},
		{"SELECT c FROM TABLE WHERE p = 0 ORDER BY c DESC", back.String()},
		{"SELECT c FROM TABLE WHERE p = 0 AND c > 20 LIMIT 7", few.String()},
		{"SELECT count(*), max(c) FROM TABLE WHERE p = 0", "48 94\n"},
		{"SELECT p, max(s) FROM TABLE WHERE p IN (0, 1) GROUP BY p", "0 null\n1 7\n"},
		{"SELECT count(*), min(p), max(p) FROM TABLE", "96 0 1\n"},
		{"SELECT p, count(c), max(s) FROM TABLE GROUP BY p", "0 48 null\n1 48 7\n"}, // in some order
		{"SELECT DISTINCT p FROM TABLE WHERE p IN (1, 0)", "0\n1\n"},
	} {
		text := strings.ReplaceAll(q.text, "TABLE", s.keyspace+".spread")
		before, asked := s.refused(), 0
		for s.refused() == before && asked < 200 {
			got := strings.SplitAfter(printed(s.query(s.v5, text)), "\n")
			if strings.HasSuffix(text, "GROUP BY p") {
				slices.Sort(got[:len(got)-1])
			}
			if got := strings.Join(got, ""); got != q.want {
				t.Fatalf("%s: %s\nnot %s", text, got, q.want)
			}
			asked++
		}
		if s.refused() == before {
			t.Errorf("%s: nothing was throttled", text)
		}
	}
	// The same where rows are read in steps.
	s.router.reads.Held = 20_000
	before := s.refused()
	if got := printed(s.paged(s.v5, "SELECT c, v FROM "+s.keyspace+".spread WHERE p = 0", 20)); strings.Count(got, "xxx\n") != 48 || s.refused() == before {
		t.Errorf("in steps: %d rows, %d throttled", strings.Count(got, "xxx\n"), s.refused()-before)
	}
	for range 1000 {
		if a := s.query(s.v5, "SELECT v FROM "+s.keyspace+".spread WHERE p = 0 AND c = 4"); isThrottled(a) {
			return
		} else if a.Kind == difftest.Error {
			t.Fatal(a.Text)
		}
	}
	t.Error("what is of one shard is never refused")
}

// If the door reads shards in a group, and they share a partition that has too few units for all of
// them at once, it must read all of them in the end. It must not read a shard again that it has
// read.
func TestThrottledGroupsComeToAnEnd(t *testing.T) {
	s := newLimitedScene(t, throughput.Rate{Read: 20, Write: 1e6}, 200*time.Millisecond)
	s.router.reads.RetryFor = time.Minute // were rows read again and again, there were never enough units
	for i := range 48 {
		s.must(s.v5, fmt.Sprintf("INSERT INTO %s.spread (p, c, v) VALUES (0, %d, '%s')", s.keyspace, i, strings.Repeat("x", 3000)))
	}
	for _, q := range []struct{ text, want string }{
		{"SELECT count(v) FROM TABLE WHERE p = 0", "48\n"},
		{"SELECT max(c), avg(c) FROM TABLE WHERE p = 0", "47 23\n"}, // of rows that are merged
		{"SELECT max(c), avg(c) FROM TABLE WHERE p = 0", "47 23\n"}, // now it is known what rows take
	} {
		if got := printed(s.query(s.v5, strings.ReplaceAll(q.text, "TABLE", s.keyspace+".spread"))); got != q.want {
			t.Fatalf("%s: %s", q.text, got)
		}
	}
}

// printed is an answer's rows, or its error.
func printed(a *difftest.Answer) string {
	if a.Kind == difftest.Error {
		return "error " + a.Text
	}
	var b strings.Builder
	for _, row := range a.Rows {
		for i, v := range row {
			if i > 0 {
				b.WriteByte(' ')
			}
			switch {
			case v == nil:
				b.WriteString("null")
			case len(v) == 4 || len(v) == 8:
				n := int64(0)
				for _, x := range v {
					n = n<<8 | int64(x)
				}
				fmt.Fprint(&b, n)
			default:
				b.Write(v)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// When its time is over, a read gets the store's error. The door sends no more requests for a
// client that has disconnected.
func TestRetryEnds(t *testing.T) {
	s := newLimitedScene(t, throughput.Rate{Read: 5, Write: 1e6}, 0)
	for i := range 30 {
		s.must(s.v5, fmt.Sprintf("INSERT INTO %s.spread (p, c, v) VALUES (0, %d, '%s')", s.keyspace, i, strings.Repeat("x", 40_000)))
	}
	text := "SELECT c FROM " + s.keyspace + ".spread WHERE p = 0"
	s.router.reads.RetryFor = 200 * time.Millisecond
	var a *difftest.Answer
	for range 20 {
		if a = s.query(s.v5, text); a.Kind == difftest.Error {
			break
		}
	}
	if a = s.query(s.v5, text); !isThrottled(a) || a.Code != primitive.ErrorCodeReadTimeout {
		t.Fatalf("%v %s", a.Code, a.Text)
	}
	s.router.reads.RetryFor = -1
	before := s.refused()
	if a = s.query(s.v5, "SELECT count(*) FROM "+s.keyspace+".spread WHERE p = 0"); !isThrottled(a) {
		t.Errorf("%s", a.Text)
	}
	if n := s.refused() - before; n > 16 {
		t.Errorf("it is asked again: %d", n)
	}

	s.router.reads.RetryFor = time.Hour
	c := plainClient(t, serveDoor(t, s.store, s.router))
	c.send(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.One}}))
	before = s.refused()
	for deadline := time.Now().Add(patience); s.refused() < before+5; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the throttled shards are not asked again")
		}
	}
	c.nc.Close()
	for deadline := time.Now().Add(patience); ; {
		before = s.refused()
		time.Sleep(3 * read.LongestWait / 2)
		if s.refused() == before {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the shards are asked for a client that is gone")
		}
	}
}

// TestThrottledWritesAreNotRepeated checks that the door sends a throttled write only once. The store
// may have carried out a part of it.
func TestThrottledWritesAreNotRepeated(t *testing.T) {
	s := newLimitedScene(t, throughput.Rate{Read: 1e6, Write: 5}, 0)
	s.router.reads.RetryFor = time.Hour
	for _, text := range []string{
		"DELETE FROM TABLE WHERE p = 0",
		"UPDATE TABLE SET v = 'x' WHERE p = 0 AND c IN (1, 2, 3, 4, 5, 6, 7, 8)",
		"INSERT INTO TABLE (p, c) VALUES (0, 1)",
	} {
		text = strings.ReplaceAll(text, "TABLE", s.keyspace+".spread")
		var a *difftest.Answer
		for range 50 {
			if a = s.query(s.v5, text); a.Kind == difftest.Error {
				break
			}
		}
		if !isThrottled(a) || a.Code != primitive.ErrorCodeWriteTimeout {
			t.Errorf("%s: %v %s", text, a.Code, a.Text)
		}
	}
}
