// SPDX-License-Identifier: Apache-2.0

package rows

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func source(t testing.TB, text string) *Source {
	t.Helper()
	src, err := Open("-", Options{Stdin: strings.NewReader(text), Again: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(src.Close)
	return src
}

// TestScanInParallel checks that many goroutines pass each row once. Batches are numbered in the
// order of the data, and the first bad rows are the same, whichever were read first.
func TestScanInParallel(t *testing.T) {
	defer goleak.VerifyNone(t)
	const n = 60_000
	var b strings.Builder
	b.WriteString("i,text\n")
	bad := 0
	for i := range n {
		switch {
		case i%20_011 == 5000:
			b.WriteString("only one\n")
			bad++
		case i%3 == 0:
			fmt.Fprintf(&b, "%d,\"two\nlines, %d\"\n", i, i)
		default:
			fmt.Fprintf(&b, "%d,%s\n", i, strings.Repeat("x", i%50))
		}
	}
	src := source(t, b.String())
	for _, workers := range []int{1, 2, 7} {
		var mu sync.Mutex
		seen := make(map[string]bool)
		var seqs []int
		var told atomic.Int64
		scanned, err := src.Scan(t.Context(), ScanOptions{Workers: workers, MaxBadRows: 10, Progress: func(_, rows int64) { told.Store(rows) }}, func(worker int, b *Batch) error {
			mu.Lock()
			defer mu.Unlock()
			if worker < 0 || worker >= workers {
				t.Errorf("worker %d", worker)
			}
			seqs = append(seqs, b.Seq)
			for i := range b.N {
				seen[string(b.Columns[0].Bytes(i))] = true
			}
			return nil
		})
		if err != nil || int(scanned.Rows) != n-bad || len(seen) != n-bad || int(scanned.Bad) != bad || told.Load() != n {
			t.Fatalf("%d workers: %+v, %d rows seen, %d told, %v", workers, scanned, len(seen), told.Load(), err)
		}
		slices.Sort(seqs)
		for i, s := range seqs {
			if i != s {
				t.Fatalf("batch %d is missing", i)
			}
		}
		if !slices.IsSortedFunc(scanned.First, func(a, b BadRow) int { return a.Line - b.Line }) || len(scanned.Shown()) != bad {
			t.Errorf("%v", scanned.First)
		}
		if _, err := src.Scan(t.Context(), ScanOptions{Workers: workers}, func(int, *Batch) error { return nil }); err == nil || err.Error() != "standard input:6669: 1 field where the header has 2" {
			t.Errorf("%d workers: %v", workers, err)
		}
		stop := errors.New("enough")
		if _, err := src.Scan(t.Context(), ScanOptions{Workers: workers, MaxBadRows: 10}, func(int, *Batch) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// TestDrop checks that a row that the caller drops is a bad row.
func TestDrop(t *testing.T) {
	src := source(t, "a\n1\n2\n3\n")
	scanned, err := src.Scan(t.Context(), ScanOptions{MaxBadRows: 1}, func(_ int, b *Batch) error {
		b.Drop(1, "is even")
		b.Drop(1, "is even")
		return nil
	})
	if err != nil || scanned.Rows != 2 || scanned.Bad != 1 || scanned.Shown()[0] != "standard input:3: is even" {
		t.Errorf("%+v, %v", scanned, err)
	}
}

func TestScanDoesNotAllocate(t *testing.T) {
	for name, row := range map[string]string{
		"CSV":        "10,1010,9927a129-abed-4903-85b4-01e3129814d5\n",
		"quoted CSV": "\"10\",\"10\"\"10\",\"9927a129-abed-4903-85b4-01e3129814d5\"\n",
		"JSON":       `{"a":10,"b":"10\n10","c":"9927a129-abed-4903-85b4-01e3129814d5","d":{"e":[1,null]}}` + "\n",
	} {
		const n = 50_000
		head := "a,b,c\n"
		if name == "JSON" {
			head = ""
		}
		src := source(t, head+strings.Repeat(row, n))
		a := testing.AllocsPerRun(3, func() {
			if s, err := src.Scan(t.Context(), ScanOptions{Workers: 1}, func(int, *Batch) error { return nil }); err != nil || s.Rows != n {
				t.Fatalf("%+v, %v", s, err)
			}
		})
		if a/n > 0.005 {
			t.Errorf("%s: %v allocations a row", name, a/n)
		}
	}
}
