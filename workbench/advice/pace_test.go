// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestChange checks that the rate of a course changes at the right part; chance, or a change for a
// while, is no change.
func TestChange(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for draw := range 100 {
		even, faster, while := make([]int64, timeParts), make([]int64, timeParts), make([]int64, timeParts)
		from := 30 + r.IntN(70)
		for range 5000 {
			even[r.IntN(timeParts)]++
			faster[r.IntN(timeParts)]++
			while[r.IntN(timeParts)]++
		}
		for range 3 * 5000 * (timeParts - from) / timeParts {
			faster[from+r.IntN(timeParts-from)]++
		}
		for range 1500 {
			while[from+r.IntN(8)]++
		}
		if at, _, _ := change(even); at != 0 {
			t.Errorf("draw %d: of an even course a change at %d", draw, at)
		}
		if at, _, _ := change(while); at != 0 {
			t.Errorf("draw %d: of a while a change at %d", draw, at)
		}
		if at, before, after := change(faster); at < from-2 || at > from+2 || after/before < 3.5 || after/before > 4.5 {
			t.Errorf("draw %d: four times as fast from %d: %.1f to %.1f at %d", draw, from, before, after, at)
		}
	}
}

// TestVariesWithinAll checks that a key that has all rows of its time has no more than all, and that
// one second is no "seconds".
func TestVariesWithinAll(t *testing.T) {
	r := advised(t, "INSERT INTO l.tickets (draw, serial, bought) VALUES (?, ?, ?) -- 2500/s\nSELECT * FROM l.tickets WHERE draw = ? AND serial = ? -- 400/s\nSELECT * FROM l.tickets WHERE draw = ? AND bought >= ? -- 9/s", "draw,serial,bought", func(i int, at time.Time) string {
		return fmt.Sprintf("L%d,%x,%s", i/4000, uint64(i)*0x9e3779b97f4a7c15, at.Truncate(time.Second).Format(time.RFC3339))
	})
	varies := false
	for _, p := range r.Antipatterns {
		varies = varies || p.Name == "load varies"
		if strings.Contains(p.Evidence, "1 seconds") {
			t.Errorf("%s: %s", p.Name, p.Evidence)
		}
		for _, part := range strings.Split(p.Evidence, "(")[1:] {
			low, high := 0.0, 0.0
			if _, err := fmt.Sscanf(part, "%f%% to %f%%", &low, &high); err == nil && high > 100 {
				t.Errorf("%s: %s", p.Name, p.Evidence)
			}
		}
	}
	if !varies {
		t.Errorf("no load that varies: %+v", r.Antipatterns)
	}
}

// TestHottestSinceTheChange checks that the hottest key is the one that has most rows since the rate
// changed: another key was hotter before, and has more rows in all.
func TestHottestSinceTheChange(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for draw := range 4 {
		share, keys := 0.08+0.1*r.Float64(), 100+r.IntN(200)
		var data strings.Builder
		data.WriteString("device,at,seq\n")
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		of := map[string]float64{}
		since := 0.0
		const before, all = 12_000, 24_000
		for i := range all {
			at := begin.Add(time.Duration(i) * 10 * time.Minute)
			if i >= before { // ten times as fast
				at = begin.Add(before*10*time.Minute + time.Duration(i-before)*time.Minute)
			}
			device := fmt.Sprint("d", r.IntN(keys))
			switch x := r.Float64(); {
			case i < before && x < 4*share:
				device = "old"
			case i >= before && x < share:
				device = "new"
			}
			if i >= before {
				of[device]++
				since++
			}
			fmt.Fprintf(&data, "%s,%s,%d\n", device, at.Format(time.RFC3339), i)
		}
		rep := advisedFor(t, "PutItem device, at, seq -- 900/s\nQuery device = :d AND at > :a -- 90/s", data.String(), Options{Target: DynamoDB})
		if rep.Changed == nil {
			t.Fatalf("draw %d: no change", draw)
		}
		want := of["new"] / since
		if h := rep.Candidates[0].Heat; h.Share < want*0.97 || h.Share > want*1.03 {
			t.Errorf("draw %d: the hottest has %.3f of the writes, want %.3f: %s", draw, h.Share, want, h.Why)
		}
	}
}
