// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestLanes checks that the lane of each batch is the same with any number of goroutines. The
// batches of a lane come in order, one at a time, even if goroutines are delayed.
func TestLanes(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range 200_000 {
		fmt.Fprintf(&text, "%d,some text to fill a piece\n", i)
	}
	var want []string
	for _, workers := range []int{1, 2, 3, 7} {
		s := source(t, text.String())
		const lanes = 3
		var mu sync.Mutex
		got, last, busy := []string{}, [lanes]int{-1, -1, -1}, [lanes]bool{}
		rnd := rand.New(rand.NewPCG(uint64(workers), 1))
		scanned, err := s.Scan(t.Context(), ScanOptions{Workers: workers, Lanes: lanes}, func(lane int, b *Batch) error {
			mu.Lock()
			if busy[lane] || b.Seq <= last[lane] {
				t.Errorf("%d workers: lane %d gets batch %d behind %d, busy %v", workers, lane, b.Seq, last[lane], busy[lane])
			}
			busy[lane], last[lane] = true, b.Seq
			for len(got) <= b.Seq {
				got = append(got, "")
			}
			got[b.Seq] = fmt.Sprint(lane, b.N)
			pause := time.Duration(rnd.IntN(3)) * time.Millisecond
			mu.Unlock()
			time.Sleep(pause)
			mu.Lock()
			busy[lane] = false
			mu.Unlock()
			return nil
		})
		if err != nil || scanned.Rows != 200_000 {
			t.Fatalf("%d rows, %v", scanned.Rows, err)
		}
		if want == nil {
			want = got
		}
		if len(want) < 10 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d workers: batches %v, with one %v", workers, got, want)
		}
	}
}

// TestLanesEnd checks that a scan with lanes ends at a batch that fails, even if goroutines wait
// for the batch's lane.
func TestLanesEnd(t *testing.T) {
	text := "a\n" + strings.Repeat("some text to fill a piece\n", 200_000)
	for i := range 60 {
		at := i % 6
		s := source(t, text)
		_, err := s.Scan(t.Context(), ScanOptions{Workers: 5, Lanes: 2}, func(_ int, b *Batch) error {
			if b.Seq == at {
				return fmt.Errorf("batch %d", at)
			}
			return nil
		})
		if err == nil || err.Error() != fmt.Sprint("batch ", at) {
			t.Errorf("batch %d fails: %v", at, err)
		}
	}
}

// TestColumnsBeyondTheHead reads JSON Lines whose later lines have columns that the first
// lines lack. The order of these columns does not depend on which goroutine met one first.
func TestColumnsBeyondTheHead(t *testing.T) {
	var text strings.Builder
	for range 60_000 {
		text.WriteString(`{"a":"some text to fill the head of a file"}` + "\n")
	}
	for _, name := range []string{"z", "m", "c", "k"} {
		for range 30_000 {
			fmt.Fprintf(&text, `{"a":"some text to fill a piece","%s":1}`+"\n", name)
		}
	}
	for range 3 {
		s := source(t, text.String())
		if _, err := s.Scan(t.Context(), ScanOptions{Workers: 4}, func(int, *Batch) error { return nil }); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range s.Columns() {
			names = append(names, c.Name)
		}
		if strings.Join(names, "") != "ackmz" {
			t.Errorf("columns %v", names)
		}
	}
}
