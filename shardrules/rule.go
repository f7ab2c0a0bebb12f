// SPDX-License-Identifier: Apache-2.0

package shardrules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Rule says how tables with a certain name are sharded. It never changes once made.
type Rule struct {
	Name  string // name of the table or tables, as the file has it
	Line  int    // line in the file
	Plain bool   // the table is not sharded, whatever other rules say

	// Options are those of write_sharding or of the tag. For DynamoDB, nil says that the rule
	// concerns only indexes.
	Options map[string]string

	Indexes []Index // indexes of a DynamoDB table, by name
}

// Index says how a global secondary index of a DynamoDB table is sharded.
type Index struct {
	Name    string
	Line    int
	Options map[string]string
}

// String returns the rule's name and content.
func (r *Rule) String() string { return r.Name + ": " + r.Says() }

// Says returns the rule's content in the form of a file.
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

// Tag returns the value of a DynamoDB tag with these options.
func Tag(options map[string]string) string {
	var words []string
	for _, k := range slices.Sorted(maps.Keys(options)) {
		words = append(words, k+"="+options[k])
	}
	return strings.Join(words, " ")
}

// same says whether two rules have the same names and content.
func (r *Rule) same(o *Rule) bool {
	return r.Plain == o.Plain && maps.Equal(r.Options, o.Options) && (r.Options == nil) == (o.Options == nil) &&
		slices.EqualFunc(r.Indexes, o.Indexes, func(a, b Index) bool { return a.Name == b.Name && maps.Equal(a.Options, b.Options) })
}

// Rules are the rules of one file for the tables of one of the two languages.
type Rules struct {
	File  string // the file that they were read from, for errors
	Rules []Rule // in the order of the file

	names []pattern // names of the rules
}

// Set holds the rules of a file.
type Set struct {
	CQL      Rules
	DynamoDB Rules
}

// Len returns the number of rules. A nil *Rules has none.
func (r *Rules) Len() int {
	if r == nil {
		return 0
	}
	return len(r.Rules)
}

// Where returns the file and the line of a rule.
func (r *Rules) Where(rule *Rule) string { return at(r.File, rule.Line) }

// Label returns a rule's name with its place: jaeger.* (rules.yaml:3).
func (r *Rules) Label(rule *Rule) string { return rule.Name + " (" + r.Where(rule) + ")" }

func at(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }
