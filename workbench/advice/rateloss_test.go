// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLossesAtTheRateRank draws devices that write at a low rate, and states a higher one. The key of
// device and time loses next to nothing of the data. The test draws rows at the stated rate, counts those
// that overwrite others, and compares. The key must be listed behind one that loses none.
func TestLossesAtTheRateRank(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 8))
	for draw := range 6 {
		devices, rate := 20+r.IntN(200), 500+r.IntN(6000)
		pick := func() int { return min(r.IntN(devices), r.IntN(devices)) } // some write more than others
		var data strings.Builder
		data.WriteString("device,at,temp\n")
		at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		for range 8000 {
			at = at.Add(time.Duration(r.ExpFloat64() * 20 * float64(time.Second)))
			fmt.Fprintf(&data, "d%d,%s,%.1f\n", pick(), at.Format("2006-01-02T15:04:05.000Z"), r.Float64()*40)
		}
		rep := advisedOf(t, fmt.Sprintf("SELECT * FROM iot.readings WHERE device = ? AND at >= ? AND at < ? -- 50/s\nINSERT INTO iot.readings (device, at, temp) VALUES (?, ?, ?) -- %d/s", rate), data.String())
		seen, lost := make(map[string]bool), 0.0
		const minutes = 1
		ms := 0.0
		for ms < minutes*60_000 {
			ms += r.ExpFloat64() * 1000 / float64(rate)
			key := fmt.Sprint(pick(), " ", int(ms))
			if seen[key] {
				lost++
			}
			seen[key] = true
		}
		lost *= 1440 / minutes
		i := slices.IndexFunc(rep.Candidates, func(c Candidate) bool {
			return slices.Equal(c.PartitionKey, []string{"device"}) && slices.Equal(c.Clustering, []string{"at"}) && c.TimeBucket == ""
		})
		switch {
		case i < 0:
			t.Errorf("draw %d: the bare key is not listed", draw)
		case rep.Candidates[i].Loss == nil || i == 0:
			t.Errorf("draw %d: the bare key is %d. and loses %+v", draw, i+1, rep.Candidates[i].Loss)
		case rep.Candidates[i].Loss.PerDay < 0.85*lost || rep.Candidates[i].Loss.PerDay > 1.15*lost:
			t.Errorf("draw %d: %+v rows lost a day, want %.0f", draw, rep.Candidates[i].Loss, lost)
		case rep.Candidates[i].RowsLost == 0 && !strings.Contains(rep.Candidates[i].WhyLost, "would lose "):
			t.Errorf("draw %d: lost because it %s", draw, rep.Candidates[i].WhyLost)
		}
		if rep.Candidates[0].Loss != nil {
			t.Errorf("draw %d: the best loses %+v", draw, rep.Candidates[0].Loss)
		}
	}
}

// TestLossesOfCrowdedKeys checks losses where many rows come for each key and step of time: all but the last
// are lost, and no more.
func TestLossesOfCrowdedKeys(t *testing.T) {
	draw := rand.New(rand.NewPCG(9, 4))
	for _, meters := range []int{60, 700, 5000} { // the report knows fewer keys one by one than the last two
		var data strings.Builder
		data.WriteString("meter,at,plate\n")
		at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		for range 20_000 {
			at = at.Add(time.Duration(draw.ExpFloat64() * 120 * float64(time.Second)))
			fmt.Fprintf(&data, "m%d,%s,p%d\n", draw.IntN(meters), at.Format("2006-01-02 15:04"), draw.IntN(900))
		}
		const rate = 400.0
		r := advisedOf(t, fmt.Sprintf("SELECT * FROM c.parking WHERE meter = ? AND at >= ? AND at < ? -- 50/s\nINSERT INTO c.parking (meter, at, plate) VALUES (?, ?, ?) -- %g/s", rate), data.String())
		i := slices.IndexFunc(r.Antipatterns, func(a Antipattern) bool { return a.Name == "collision" && a.Loss != nil })
		if i < 0 {
			t.Fatalf("%d meters: no collision: %+v", meters, r.Antipatterns)
		}
		mean := rate * 60 / float64(meters) // rows of a meter and minute
		want := (rate*60 - float64(meters)*(1-math.Exp(-mean))) * 1440
		if got := r.Antipatterns[i].Loss; math.Abs(got.PerDay-want) > 0.005*want || got.High > rate*86400 {
			t.Errorf("%d meters: %+v rows lost a day, want %.0f", meters, got, want)
		}
	}
}
