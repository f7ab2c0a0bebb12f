// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// describe formats an analysed statement in the oracle's form.
func describe(stmt Statement) string {
	var b strings.Builder
	h := stmt.Head()
	for i, m := range h.Binds {
		fmt.Fprintf(&b, "?%d %s %s.%s %s\n", i, m.Name, m.Keyspace, m.Table, wireType(m.Type))
	}
	if h.PartitionKeyBinds != nil {
		fmt.Fprintf(&b, "key %v\n", h.PartitionKeyBinds)
	}
	if s, ok := stmt.(*Select); ok {
		for _, c := range s.Columns {
			fmt.Fprintf(&b, "-> %s %s\n", c.Name, wireType(c.Type))
		}
	}
	return done(b.String())
}

func describeError(t testing.TB, err error) string {
	var syn *syntax.SyntaxError
	if errors.As(err, &syn) {
		code := wire.CodeSyntax
		if syn.Invalid {
			code = wire.CodeInvalid
		}
		return refusal(int32(code), syn.Message)
	}
	var e *wire.Error
	if !errors.As(err, &e) {
		t.Fatalf("not a *wire.Error: %v", err)
	}
	return refusal(int32(e.Code), e.Message)
}

// TestPrepare compares analyses with a real Cassandra's answers to PREPARE.
func TestPrepare(t *testing.T) {
	s := loadSchema(t, "testdata/schema.cql")
	var o *oracle
	if *oracleAddr != "" {
		o = dialOracle(t)
	}
	datadriven.Walk(t, "testdata/prepare", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if o != nil {
				return o.prepare(d.Input)
			}
			stmt, err := syntax.Parse(d.Input)
			if err != nil {
				return describeError(t, err)
			}
			a, err := Analyze(stmt, s, keyspace)
			if err != nil {
				return describeError(t, err)
			}
			return describe(a)
		})
	})
}

// TestRun executes scripts in the model and compares the results with a real Cassandra's answers.
// Values follow a statement, one on each line: "? 0x00000001", "? null", "? unset".
func TestRun(t *testing.T) {
	s := loadSchema(t, "testdata/schema.cql")
	var o *oracle
	if *oracleAddr != "" {
		o = dialOracle(t)
	}
	datadriven.Walk(t, "testdata/run", func(t *testing.T, path string) {
		m := newModel(s)
		if o != nil {
			for name := range s.Keyspaces[keyspace].Tables {
				o.must("TRUNCATE " + keyspace + "." + quote(name))
			}
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			text, values := split2(t, d.Input)
			if o != nil {
				var list []*primitive.Value
				for _, v := range values {
					switch {
					case v.Unset:
						list = append(list, primitive.NewUnsetValue())
					case v.Bytes == nil:
						list = append(list, primitive.NewNullValue())
					default:
						list = append(list, primitive.NewValue(v.Bytes))
					}
				}
				return o.run(text, list)
			}
			cols, rows, err := m.run(text, values)
			if err != nil {
				return describeError(t, err)
			}
			return show(cols, rows)
		})
	})
}

// split2 splits the input into a statement and its values.
func split2(t *testing.T, input string) (string, []eval.Value) {
	var text []string
	var values []eval.Value
	for _, line := range strings.Split(input, "\n") {
		v, ok := strings.CutPrefix(line, "? ")
		switch {
		case !ok:
			text = append(text, line)
		case v == "null":
			values = append(values, eval.Value{})
		case v == "unset":
			values = append(values, eval.Value{Unset: true})
		default:
			b, err := hex.DecodeString(strings.TrimPrefix(v, "0x"))
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, eval.Value{Bytes: append([]byte{}, b...)})
		}
	}
	return strings.Join(text, "\n"), values
}
