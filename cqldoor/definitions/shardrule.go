// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/schemaview"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
	"github.com/evenkeel/evenkeel/shard"
)

// ruling is the result of applying the shard rules to a CREATE TABLE.
type ruling struct {
	stmt  *syntax.CreateTable // with the property write_sharding, if a rule declares it
	name  string              // the rule's name; "": no rule changes the statement
	label string              // the rule's name and place

	options map[string]string // the rule's options
}

// of applies the rules to a CREATE TABLE in a keyspace. If the statement itself has the property write_sharding,
// no rule applies.
func (k *ShardRules) of(ctx context.Context, keyspace string, stmt *syntax.CreateTable) (*ruling, error) {
	out := &ruling{stmt: stmt}
	if tables.Declares(stmt.With) {
		return out, nil
	}
	rules, err := k.now(ctx)
	if err != nil {
		return nil, err
	}
	rule, err := rules.OfCQL(keyspace, stmt.Name.Name)
	switch {
	case err != nil:
		return nil, wire.Errorf(wire.CodeConfig, "%s", err)
	case rule == nil || rule.Plain || ownKeyspace(keyspace):
		return out, nil
	}
	declared := *stmt
	declared.With = append(slices.Clone(stmt.With), syntax.Property{Name: catalog.Property, Value: schemaview.MapLiteral(rule.Options)})
	out.stmt, out.name, out.label, out.options = &declared, rule.Name, rules.Label(rule), rule.Options
	return out, nil
}

// ownKeyspace reports whether a keyspace is the store's own or the catalogue's. Rules do not apply to its tables.
func ownKeyspace(name string) bool {
	return name == "system" || strings.HasPrefix(name, "system_") || name == catalog.Keyspace
}

// refuse returns the error for a statement whose layout cannot be used for its table. If a rule declared the
// layout, the error names the rule.
func (r *ruling) refuse(err error) error {
	var e *wire.Error
	if r.name == "" || !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Message = fmt.Sprintf("%s (The shard rule %s declares that. Correct the rule, or except the table from it by a rule of its own, with the table's name and the word plain; "+
		"the doors read rules when they start.)", e.Message, r.label)
	return &out
}

// warnings returns a warning that tells the client why its table is sharded, and which conditions doors refuse from
// now on. The application does not know that the table is sharded, and may depend on these conditions.
func (r *ruling) warnings() []string {
	if r.name == "" {
		return nil
	}
	conditions := "a BATCH with conditions (IF) is refused unless all its rows are in one shard; where a condition on one row guards other rows of the BATCH, the table is not for sharding"
	if s := r.options["strategy"]; s == shard.Random.String() || s == shard.Rollover.String() {
		conditions = "conditions (IF) are refused; where the application writes with conditions, the table is not for strategy '" + s + "'"
	}
	return []string{"write_sharding: the table is sharded by the shard rule " + r.label + ": " + conditions}
}

// log logs that a rule has sharded a new table.
func (r *ruling) log(log *slog.Logger, e *catalog.Entry) {
	if r.name != "" {
		log.Info("a table was created that a shard rule declares sharded", "table", e.String(), "rule", r.label, "layout", e.Layout.String())
	}
}

// createByRule serves a CREATE TABLE without the property write_sharding, if there are rules. If no rule names the
// table, createByRule sends the statement to the store unchanged. It applies the rules to a prepared statement at
// each EXECUTE, not at the PREPARE.
func (x *Definer) createByRule(ctx context.Context, req *cqldoor.Request, h syntax.Head, keyspace, text string) error {
	tree, wrong := syntax.Parse(text)
	if wrong == nil && req.Op == wire.OpPrepare {
		if AsksExplain(req.Message) {
			told, err := x.Explains.explainCreate(ctx, tree.(*syntax.CreateTable), keyspace)
			if err != nil {
				return err
			}
			if told != nil {
				return told.reply(req, x.preparedOther(req, keyspace, text))
			}
		}
		return x.prepareOther(req, keyspace, text)
	}
	at := h.Name
	if at.Keyspace == "" {
		at.Keyspace = keyspace
	}
	rules, err := x.Rules.now(ctx)
	if err != nil {
		return err
	}
	rule, err := rules.OfCQL(at.Keyspace, at.Name)
	switch {
	case err != nil:
		return wire.Errorf(wire.CodeConfig, "%s", err)
	case (rule == nil || rule.Plain || ownKeyspace(at.Keyspace)) && req.Op == wire.OpPrepare:
		return x.Relays.Relay(ctx, req)
	case rule == nil || rule.Plain || ownKeyspace(at.Keyspace):
		return x.passOn(ctx, req)
	case wrong != nil:
		return request.SyntaxError(wrong)
	}
	q, err := request.QueryOf(req)
	if err != nil {
		return err
	}
	return x.execute(ctx, req, tree, keyspace, text, &q.Params)
}
