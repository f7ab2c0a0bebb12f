// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// crowd is a file with more users than any sketch has memory for, as CSV or as JSON Lines. Its last
// rows have columns that the first rows do not have.
func crowd(t *testing.T, file string, rows int) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(7, 7))
	var b strings.Builder
	lines := strings.HasSuffix(file, ".jsonl")
	if !lines {
		b.WriteString("id,user,level,at,note\n")
	}
	for i := range rows {
		user := int(float64(rows) * rnd.Float64() * rnd.Float64() * rnd.Float64())
		level, at := []string{"INFO", "INFO", "WARN", "ERROR"}[rnd.IntN(4)], fmt.Sprintf("2024-03-%02dT%02d:%02d:%02d.%03dZ", 1+i*28/rows, rnd.IntN(24), rnd.IntN(60), rnd.IntN(60), rnd.IntN(1000))
		if lines {
			late := ""
			if i > rows/2 {
				late = fmt.Sprintf(`,"late%d":%d`, rnd.IntN(5), i)
			}
			fmt.Fprintf(&b, `{"id":"%08x","user":"u%d","level":"%s","at":"%s"%s}`+"\n", rnd.Uint32(), user, level, at, late)
		} else {
			fmt.Fprintf(&b, "%08x,u%d,%s,%s,%s\n", rnd.Uint32(), user, level, at, strings.Repeat("x", rnd.IntN(40)))
		}
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSameBytes runs commands several times, with several numbers of processors. Their output must
// be the same, byte for byte.
func TestSameBytes(t *testing.T) {
	dir := t.TempDir()
	for name, rows := range map[string]int{"rows.csv": 100_000, "rows.jsonl": 60_000} {
		crowd(t, filepath.Join(dir, name), rows)
	}
	t.Chdir(dir)
	if err := os.WriteFile("queries.txt", []byte("SELECT * FROM log WHERE user = ? AND at > ? LIMIT 50 -- 300/s\nSELECT * FROM log WHERE id = ? -- 20/s\nSELECT * FROM log WHERE level = ? AND at > ? -- 1/s\nINSERT INTO log (id, user, level, at) VALUES (?, ?, ?, ?) -- 4k/s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, args := range []string{
		"advise rows.csv --queries queries.txt --html page.html",
		"advise rows.csv --queries queries.txt --target dynamodb --json",
		"advise rows.jsonl --queries queries.txt --json",
		"simulate rows.csv --key user,level --key hour(at) --key user,rollover(100) --uniformity --json",
	} {
		var want []byte
		for _, processors := range []int{1, 2, 5, 3} {
			runtime.GOMAXPROCS(processors)
			var out, errs bytes.Buffer
			if code := run(strings.Fields(args), &out, &errs); code != 0 {
				t.Fatalf("%s: %d %s", args, code, errs.String())
			}
			if strings.Contains(args, "page.html") {
				page, err := os.ReadFile("page.html")
				if err != nil {
					t.Fatal(err)
				}
				out.Write(page)
			}
			switch {
			case want == nil:
				want = out.Bytes()
			case !bytes.Equal(want, out.Bytes()):
				at := 0
				for at < min(len(want), out.Len()) && want[at] == out.Bytes()[at] {
					at++
				}
				t.Errorf("%s: with %d processors, at byte %d: %.200q, else %.200q", args, processors, at, out.Bytes()[max(0, at-80):], want[max(0, at-80):])
			}
		}
	}
}
