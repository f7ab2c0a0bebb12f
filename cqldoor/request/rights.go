// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"errors"
	"slices"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// The store checks the rights of a client with each statement that the door sends for it. If the door sends none,
// or refuses the client's statement itself, it first asks the store by a statement that reaches no partition.

// Need is the permission to read or write a sharded table.
type Need struct {
	table  *plan.Table
	writes bool
}

// Needed notes a permission that the client needs for its request. The door calls it before it sends anything.
func Needed(req *cqldoor.Request, n Need) {
	if e, ok := req.Link.(*Coordinator); ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !slices.Contains(e.needs, n) {
			e.needs = append(e.needs, n)
		}
	}
}

// Ask asks the store whether the client has the noted permissions. If the door has sent another statement of the
// request, the store has checked them with that statement; then Ask does nothing, unless always is set. For each
// need, Ask sends a statement that reaches no partition: the store checks the rights, and reads and writes nothing.
func (e *Coordinator) Ask(ctx context.Context, v wire.Version, always bool) error {
	e.mu.Lock()
	needs := slices.Clone(e.needs)
	done := e.asked && !always
	e.mu.Unlock()
	if done || e.username == "" { // without accounts there are no rights
		return nil
	}
	if err := Permitted(ctx, e.Forwarder, v, needs); err != nil {
		return err
	}
	e.mu.Lock()
	e.asked = true
	e.mu.Unlock()
	return nil
}

// Permitted asks the store whether the owner of a link has some permissions.
func Permitted(ctx context.Context, l store.Link, v wire.Version, needs []Need) error {
	for _, n := range needs {
		q := wire.Query{Text: []byte(n.text()), Params: wire.Params{Consistency: wire.LocalOne}}
		if _, err := store.Call(ctx, l, v, wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, v, &q)}); err != nil {
			return err
		}
	}
	return nil
}

// Refusal is an error by which the door refuses a statement. The store would check the client's rights before it
// refuses the statement. So only clients with these rights may see the error.
type Refusal struct {
	error
	needs []Need
}

// Unwrap returns the error without the rights.
func (r *Refusal) Unwrap() error { return r.error }

// ErrorFor returns the error that the client gets. If err is a refusal, ErrorFor first asks the store whether the
// client has the rights. If the client lacks them, ErrorFor returns the store's error instead.
func ErrorFor(ctx context.Context, req *cqldoor.Request, err error) error {
	var r *Refusal
	if !errors.As(err, &r) {
		return err
	}
	if req.Username != "" {
		if refused := Permitted(ctx, req.Link, req.Version, r.needs); refused != nil {
			return refused
		}
	}
	return r.error
}

// text returns a statement that needs the permission and reaches no partition.
func (n Need) text() string {
	t := n.table
	name := t.Physical()
	var where []syntax.Relation
	for _, c := range t.PartitionKey {
		where = append(where, syntax.Relation{Columns: []string{c.Name}, Op: syntax.OpIn, Values: []syntax.Expr{}})
	}
	if !t.Plain() {
		where = append(where, syntax.Relation{Columns: []string{t.Layout.Column}, Op: syntax.OpIn, Values: []syntax.Expr{}})
	}
	if n.writes {
		return syntax.Print(&syntax.Delete{From: name, Where: where})
	}
	return syntax.Print(&syntax.Select{Selectors: []syntax.Selector{{Expr: &syntax.Column{Name: t.PartitionKey[0].Name}}}, From: name, Where: where})
}
