// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
	"github.com/evenkeel/evenkeel/shardrules"
)

// Rules applies the shard rules (package shardrules) to CreateTable, as if the request had the
// tags. The store keeps the rules, and the door reads them there for each CreateTable. So all doors
// use the same rules, even while an operator replaces them.
type Rules struct {
	Catalog *catalog.Catalog
	Log     *slog.Logger
	Mine    *shardrules.Rules // the rules that this door was given; nil: none
	Replace bool              // this door's rules replace others in the store
	Door    string            // the name of this door
}

// ErrOtherRules reports that the store has other shard rules than the door's options.
var ErrOtherRules = errors.New("this door's shard rules are not those that the doors of this endpoint go by")

// CheckRules returns an error that lists, one in a line, the rules that cannot apply to any table.
func CheckRules(rules *shardrules.Rules) error {
	if rules == nil {
		return nil
	}
	var faults []error
	for i := range rules.Rules {
		rule := &rules.Rules[i]
		if rule.Plain {
			continue
		}
		if err := plan.CheckTags(rule.Name, tagOf(rule), indexTags(rule)); err != nil {
			faults = append(faults, fmt.Errorf("%s: %s", rules.Where(rule), reason(err)))
		}
	}
	return errors.Join(faults...)
}

// reason returns an error's message without AWS's prefix.
func reason(err error) string {
	message := exception.Of(err).Message
	if _, after, ok := strings.Cut(message, "invalid: write sharding of table "); ok {
		return after
	}
	return message
}

// tagOf returns the value of the table's tag that declares the same as a rule, or nil if the rule
// declares nothing of the table itself.
func tagOf(rule *shardrules.Rule) *string {
	if rule.Options == nil {
		return nil
	}
	tag := shardrules.Tag(rule.Options)
	return &tag
}

// indexTags returns the values of the indexes' tags, by index.
func indexTags(rule *shardrules.Rule) map[string]string {
	tags := make(map[string]string, len(rule.Indexes))
	for _, ix := range rule.Indexes {
		tags[ix.Name] = shardrules.Tag(ix.Options)
	}
	return tags
}

// start makes the store keep the rules that this door was given, and returns the rules that the
// store then has, or nil if there are none.
func (k *Rules) start(ctx context.Context) (*shardrules.Rules, error) {
	const tries = 10 // needed if several doors start at the same time, ideally with the same rules
	for range tries {
		kept, theirs, err := k.read(ctx)
		if err != nil {
			return nil, err
		}
		if k.Mine == nil || k.Mine.Len() == 0 && kept == nil {
			if theirs.Len() > 0 {
				k.Log.Info("dynamodb: this door uses the shard rules that are in the store", "rules", theirs.Len(), "file", theirs.File, "door", kept.Door)
			}
			return theirs, nil
		}
		differs := shardrules.Difference(k.Mine, theirs)
		if kept != nil && differs == "" {
			return k.Mine, nil
		}
		if kept != nil && !k.Replace {
			return nil, fmt.Errorf("%w: the file %s has other rules than %s, which door %s wrote to the endpoint: %s",
				ErrOtherRules, k.Mine.File, theirs.File, kept.Door, differs)
		}
		done, err := k.Catalog.KeepRules(ctx, kept, &catalog.Rules{Text: string(shardrules.Encode(k.Mine)), Door: k.Door})
		if err != nil {
			return nil, err
		}
		if done {
			if kept != nil {
				k.Log.Info("dynamodb: the shard rules were replaced", "file", k.Mine.File, "rules", k.Mine.Len(), "before", theirs.File, "difference", differs)
			}
			return k.Mine, nil
		}
	}
	return nil, errors.New("other doors are writing shard rules at this time; start this one again")
}

// read reads the rules in the store.
func (k *Rules) read(ctx context.Context) (*catalog.Rules, *shardrules.Rules, error) {
	kept, err := k.Catalog.Rules(ctx)
	if err != nil || kept == nil {
		return nil, nil, err
	}
	rules, err := shardrules.Decode([]byte(kept.Text))
	return kept, rules, err
}

// of returns the rule that names a table, and the rule's label. It returns nil if there is no such
// rule, or if the rule says that the table is plain.
func (k *Rules) of(ctx context.Context, table string) (rule *shardrules.Rule, label string, err error) {
	_, rules, err := k.read(ctx)
	if err != nil {
		return nil, "", tables.DoorError(err)
	}
	rule, err = rules.OfDynamoDB(table)
	switch {
	case err != nil:
		return nil, "", exception.Invalid("%s", err)
	case rule == nil || rule.Plain:
		return nil, "", nil
	}
	return rule, rules.Label(rule), nil
}

// declaration returns the sharding that a CreateTable declares together with the tags that a rule
// adds, or nil if it declares none. The request's own tags on the table or an index take precedence
// over the rule.
func (k *Rules) declaration(ctx context.Context, d *schema.Declaration) (*plan.Declaration, string, error) {
	own, err := plan.Sharded(d)
	if err != nil {
		return nil, "", err
	}
	rule, label, err := k.of(ctx, d.Name)
	if err != nil || rule == nil {
		return own, "", err
	}
	tagged := *d
	has := func(key string) bool {
		return slices.ContainsFunc(d.Tags, func(t schema.Tag) bool { return t.Key == key })
	}
	tagged.Tags = slices.Clone(d.Tags)
	if tag := tagOf(rule); tag != nil && !has(plan.Tag) {
		tagged.Tags = append(tagged.Tags, schema.Tag{Key: plan.Tag, Value: *tag})
	}
	for _, ix := range rule.Indexes {
		if key := plan.IndexTagPrefix + ix.Name; !has(key) {
			tagged.Tags = append(tagged.Tags, schema.Tag{Key: key, Value: shardrules.Tag(ix.Options)})
		}
	}
	if len(tagged.Tags) == len(d.Tags) {
		return own, "", nil
	}
	if _, err := schema.Create(d); err != nil {
		return nil, "", err // the error has nothing to do with the rule
	}
	declared, err := plan.Sharded(&tagged)
	if err != nil {
		refused := *exception.Of(err)
		refused.Message = fmt.Sprintf("%s (The shard rule %s declares that. Correct the rule, or except the table from it by a rule of its own, with the table's name and the word plain; "+
			"the doors read rules when they start.)", refused.Message, label)
		return nil, label, &refused
	}
	return declared, label, nil
}

// warnOfRules logs a warning for each table that differs from the rules.
func (r *Definer) warnOfRules(ctx context.Context, rules *shardrules.Rules) {
	if rules.Len() == 0 {
		return
	}
	for q := (&api.ListTables{Limit: 100}); q != nil; {
		var page api.TablesResponse
		err := backend.Door{Store: r.Backend}.Answer(ctx, q, func(a api.Response) error {
			l := a.(*api.TablesResponse)
			page.Names, page.Last = slices.Clone(l.Names), strings.Clone(l.Last)
			return nil
		})
		if err != nil {
			r.Log.Warn("dynamodb: the door cannot list the tables, so it does not know which of them are older than the shard rules", "error", err)
			return
		}
		for _, name := range page.Names {
			if note := unlike(rules, name, r.Tables.Entry(name)); note != "" && !catalog.Owns(name) {
				r.Log.Warn("dynamodb: a table is not as the shard rules say", "table", name, "why", note)
			}
		}
		if q = nil; page.Last != "" {
			q = &api.ListTables{Limit: 100, Start: page.Last}
		}
	}
}

// unlike returns how a table with entry e differs from its rule, and the way out. It returns "" if
// it does not differ, or if the table's own tags declared its layout.
func unlike(rules *shardrules.Rules, name string, e *tables.Entry) string {
	rule, err := rules.OfDynamoDB(name)
	switch {
	case err != nil:
		return err.Error()
	case rule == nil:
		return ""
	case e == nil && !rule.Plain:
		return fmt.Sprintf("the table is older than the shard rule %s, and is not sharded: rules are for tables that are created; create one of another name, and copy", rules.Label(rule))
	case e == nil || e.Rule == "":
		return ""
	case rule.Plain:
		return fmt.Sprintf("the shard rule %s says plain now, and the table was sharded by the rule %s: it stays sharded", rules.Label(rule), e.Rule)
	}
	if tag := tagOf(rule); tag != nil && e.Layout != nil && !plan.SameIndex(e.Layout, false, *tag) {
		return fmt.Sprintf("the shard rule %s says %s now, and the table was sharded by the rule %s: it keeps its %d shards; to change that: evenkeel reshard, or TagResource with %s = '%s'",
			rules.Label(rule), rule.Says(), e.Rule, e.Layout.N, plan.Tag, *tag)
	}
	return ""
}

// Start reads the catalogue and settles unfinished operations.
func (r *Definer) Start(ctx context.Context) error {
	defer r.Tables.Define()()
	rules, err := r.Rules.start(ctx)
	if err != nil {
		return fmt.Errorf("read the shard rules of DynamoDB tables: %w", err)
	}
	if err := r.Tables.ReadAll(ctx); err != nil {
		return err
	}
	r.warnOfRules(ctx, rules)
	return nil
}

// RulesShard reports whether a rule shards a table.
func (r *Definer) RulesShard(ctx context.Context, table string) (bool, error) {
	rule, _, err := r.Rules.of(ctx, table)
	return rule != nil, err
}
