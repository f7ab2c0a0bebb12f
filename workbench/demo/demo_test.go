// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// TestDemo checks that the demo shows what the model of limits expects: per second, each table
// takes the sum over its partitions of what they are offered, up to 1,000 each.
func TestDemo(t *testing.T) {
	d, err := New(Options{Seconds: 4, Speed: -1})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r, err := d.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s, speed %.2f", time.Since(began), r.Speed)
	for _, tb := range r.Tables {
		t.Logf("%-22s %d/%d partitions %7.0f/s of %7.0f expected, p50 %.3f p99 %.3f %v\n%v %+v", tb.Title, tb.Occupied, tb.Partitions, tb.PerSecond, tb.Expected, tb.P50, tb.P99, tb.Reasons, tb.Words, tb.Map)
	}
	if len(r.Tables) != 4 || !r.Done || r.Partial || !r.Same || r.Queried != 4 {
		t.Fatalf("%+v", r)
	}
	for i, tb := range r.Tables {
		if tb.Offered != 4*5000 || tb.Accepted+tb.Throttled != tb.Offered || tb.State != Over || len(tb.Course) != 4+warmUp {
			t.Errorf("%s: %+v", tb.Title, tb)
		}
		if math.Abs(tb.PerSecond/tb.Expected-1) > 0.05 {
			t.Errorf("%s: %.0f a second, expected are %.0f", tb.Title, tb.PerSecond, tb.Expected)
		}
		shards := 0
		for _, p := range tb.Map {
			shards += len(p.Shards)
		}
		if shards != tb.Shards || tb.Occupied != len(tb.Map) {
			t.Errorf("%s: %d shards on the map: %+v", tb.Title, shards, tb.Map)
		}
		if tb.Query.Client1 != ofClient1 || tb.Query.Client10 != ofClient10 || tb.Query.Exact != ofClient1 || !slices.IsSorted(tb.Query.Items) {
			t.Errorf("%s: %+v", tb.Title, tb.Query)
		}
		if i > 0 && tb.PerSecond <= r.Tables[i-1].PerSecond {
			t.Errorf("%s is no better than the one before", tb.Title)
		}
	}
	plain, cold, warm, best := r.Tables[0], r.Tables[1], r.Tables[2], r.Tables[3]
	if math.Abs(plain.PerSecond-1000) > 20 || plain.Reasons["TableWriteKeyRangeThroughputExceeded"] != plain.Throttled {
		t.Errorf("unsharded: %+v", plain)
	}
	if cold.Shards != 5 || cold.Partitions != 4 || math.Abs(cold.Chance-3.05) > 0.01 || math.Abs(cold.PerSecond-1000*float64(cold.Occupied)) > 50*float64(cold.Occupied) {
		t.Errorf("cold: %+v", cold)
	}
	if warm.Partitions != 40 || warm.Occupied != 5 || warm.PerSecond < 4750 || warm.Throttled == 0 {
		t.Errorf("pre-warmed: %+v", warm)
	}
	if best.Shards != r.Recommended || best.Shards <= 5 || best.Throttled > 5 {
		t.Errorf("recommended: %+v", best)
	}
}

// TestDemoIsTheSame checks that the same demo gives the same counts.
func TestDemoIsTheSame(t *testing.T) {
	var all []Result
	for range 2 {
		d, err := New(Options{Rate: 2500, Seconds: 1, Speed: -1})
		if err != nil {
			t.Fatal(err)
		}
		r, err := d.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	for i := range all[0].Tables {
		a, b := all[0].Tables[i], all[1].Tables[i]
		if a.Accepted != b.Accepted || !slices.Equal(a.Course, b.Course) {
			t.Errorf("%s: %v, %v", a.Title, a.Course, b.Course)
		}
	}
}

// TestDemoInterrupted checks that an interrupted demo is marked as partial, and has what was
// counted. Writing takes no time of the test's clock, so that the demo's clock runs as fast as
// asked.
func TestDemoInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := New(Options{Seconds: 4, Speed: 2})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond) // five seconds of the demo's clock
		defer cancel()
		began := time.Now()
		r, err := d.Run(ctx)
		if err != nil || !r.Partial || r.Why != "interrupted" || !r.Done {
			t.Errorf("%v: %+v", err, r)
		}
		if tb := r.Tables[0]; tb.Offered == 0 || tb.State == Over || len(tb.Words) == 0 || tb.Occupied != 1 {
			t.Errorf("%+v", tb)
		}
		if took := time.Since(began); took != 2500*time.Millisecond {
			t.Errorf("it ended after %s", took)
		}
		if math.Abs(r.Speed-2) > 0.01 {
			t.Errorf("speed %.2f", r.Speed)
		}
	})
}

// TestItem checks that items are as large as the demo says.
func TestItem(t *testing.T) {
	body := item(nil, "T", "Client7-00000042")
	text := body[len(`{"TableName":"T","Item":`) : len(body)-1]
	it, err := new(attribute.Decoder).Item(text)
	if err != nil || it.Size() != itemBytes {
		t.Errorf("%v: %d bytes", err, it.Size())
	}
}
