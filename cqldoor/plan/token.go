// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// withTokens replaces calls of token() in values by their results. The store would compute the
// token for its own table, whose key has one more column.
func withTokens[T any](t *Table, tree T) (T, error) {
	var fault error
	tree = replace(reflect.ValueOf(tree), func(e any) (syntax.Expr, bool) {
		c, ok := e.(*syntax.Call)
		if !ok || !isToken(c) {
			return nil, false
		}
		n, err := t.tokenOf(c)
		if err != nil {
			fault = err
			return c, true
		}
		return n, true
	}).Interface().(T)
	return tree, fault
}

func isToken(c *syntax.Call) bool {
	return strings.EqualFold(c.Func.Name, "token") && (c.Func.Keyspace == "" || c.Func.Keyspace == "system")
}

// tokenOf returns the result of a call of token(). The result must be known before the statement
// is executed.
func (t *placement) tokenOf(c *syntax.Call) (syntax.Expr, error) {
	certain := true
	syntax.Walk(c, func(e syntax.Expr) bool {
		switch e := e.(type) {
		case *syntax.Bind:
			certain = false
		case *syntax.Call:
			certain = chance(e) == nil
		}
		return certain
	})
	if !certain {
		return nil, refused("token() of a bind marker, or of a value that is drawn, in a value", "compute the token in the application")
	}
	var key []string
	for _, column := range t.PartitionKey {
		key = append(key, column.Name)
	}
	s := &schema.Schema{Keyspaces: map[string]*schema.Keyspace{t.Keyspace: {Name: t.Keyspace, Tables: map[string]*schema.Table{t.Name: t.Table}}}}
	a, err := analysis.Analyze(&syntax.Select{From: syntax.Name{Keyspace: t.Keyspace, Name: t.Name}, Where: []syntax.Relation{{Columns: key, Token: true, Op: syntax.OpEQ, Value: c}}}, s, t.Keyspace)
	if err != nil {
		return nil, refused("token() of such an argument in a value", "compute the token in the application")
	}
	v, err := eval.Term(a.(*analysis.Select).Where.Token.Term, &eval.Env{})
	if err != nil {
		return nil, err
	}
	if len(v.Bytes) != 8 {
		return &syntax.Null{}, nil
	}
	// The replacement is a call whose type is bigint in every context.
	return &syntax.Call{Func: syntax.Name{Name: "blobasbigint"}, Args: []syntax.Expr{&syntax.Constant{Kind: syntax.ConstHex, Text: fmt.Sprintf("%x", v.Bytes)}}}, nil
}

var bigintType = value.Native(value.Bigint)

// refuseTokens returns an error if the statement needs the token of a row. A logical partition has
// several.
func (p planning) refuseTokens(stmt *syntax.Select) error {
	a := p.Logical
	for _, r := range stmt.Where {
		switch {
		case !r.Token:
		case callsToken(r.Value):
			return refused("token(…) compared with token(…): the key's rows are stored under several tokens", "compare with a literal token")
		case a.Where.Partition != nil:
			return refused("token(…) restricted beside the partition key, whose rows are stored under several tokens", "leave one of the two out")
		}
	}
	for _, s := range stmt.Selectors {
		if callsToken(s.Expr) && (a.Where.Partition != nil || !p.selectsOwnToken(s.Expr)) {
			return refused("token() in the selection: a sharded table's rows are stored under several tokens", "scan all partitions with token(partition key) alone, or compute the token in the application")
		}
	}
	return nil
}

// selectsOwnToken says whether an expression is token() of the partition key.
func (p planning) selectsOwnToken(e syntax.Expr) bool {
	c, ok := e.(*syntax.Call)
	if !ok || c.Func.Name != "token" || len(c.Args) != len(p.Table.PartitionKey) {
		return false
	}
	for i, arg := range c.Args {
		if n, ok := arg.(*syntax.Column); !ok || n.Name != p.Table.PartitionKey[i].Name {
			return false
		}
	}
	return true
}

func callsToken(e syntax.Expr) bool {
	found := false
	syntax.Walk(e, func(e syntax.Expr) bool {
		if c, ok := e.(*syntax.Call); ok && isToken(c) {
			found = true
		}
		return !found
	})
	return found
}
