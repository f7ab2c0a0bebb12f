// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFixedTimesAtTheStatedRate checks 40 devices that send a row every 40 minutes, with times to the
// minute. A device and a minute tell the rows of the data apart. At 5,000 rows a second they do not:
// 300,000 rows come in a minute, so the advice says that 40 devices are too few.
func TestFixedTimesAtTheStatedRate(t *testing.T) {
	var data strings.Builder
	data.WriteString("device,ts,val\n")
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 6000 {
		fmt.Fprintf(&data, "d%d,%s,%d\n", i%40, first.Add(time.Duration(i)*time.Minute).Format("2006-01-02 15:04"), i*7919%300)
	}
	for rate, want := range map[string]bool{"1/min": false, "5000/s": true} {
		r := advisedFor(t, "SELECT * FROM m.r WHERE device = ? AND ts >= ? AND ts < ? -- 5/s\nINSERT INTO m.r (device, ts, val) VALUES (?, ?, ?) -- "+rate, data.String(), Options{})
		says := slices.ContainsFunc(r.Verdict.Reasons, func(reason string) bool {
			return strings.Contains(reason, "needs more values of device than the data have: 300,000 rows come in a step of ts, which is 60 seconds, and the data have at most 40.")
		})
		if says != want {
			t.Errorf("at %s: %s", rate, strings.Join(r.Verdict.Reasons, "\n"))
		}
	}
}

// TestUniqueBesideFixedTimes checks the same devices with a column whose values never repeat. It goes
// into the key where a device and a minute do not tell rows apart at the stated rate, and only there.
func TestUniqueBesideFixedTimes(t *testing.T) {
	var data strings.Builder
	data.WriteString("reading,device,ts,val\n")
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 6000 {
		fmt.Fprintf(&data, "r%x,d%d,%s,%d\n", uint32(i)*0x9e3779b1, i%40, first.Add(time.Duration(i)*time.Minute).Format("2006-01-02 15:04"), i*7919%300)
	}
	for rate, want := range map[string][]string{"1/min": {"ts"}, "5000/s": {"ts", "reading"}} {
		r := advisedFor(t, "SELECT * FROM m.r WHERE device = ? AND ts >= ? AND ts < ? -- 5/s\nINSERT INTO m.r (reading, device, ts, val) VALUES (?, ?, ?, ?) -- "+rate, data.String(), Options{})
		if !slices.Equal(r.Verdict.Clustering, want) || r.Verdict.PartitionKey[0] != "device" {
			t.Errorf("at %s: %v, %v; want %v", rate, r.Verdict.PartitionKey, r.Verdict.Clustering, want)
		}
	}
}

// TestFewRowsAtFixedTimes checks 500 devices that send twelve rows each, at fixed times. Their key needs no other
// column. It does if the rows come by chance.
func TestFewRowsAtFixedTimes(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 12))
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for regular, want := range map[bool][]string{true: {"ts"}, false: {"ts", "msg"}} {
		var data strings.Builder
		data.WriteString("msg,device,ts,val\n")
		for i := range 6000 {
			at, device := first.Add(time.Duration(i/500)*10*time.Minute+time.Duration(i%500)*100*time.Millisecond), i%500
			if !regular {
				at, device = first.Add(time.Duration(float64(i)*1.2*float64(time.Second))), draw.IntN(500)
			}
			fmt.Fprintf(&data, "m%x,d%d,%s,%d\n", uint32(i)*0x9e3779b1, device, at.Format("2006-01-02 15:04:05"), i*7919%300)
		}
		r := advisedFor(t, "SELECT * FROM m.r WHERE device = ? AND ts >= ? AND ts < ? -- 5/s\nINSERT INTO m.r (msg, device, ts, val) VALUES (?, ?, ?, ?) -- 50/min", data.String(), Options{})
		if !slices.Equal(r.Verdict.Clustering, want) {
			t.Errorf("regular %t: %v, want %v\n%s", regular, r.Verdict.Clustering, want, strings.Join(r.Verdict.Reasons, "\n"))
		}
	}
}

// TestHardlyMeet checks rows that come by chance, so seldom that none would meet in a year: the key needs no
// column that tells them apart. At a higher rate it does.
func TestHardlyMeet(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 12))
	var data strings.Builder
	data.WriteString("member,copy,at,desk\n")
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 8000 {
		at = at.Add(time.Duration(draw.ExpFloat64() * 3600 * float64(time.Second)))
		fmt.Fprintf(&data, "L%04d,%06d,%s,%d\n", draw.IntN(2000), draw.IntN(30_000), at.Format("2006-01-02 15:04:05"), draw.IntN(3))
	}
	for rate, want := range map[string]string{"1/h": "at", "50/s": "at, row_id"} {
		r := advisedFor(t, "SELECT * FROM lib.loans WHERE member = ? AND at >= ? AND at < ? -- 5/s\nINSERT INTO lib.loans (member, copy, at, desk) VALUES (?, ?, ?, ?) -- "+rate, data.String(), Options{})
		all := strings.Join(r.Verdict.Reasons, "\n")
		if got := strings.Join(r.Verdict.Clustering, ", "); got != want || strings.Contains(all, "less than once in ") != (want == "at") {
			t.Errorf("at %s: %s, want %s\n%s", rate, got, want, all)
		}
	}
}
