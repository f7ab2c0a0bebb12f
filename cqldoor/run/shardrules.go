// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shardrules"
)

// ruled applies the shard rules (package shardrules) to CREATE TABLE, as if the statement had the
// property. The store keeps the rules. The door reads them for each CREATE TABLE, so that all
// doors use the same, even while somebody replaces them.
type ruled struct {
	catalog *catalog.Catalog
	opts    *Options
}

// ErrOtherRules says that the store has other shard rules than the door was given.
var ErrOtherRules = errors.New("this door's shard rules are not those that the doors of this cluster go by")

// start makes sure that the store has the rules that this door was given. It returns the store's
// rules, or nil if there are none.
func (k *ruled) start(ctx context.Context) (*shardrules.Rules, error) {
	const tries = 10 // attempts when several doors start at the same time
	for range tries {
		kept, theirs, err := k.read(ctx)
		if err != nil {
			return nil, err
		}
		mine := k.opts.Rules
		if mine == nil || mine.Len() == 0 && kept == nil {
			if theirs.Len() > 0 {
				k.opts.Log.Info("this door uses the shard rules that are in the store", "rules", theirs.Len(), "file", theirs.File, "door", kept.Door)
			}
			return theirs, nil
		}
		differs := shardrules.Difference(mine, theirs)
		if kept != nil && differs == "" {
			return mine, nil
		}
		if kept != nil && k.opts.Lease > 0 && !k.opts.ReplaceRules {
			return nil, fmt.Errorf("%w: the file %s has other rules than %s, which door %s wrote to the cluster at %s: %s",
				ErrOtherRules, mine.File, theirs.File, kept.Door, kept.Written.UTC().Format("2006-01-02 15:04:05 MST"), differs)
		}
		done, err := k.catalog.KeepRules(ctx, kept, &catalog.Rules{Text: shardrules.Encode(mine), Door: k.opts.Self.Name(), Written: k.opts.Now()})
		if err != nil {
			return nil, err
		}
		if done {
			if kept != nil {
				k.opts.Log.Info("the shard rules were replaced", "file", mine.File, "rules", mine.Len(), "before", theirs.File, "difference", differs)
			}
			return mine, nil
		}
	}
	return nil, errors.New("other doors are writing shard rules at this time; start this one again")
}

// read reads the store's rules.
func (k *ruled) read(ctx context.Context) (*catalog.Rules, *shardrules.Rules, error) {
	kept, err := k.catalog.Rules(ctx)
	if err != nil || kept == nil {
		return nil, nil, err
	}
	rules, err := shardrules.Decode(kept.Text)
	return kept, rules, err
}

// now returns the present rules.
func (k *ruled) now(ctx context.Context) (*shardrules.Rules, error) {
	_, rules, err := k.read(ctx)
	if err != nil {
		return nil, errCatalog(err)
	}
	return rules, nil
}

// hasRules says whether there may be shard rules.
func (v *view) hasRules() bool { return v.names.Has(catalog.Keyspace, catalog.RulesTable) }

// ruling is what the shard rules make of a CREATE TABLE.
type ruling struct {
	stmt  *syntax.CreateTable // with the property, if a rule declares it
	name  string              // the rule's name; "" if the statement stays unchanged
	label string              // the rule's name and place

	options map[string]string // the rule's options
}

// of applies the rules to a CREATE TABLE in a keyspace. The statement's own property overrides
// all rules.
func (k *ruled) of(ctx context.Context, keyspace string, stmt *syntax.CreateTable) (*ruling, error) {
	out := &ruling{stmt: stmt}
	if declares(stmt.With) {
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
	declared.With = append(slices.Clone(stmt.With), syntax.Property{Name: catalog.Property, Value: mapLiteral(rule.Options)})
	out.stmt, out.name, out.label, out.options = &declared, rule.Name, rules.Label(rule), rule.Options
	return out, nil
}

// ownKeyspace says whether a keyspace is the store's own. Rules do not apply to its tables.
func ownKeyspace(name string) bool {
	return name == "system" || strings.HasPrefix(name, "system_") || name == catalog.Keyspace
}

// refuse returns the error of a statement whose layout cannot be used. If a rule declared the
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

// warnings tells the client why its table is sharded, and which conditions are refused from now
// on: the application does not know of sharding and may depend on them.
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

// createByRule serves a CREATE TABLE without the property, if there are rules. If no rule names
// the table, the statement goes to the store unchanged. A prepared statement is judged when it is
// executed.
func (x *definer) createByRule(ctx context.Context, req *cqldoor.Request, h syntax.Head, keyspace, text string) error {
	tree, wrong := syntax.Parse(text)
	if wrong == nil && req.Op == wire.OpPrepare {
		if asksExplain(req.Message) {
			told, err := x.explains.explainCreate(ctx, tree.(*syntax.CreateTable), keyspace)
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
	rules, err := x.rules.now(ctx)
	if err != nil {
		return err
	}
	rule, err := rules.OfCQL(at.Keyspace, at.Name)
	switch {
	case err != nil:
		return wire.Errorf(wire.CodeConfig, "%s", err)
	case (rule == nil || rule.Plain || ownKeyspace(at.Keyspace)) && req.Op == wire.OpPrepare:
		return x.relays.relay(ctx, req)
	case rule == nil || rule.Plain || ownKeyspace(at.Keyspace):
		return x.passOn(ctx, req)
	case wrong != nil:
		return syntaxError(wrong)
	}
	q, err := queryOf(req)
	if err != nil {
		return err
	}
	return x.execute(ctx, req, tree, keyspace, text, &q.Params)
}

// warn logs the tables that differ from the rules.
func (k *ruled) warn(rules *shardrules.Rules, v *view) {
	if rules.Len() == 0 {
		return
	}
	for _, keyspace := range slices.Sorted(maps.Keys(v.names)) {
		for _, table := range slices.Sorted(maps.Keys(v.names[keyspace])) {
			if note := v.unlike(rules, keyspace, table); note != "" {
				k.opts.Log.Warn("a table is not as the shard rules say", "table", keyspace+"."+table, "why", note)
			}
		}
	}
}

// unlike says how a table differs from the rules, with the way out. It returns "" if the table
// does not differ, or if its own statement declared its layout.
func (v *view) unlike(rules *shardrules.Rules, keyspace, table string) string {
	rule, err := rules.OfCQL(keyspace, table)
	switch {
	case ownKeyspace(keyspace):
		return ""
	case err != nil:
		return err.Error()
	case rule == nil:
		return ""
	}
	with := "ALTER TABLE " + string(syntax.AppendName(nil, syntax.Name{Keyspace: keyspace, Name: table})) + " WITH write_sharding = "
	t := v.tables[keyspace][table]
	if t == nil {
		if rule.Plain {
			return ""
		}
		return fmt.Sprintf("the table is older than the shard rule %s, and is not sharded: rules are for tables that are created; to shard it, create a new table WITH write_sharding = %s and copy the rows",
			rules.Label(rule), propertyText(rule.Options))
	}
	if t.entry.Rule == "" {
		return ""
	}
	if rule.Plain {
		return fmt.Sprintf("the shard rule %s says plain now, and the table was sharded by the rule %s: it stays sharded", rules.Label(rule), t.entry.Rule)
	}
	said, err := shard.Parse(rule.Options)
	if err != nil {
		return err.Error() // cannot fail: Parse has checked it
	}
	if _, named := rule.Options["column"]; !named {
		said.Column = t.entry.Layout.Column
	}
	if said.Equal(t.entry.Layout) {
		return ""
	}
	return fmt.Sprintf("the shard rule %s says %s now, and the table was sharded by the rule %s: it keeps its layout, %s; to change it: %s%s",
		rules.Label(rule), rule.Says(), t.entry.Rule, t.entry.Layout, with, propertyText(rule.Options))
}

// propertyText returns the value of the property write_sharding.
func propertyText(options map[string]string) string {
	return string(syntax.AppendExpr(nil, mapLiteral(options)))
}
