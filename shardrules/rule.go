// SPDX-License-Identifier: Apache-2.0

package shardrules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Rule says how tables with a certain name are sharded. It is not changed once made.
type Rule struct {
	Name  string // of the table or tables, as the file has it
	Line  int    // of the file
	Plain bool   // the table is not sharded, whatever other rules say

	// Options are those of write_sharding or of the tag. Under DynamoDB nil says that the
	// rule is about indexes alone.
	Options map[string]string

	Indexes []Index // of a DynamoDB table, by name
}

// Index says how a global secondary index of a DynamoDB table is sharded.
type Index struct {
	Name    string
	Line    int
	Options map[string]string
}

// String is the rule's name and what it says.
func (r *Rule) String() string { return r.Name + ": " + r.Says() }

// Says is what the rule says, as it could be written in a file.
func (r *Rule) Says() string {
	if r.Plain {
		return plain
	}
	parts := optionList(r.Options)
	if len(r.Indexes) > 0 {
		var indexes []string
		for _, ix := range r.Indexes {
			indexes = append(indexes, ix.Name+": {"+strings.Join(optionList(ix.Options), ", ")+"}")
		}
		parts = append(parts, "indexes: {"+strings.Join(indexes, ", ")+"}")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func optionList(options map[string]string) (parts []string) {
	for _, k := range slices.Sorted(maps.Keys(options)) {
		v := options[k]
		if strings.ContainsAny(v, ", \"{}[]:#'") {
			v = "'" + strings.ReplaceAll(v, "'", "''") + "'"
		}
		parts = append(parts, k+": "+v)
	}
	return parts
}

// Tag is the value of a DynamoDB table's or index's tag that says the same as the options.
func Tag(options map[string]string) string {
	var words []string
	for _, k := range slices.Sorted(maps.Keys(options)) {
		words = append(words, k+"="+options[k])
	}
	return strings.Join(words, " ")
}

// same says whether two rules say the same of the same names.
func (r *Rule) same(o *Rule) bool {
	return r.Plain == o.Plain && maps.Equal(r.Options, o.Options) && (r.Options == nil) == (o.Options == nil) &&
		slices.EqualFunc(r.Indexes, o.Indexes, func(a, b Index) bool { return a.Name == b.Name && maps.Equal(a.Options, b.Options) })
}

// Rules are the rules of one file about the tables of one of the two languages.
type Rules struct {
	File  string // where they were read, for errors
	Rules []Rule // in the order of the file

	names []pattern // of the rules
}

// Set are the rules of a file.
type Set struct {
	CQL      Rules
	DynamoDB Rules
}

// Len is how many rules there are. A nil *Rules has none.
func (r *Rules) Len() int {
	if r == nil {
		return 0
	}
	return len(r.Rules)
}

// Where is the file and the line of a rule.
func (r *Rules) Where(rule *Rule) string { return at(r.File, rule.Line) }

// Label names a rule with its place: jaeger.* (rules.yaml:3).
func (r *Rules) Label(rule *Rule) string { return rule.Name + " (" + r.Where(rule) + ")" }

func at(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// OfCQL returns the rule that names a CQL table; nil where there is none. keyspace and table
// are as the schema has them, without quotes. A nil *Rules has no rule.
func (r *Rules) OfCQL(keyspace, table string) (*Rule, error) {
	return r.find(keyspace, table)
}

// OfDynamoDB returns the rule that names a DynamoDB table; nil where there is none. A nil
// *Rules has no rule.
func (r *Rules) OfDynamoDB(table string) (*Rule, error) { return r.find("", table) }

func (r *Rules) find(space, name string) (*Rule, error) {
	if r == nil {
		return nil, nil
	}
	best, tied := -1, -1
	for i, p := range r.names {
		if !p.matches(space, name) {
			continue
		}
		switch {
		case best < 0 || p.rank() > r.names[best].rank():
			best, tied = i, -1
		case p.rank() == r.names[best].rank():
			tied = i
		}
	}
	if best < 0 {
		return nil, nil
	}
	if tied >= 0 {
		a, b := &r.Rules[best], &r.Rules[tied]
		if space != "" {
			name = space + "." + name
		}
		return nil, fmt.Errorf("shard rules: both %s and %s are for %s, and neither name is more specific than the other; add a rule that names the table itself",
			r.Label(a), r.Label(b), name)
	}
	return &r.Rules[best], nil
}
