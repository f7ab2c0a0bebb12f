// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
)

// FuzzAnalyze checks that every statement that parses can be analysed, bound with any values and
// evaluated without a panic.
func FuzzAnalyze(f *testing.F) {
	s := loadSchema(f, "testdata/schema.cql")
	for _, dir := range []string{"prepare", "run"} {
		files, _ := filepath.Glob("testdata/" + dir + "/*")
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			for i, part := range strings.Split(string(text), "\n\n") {
				lines := strings.Split(part, "\n")
				if len(lines) > 1 && i%7 == 0 {
					f.Add(lines[1], []byte("\x00\x00\x00\x01abcdefgh"))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		stmt, err := syntax.Parse(text)
		if err != nil {
			return
		}
		a, err := Analyze(stmt, s, keyspace)
		if err != nil {
			return
		}
		env := (&model{}).env(fuzzValues(raw, len(a.Head().Binds)))
		switch a := a.(type) {
		case *Select:
			b, err := a.Bind(env)
			if err != nil {
				return
			}
			cells := make(eval.Cells, len(a.Fetch))
			for i, v := range fuzzValues(raw, len(cells)) {
				cells[i] = v.Bytes
			}
			b.Matches(cells)
			a.CompareSorted(sortKeys(a, cells), sortKeys(a, cells))
			_, _ = groupKey(b, cells)
			_, _ = a.Selection.Row(env, cells, nil)
			g := a.Selection.NewGroup()
			_ = g.Add(env, cells)
			_, _ = g.Result(env, nil)
		case *Write:
			b, err := a.Bind(env)
			if err != nil {
				return
			}
			for i := range b.Conditions {
				null := NewTested(b.Conditions[i].Column.Type, nil)
				_, _ = b.Conditions[i].Applies(&null)
			}
		case *Batch:
			_, _ = a.Bind(env)
		}
	})
}

// fuzzValues cuts raw into n values; some are null, some unset.
func fuzzValues(raw []byte, n int) []eval.Value {
	out := make([]eval.Value, n)
	for i := range out {
		if len(raw) == 0 {
			continue
		}
		size := int(raw[0]) % 20
		raw = raw[1:]
		switch {
		case size == 19:
			out[i].Unset = true
		case size < 18:
			size = min(size, len(raw))
			out[i].Bytes = append([]byte{}, raw[:size]...)
			raw = raw[size:]
		}
	}
	return out
}
