// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// TestNestedCallsAreLinear checks that deep nesting costs little. To resolve one call, the analyzer
// asks its arguments about every overload, and they ask their own arguments. It caches the answers.
func TestNestedCallsAreLinear(t *testing.T) {
	s := loadSchema(t, "testdata/schema.cql")
	for name, text := range map[string]string{
		"sum in a term":      "INSERT INTO coll (k, n) VALUES (1, 1" + strings.Repeat(" + 1", 40) + ")",
		"sum in a selection": "SELECT v" + strings.Repeat(" + b", 40) + " FROM one",
		"calls in a term":    "INSERT INTO coll (k, n) VALUES (1, " + strings.Repeat("abs(", 30) + "1" + strings.Repeat(")", 30) + ")",
		"lists":              "INSERT INTO coll (k, n) VALUES (1, " + strings.Repeat("[", 30) + strings.Repeat("]", 30) + ")",
	} {
		stmt, err := syntax.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if a, err := Analyze(stmt, s, keyspace); err == nil {
				if w, ok := a.(*Write); ok {
					_, _ = w.Bind(&eval.Env{})
				}
			}
		}()
		select {
		case <-done:
		case <-time.After(2 * time.Minute): // without the cache, the work of microseconds would take 2³⁰ times as long
			t.Fatalf("%s does not end", name)
		}
	}
}

// TestLongSumsDoNotOverflowTheStack checks sums of many terms, which are deep trees.
func TestLongSumsDoNotOverflowTheStack(t *testing.T) {
	s := loadSchema(t, "testdata/schema.cql")
	for _, text := range []string{
		"INSERT INTO coll (k, n) VALUES (1, 1" + strings.Repeat("+1", 400000) + ")",
		"SELECT v" + strings.Repeat("+v", 400000) + " FROM one",
	} {
		stmt, err := syntax.Parse(text)
		if err != nil {
			continue // the parser has its own limit
		}
		if a, err := Analyze(stmt, s, keyspace); err == nil {
			if w, ok := a.(*Write); ok {
				_, _ = w.Bind(&eval.Env{})
			}
		}
	}
}
