// SPDX-License-Identifier: Apache-2.0

package syntax_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/syntax"
)

// TestParsed parses long texts of short tokens. What the tokens and the tree take stays within
// Parsed bytes for each byte of the text.
func TestParsed(t *testing.T) {
	const n = 1 << 20
	for what, text := range map[string]string{
		"list":      "SELECT * FROM t WHERE a IN (" + strings.Repeat("1,", n/2) + "1)",
		"selectors": "SELECT a" + strings.Repeat(",a", n/2) + " FROM t",
		"sum":       "SELECT a" + strings.Repeat("+a", n/2) + " FROM t",
		"tuple":     "CREATE TYPE t (a tuple<a" + strings.Repeat(",a", n/2) + ">)",
		"order":     "SELECT * FROM t WHERE a = 1 ORDER BY a" + strings.Repeat(",a", n/2),
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		tree, err := syntax.Parse(text)
		if err != nil {
			t.Fatal(what, err)
		}
		runtime.ReadMemStats(&after)
		made := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(text))
		runtime.GC()
		runtime.ReadMemStats(&after)
		kept := float64(after.HeapAlloc-before.HeapAlloc) / float64(len(text))
		runtime.KeepAlive(tree)
		t.Logf("%s: %.0f bytes allocated for each byte, %.0f kept", what, made, kept)
		const tokens = 16 // of one byte each
		if kept+tokens > syntax.Parsed {
			t.Errorf("%s: the tree takes %.0f bytes for each byte", what, kept)
		}
	}
}
