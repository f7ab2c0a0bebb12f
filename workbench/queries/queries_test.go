// SPDX-License-Identifier: Apache-2.0

package queries

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/evenkeel/evenkeel/cql/syntax"
)

// The scripts' commands:
//
//	parse               prints each query, or the error with its place and hint
//	resolve a,B,"c d"   the same with the names of these columns
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			qs, err := Parse(d.Input)
			if err == nil && d.Cmd == "resolve" {
				var columns []string
				for _, a := range d.CmdArgs {
					columns = append(columns, a.Key)
				}
				for i := range qs {
					if err = qs[i].Resolve(columns); err != nil {
						break
					}
				}
			}
			var bad *SyntaxError
			switch {
			case errors.As(err, &bad):
				return fmt.Sprintf("%v\nhint: %s\n", bad, bad.Hint)
			case err != nil:
				return err.Error() + "\n"
			}
			var b strings.Builder
			for i := range qs {
				b.WriteString(show(&qs[i]) + "\n")
			}
			return b.String()
		})
	})
}

func show(q *Query) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d: %s", q.Line, q.Verb)
	if q.Table != "" {
		fmt.Fprintf(&b, " of %s", q.Table)
	}
	for _, e := range q.Equal {
		fmt.Fprintf(&b, ", %s =", e.Column)
		switch {
		case e.Text != "":
			fmt.Fprintf(&b, " %s", e.Text)
		case e.Values != 1:
			fmt.Fprintf(&b, " one of %d", e.Values)
		}
	}
	for _, r := range q.Ranges {
		fmt.Fprintf(&b, ", %s in %t(%s)..%t(%s)", r.Column, r.Above, r.From, r.Below, r.To)
		if r.Prefix {
			b.WriteString(" prefix")
		}
	}
	for _, f := range q.Filter {
		fmt.Fprintf(&b, ", filter %s", f.Column)
	}
	for _, g := range q.Group {
		fmt.Fprintf(&b, ", group %s", g.Column)
	}
	for _, o := range q.Order {
		fmt.Fprintf(&b, ", order %s desc=%t", o.Column, o.Desc)
	}
	if q.Limit > 0 {
		fmt.Fprintf(&b, ", limit %d", q.Limit)
	}
	if q.TTL > 0 {
		fmt.Fprintf(&b, ", ttl %d", q.TTL)
	}
	if q.Tokens {
		b.WriteString(", by tokens")
	}
	if q.Conditional {
		b.WriteString(", conditional")
	}
	if q.Columns != nil {
		fmt.Fprintf(&b, ", columns %s", strings.Join(q.Columns, " "))
	}
	if q.Batch != nil {
		fmt.Fprintf(&b, ", in a %sbatch", map[syntax.BatchKind]string{syntax.BatchUnlogged: "unlogged ", syntax.BatchCounter: "counter "}[q.Batch.Kind])
		if q.Batch.Conditional {
			b.WriteString(" with a condition")
		}
		for _, v := range append(slices.Clone(q.Equal), q.Values...) {
			if v.Text != "" || v.Marker != "" {
				fmt.Fprintf(&b, " %s=%s%s", v.Column, v.Text, v.Marker)
			}
		}
	}
	if q.Rate > 0 {
		fmt.Fprintf(&b, ", %g/s", q.Rate)
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"SELECT * FROM t WHERE code = ? -- 500/s", "a = :b AND begins_with(c, :d) LIMIT 3 -- 1k/min",
		"PutItem {a, b}", "Scan FILTER NOT (a = :b OR size(c) > 3)", "BEGIN BATCH INSERT INTO t (a) VALUES (1); APPLY BATCH",
		"SELECT *\nFROM \"t\"\nWHERE a IN [1, ?] AND begins_with(b, ?); -- 5 per sec", "INSERT INTO t VALUE {'a': ?} /* 3/min */", "UPDATE t SET a = 1 WHERE b = 2 # 1/s\n## 5/s\n",
		"UpdateItem a = :a SET b = :b", "SELECT 'x -- 5/s' FROM t", "QUERY \"a b\" BETWEEN 1 AND 2 BACKWARD TTL 5",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		qs, err := Parse(text)
		if err != nil {
			var bad *SyntaxError
			if !errors.As(err, &bad) || bad.Reason == "" || bad.Hint == "" || bad.Line < 1 || bad.At < 1 {
				t.Fatalf("%q: %#v", text, err)
			}
			lines := strings.Split(text, "\n")
			if bad.Line > len(lines) || bad.At > len([]rune(lines[bad.Line-1]))+1 {
				t.Fatalf("%q: %v is outside", text, bad)
			}
			return
		}
		for i := range qs {
			q := &qs[i]
			if q.Rate < 0 || q.Rate > maxRate || q.Text == "" {
				t.Fatalf("%q: %+v", text, q)
			}
			var columns []string
			q.names(func(n *string) { columns = append(columns, *n) })
			if err := q.Resolve(columns); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}
