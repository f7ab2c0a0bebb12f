// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// RuleShown holds the texts that the door shows about the shard rules for a table.
type RuleShown struct {
	Declared string `json:"declared,omitempty"` // the rule that declared the layout, and its place; "": no rule did
	Note     string `json:"note,omitempty"`     // how the table differs from the present rules, and what the owner can do
}

// Explainer explains which shard rules apply to tables.
type Explainer struct {
	Rules  *ShardRules
	View   *atomic.Pointer[tables.View]
	Relays *request.Relays
}

// RuleOf returns what the door shows about the shard rules for a table, or nil if there is nothing to show.
func (x *Explainer) RuleOf(ctx context.Context, table syntax.Name) (*RuleShown, error) {
	v := x.View.Load()
	if !v.HasRules() {
		return nil, nil
	}
	rules, err := x.Rules.now(ctx)
	if err != nil {
		return nil, err
	}
	out := &RuleShown{Note: unlike(v, rules, table.Keyspace, table.Name)}
	if t := v.Tables[table.Keyspace][table.Name]; t != nil {
		out.Declared = t.Entry.Rule
	}
	if *out == (RuleShown{}) {
		return nil, nil
	}
	return out, nil
}

// ExplainPlain answers a PREPARE that asks for the plan of a statement on plain tables. The store prepares the
// statement, and so finds its errors. The answer explains the shard rules for the first table to which any apply.
// If none apply, ExplainPlain relays the store's answer unchanged.
func (x *Explainer) ExplainPlain(ctx context.Context, req *cqldoor.Request, keyspace, text string) error {
	h := syntax.Target(text)
	var told *Explanation
	for _, n := range tablesOf(h, keyspace, text) {
		rule, err := x.RuleOf(ctx, n)
		if err != nil {
			return err
		}
		if rule != nil {
			told = &Explanation{&plan.Explained{Table: string(syntax.AppendName(nil, n)), Access: "forwarded", Shards: []int{}, Statements: []plan.ExplainedStatement{}}, rule}
			break
		}
	}
	if told == nil {
		return x.Relays.Relay(ctx, req)
	}
	body, err := request.BodyOf(req.Message)
	if err != nil {
		return err
	}
	a, err := request.AskStore(ctx, req, wire.Message{Op: wire.OpPrepare, Body: body})
	if err != nil {
		return err
	}
	return told.reply(req, a.Body)
}

// tablesOf returns the tables that a statement on rows names.
func tablesOf(h syntax.Head, keyspace, text string) (all []syntax.Name) {
	add := func(n syntax.Name) {
		if n.Keyspace == "" {
			n.Keyspace = keyspace
		}
		all = append(all, n)
	}
	if h.Kind != syntax.StatementBatch {
		add(h.Name)
		return all
	}
	for n := range syntax.Tables(text) {
		add(n)
	}
	return all
}

// explainCreate returns the explanation of a CREATE TABLE that a shard rule declares sharded. It returns nil if no
// rule does.
func (x *Explainer) explainCreate(ctx context.Context, stmt *syntax.CreateTable, keyspace string) (*Explanation, error) {
	n := stmt.Name
	if n.Keyspace == "" {
		n.Keyspace = keyspace
	}
	ruling, err := x.Rules.of(ctx, n.Keyspace, stmt)
	if err != nil || ruling.name == "" {
		return nil, err
	}
	e := &plan.Explained{Table: string(syntax.AppendName(nil, n)), Layout: propertyText(ruling.options), Access: "create table", Shards: []int{}, Statements: []plan.ExplainedStatement{}}
	return &Explanation{e, &RuleShown{Declared: ruling.label}}, nil
}
