// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"crypto/md5"
	"errors"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// plan is a statement ready to be executed, under one state of the schema. It is immutable.
type plan struct {
	state     *state
	keyspace  string // keyspace of unqualified names
	text      string
	stmt      syntax.Statement
	binds     []analysis.Bind
	keyBinds  []int
	described int  // bytes of the description of its markers and of its result's columns
	qualified bool // no name in it depends on the keyspace

	// At most one of these is set. If none is, the statement is executed from stmt.
	sel   *selectPlan
	write *writePlan
	batch *batchPlan
}

// newPlan plans a statement.
func newPlan(s *state, text, keyspace string) (*plan, error) {
	stmt, err := syntax.Parse(text)
	if err != nil {
		return nil, parseError(err)
	}
	p := &plan{state: s, keyspace: keyspace, text: text, stmt: stmt}
	switch stmt := stmt.(type) {
	case *syntax.Select:
		p.qualified = stmt.From.Keyspace != ""
	case *syntax.Insert:
		p.qualified = stmt.Into.Keyspace != ""
	case *syntax.Update:
		p.qualified = stmt.Table.Keyspace != ""
	case *syntax.Delete:
		p.qualified = stmt.From.Keyspace != ""
	case *syntax.Batch:
	default:
		return p, nil
	}
	a, err := analysis.Analyze(stmt, s.schema, keyspace)
	if err != nil {
		return nil, err
	}
	p.binds, p.keyBinds, p.described = a.Head().Binds, a.Head().PartitionKeyBinds, analysis.Described(a)
	switch a := a.(type) {
	case *analysis.Select:
		p.sel, err = newSelectPlan(s, a, text)
	case *analysis.Write:
		p.write, err = newWritePlan(s, a)
	case *analysis.Batch:
		p.batch, err = newBatchPlan(s, a)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// id returns the id of the prepared statement, as Cassandra computes it.
func (p *plan) id() [md5.Size]byte {
	if p.qualified {
		return md5.Sum([]byte(p.text))
	}
	return md5.Sum([]byte(p.keyspace + p.text))
}

// variables describes the markers, as PREPARED does.
func (p *plan) variables(v wire.Version) wire.Metadata {
	cols := make([]wire.Column, len(p.binds))
	for i, b := range p.binds {
		cols[i] = wire.Column{Keyspace: b.Keyspace, Table: b.Table, Name: b.Name, Type: b.Type}
	}
	return wire.EncodeColumns(v, cols)
}

// result returns what PREPARED says of the result: its columns and their id.
func (p *plan) result(v wire.Version) (wire.Metadata, [md5.Size]byte) {
	if p.sel != nil {
		return p.sel.metadata(v), p.sel.resultID
	}
	return wire.Metadata{Flags: wire.MetadataNone}, noResultID
}

// noResultID is the result id of a statement without a result.
var noResultID = md5.Sum(nil)

// parseError returns the client's error for a text that is not a statement.
func parseError(err error) error {
	var s *syntax.SyntaxError
	if !errors.As(err, &s) {
		return err
	}
	code := wire.CodeSyntax
	if s.Invalid {
		code = wire.CodeInvalid
	}
	return wire.Errorf(code, "%s", s.Message)
}
