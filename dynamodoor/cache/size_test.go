// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// fixed is a store whose items have a value of a fixed size.
type fixed struct{ value string }

func (fixed) Has(string) bool { return true }

func (f fixed) Do(_ context.Context, operation string, _, dst []byte) ([]byte, error) {
	if operation == "DescribeTimeToLive" {
		return append(dst, `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`...), nil
	}
	return append(append(append(dst, `{"Item":{"v":{"S":"`...), f.value...), `"}}}`...), nil
}

// TestSize checks that the cache takes no more memory than Size, whatever the size of items.
func TestSize(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const size = 4 << 20
	for _, bytes := range []int{0, 30, 1000, 100_000} {
		before := heap()
		c, err := New(Options{Store: fixed{strings.Repeat("x", bytes)}, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 * size / (bytes + 400) {
			body := fmt.Sprintf(`{"TableName":"Tab","Key":{"k":{"S":"key %d"}}}`, i)
			for range 2 { // the cache need not keep an item that was asked for only once
				if _, err := c.Do(t.Context(), "GetItem", []byte(body), nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		c.entries.CleanUp()
		took, s := heap()-before, c.Stats()
		t.Logf("items of %d bytes: %.2f of Size, by its own count %.2f, %d entries", bytes, float64(took)/size, float64(s.Bytes)/size, s.Entries)
		if took > size*105/100 || s.Bytes > size {
			t.Errorf("items of %d bytes: the cache takes %d bytes, and counts %d, of %d", bytes, took, s.Bytes, size)
		}
		if s.Bytes < size*8/10 || s.Evicted == 0 {
			t.Errorf("items of %d bytes: the cache is not full: %+v", bytes, s)
		}
		runtime.KeepAlive(c)
	}
}

func TestOptions(t *testing.T) {
	for what, o := range map[string]Options{
		"no store":        {Size: MinSize},
		"too small":       {Store: fixed{}, Size: MinSize - 1},
		"a negative time": {Store: fixed{}, Size: MinSize, TTL: -time.Second},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if c, err := New(Options{Store: fixed{}, Size: MinSize}); err != nil || !c.Has("GetItem") {
		t.Error(err)
	}
}

// TestHitsDoNotAllocate checks that a hit allocates nothing.
func TestHitsDoNotAllocate(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	ctx, dst := as("a"), make([]byte, 0, 4096)
	for _, r := range []struct {
		operation, body string
		most            float64
	}{{"GetItem", getBody(), 0}, {"GetItem", getBody(`,"ReturnConsumedCapacity":"TOTAL"`), 0}} {
		body := []byte(r.body)
		run := func() {
			if _, err := x.Do(ctx, r.operation, body, dst); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if n := testing.AllocsPerRun(1000, run); n > r.most && !raceDetector {
			t.Errorf("%s %s: %v allocations", r.operation, r.body, n)
		}
	}
}

// BenchmarkGetItem compares a hit with the engine's GetItem, and measures the additional cost of a
// miss and of a write.
func BenchmarkGetItem(b *testing.B) {
	x := start(b)
	x.do("PutItem", putBody(strings.Repeat("x", 1000)))
	x.do("GetItem", getBody())
	ctx, dst := as("a"), make([]byte, 0, 4096)
	body, consistent := []byte(getBody()), []byte(getBody(`,"ConsistentRead":true`))
	put := []byte(putBody(strings.Repeat("x", 1000)))
	miss := &fixed{strings.Repeat("x", 1000)}
	cold, err := New(Options{Store: miss, Size: MinSize, Settle: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := cold.Do(ctx, "UpdateItem", []byte(`{"TableName":"Tab","Key":`+keyOf(1)+`}`), nil); err != nil {
		b.Fatal(err) // after this, the cache does not keep the item for an hour
	}
	for _, c := range []struct {
		name, operation string
		body            []byte
		store           Store
	}{
		{"hit", "GetItem", body, x.Cache},
		{"engine", "GetItem", body, x.store.Store},
		{"passed-on", "GetItem", consistent, x.Cache},
		{"miss-of-nothing", "GetItem", body, cold},
		{"nothing", "GetItem", body, miss},
		{"put", "PutItem", put, x.Cache},
		{"put-engine", "PutItem", put, x.store.Store},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.store.Do(ctx, c.operation, c.body, dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkQuery measures the additional cost of the cache for a query that nobody shares.
func BenchmarkQuery(b *testing.B) {
	x := start(b)
	for n := range 100 {
		x.do("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"a"},"n":{"N":"%d"},"v":{"S":"%s"}}}`, n, strings.Repeat("x", 700)))
	}
	ctx, dst, body := as("a"), make([]byte, 0, 256<<10), []byte(queryBody+"}")
	for name, store := range map[string]Store{"passed-on": x.Cache, "engine": x.store.Store} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := store.Do(ctx, "Query", body, dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
