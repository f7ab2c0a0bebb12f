package analysis

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// describe is what the package says of a statement, in the oracle's form.
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

// TestPrepare compares analyses with what a real Cassandra answered to PREPARE.
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
