// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// TestNestedCallsAreLinear: to resolve a call asks its arguments about every
// overload, and they ask theirs; answers are kept, so that depth costs little.
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
		case <-time.After(2 * time.Minute): // what takes microseconds would take 2³⁰ times as many
			t.Fatalf("%s does not end", name)
		}
	}
}

// TestLongSumsDoNotOverflowTheStack: a sum of many terms is a deep tree.
func TestLongSumsDoNotOverflowTheStack(t *testing.T) {
	s := loadSchema(t, "testdata/schema.cql")
	for _, text := range []string{
		"INSERT INTO coll (k, n) VALUES (1, 1" + strings.Repeat("+1", 400000) + ")",
		"SELECT v" + strings.Repeat("+v", 400000) + " FROM one",
	} {
		stmt, err := syntax.Parse(text)
		if err != nil {
			continue // the parser's own bound
		}
		if a, err := Analyze(stmt, s, keyspace); err == nil {
			if w, ok := a.(*Write); ok {
				_, _ = w.Bind(&eval.Env{})
			}
		}
	}
}
