// SPDX-License-Identifier: Apache-2.0

package shardrules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/evenkeel/evenkeel/shard"
)

// These are the words of a file other than names and options.
const (
	inside   = "shard-rules"
	dynamodb = "dynamodb"
	indexes  = "indexes"
	plain    = "plain"
)

// These bound a file.
const (
	maxBytes = 1 << 20
	maxRules = 10_000
)

// Parse parses a file of rules. file is its name, for errors. The error lists all faults of the
// file, one in a line. Then the set has the rules without faults, or it is nil if the file is no YAML.
func Parse(file string, text []byte) (*Set, error) {
	r := &reader{file: file, lines: map[pattern]int{}}
	s := &Set{CQL: Rules{File: file}, DynamoDB: Rules{File: file}}
	if len(text) > maxBytes {
		return nil, fmt.Errorf("%s: the file has more than %d bytes", file, maxBytes)
	}
	doc, err := parseYAML(text)
	if err != nil {
		return nil, r.syntax(err)
	}
	var bodies []ast.Node
	for _, d := range doc.Docs {
		if d.Body != nil && d.Body.Type() != ast.CommentType {
			bodies = append(bodies, d.Body)
		}
	}
	if len(bodies) > 1 {
		r.fault(bodies[1], "the file has several YAML documents; put all rules into one")
	}
	if len(bodies) > 0 {
		r.file0(s, bodies[0])
	}
	if n := s.CQL.Len() + s.DynamoDB.Len(); n > maxRules {
		r.faults = append(r.faults, fmt.Errorf("%s: %d rules are too many; there can be %d, and a rule may name many tables by *", file, n, maxRules))
	}
	return s, errors.Join(r.faults...)
}

// parseYAML parses YAML. It recovers from panics of the library, which some malformed texts
// cause.
func parseYAML(text []byte) (doc *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("it cannot be read as YAML")
		}
	}()
	return parser.ParseBytes(text, 0)
}

// reader collects the faults of a file.
type reader struct {
	file   string
	lines  map[pattern]int // line of each rule so far; a DynamoDB table has no keyspace
	faults []error
}

func (r *reader) fault(n ast.Node, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("%s: %s", at(r.file, line(n)), fmt.Sprintf(format, args...)))
}

// line returns the line on which a node begins.
func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 1
}

// syntax returns the error for a text that is not YAML, with its line.
func (r *reader) syntax(err error) error {
	var at interface{ GetToken() *token.Token }
	if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
		message := err.Error()
		if m, ok := err.(interface{ GetMessage() string }); ok {
			message = m.GetMessage()
		}
		return fmt.Errorf("%s:%d: %s", r.file, at.GetToken().Position.Line, message)
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%s: %s", r.file, first)
}

// entries returns the keys and values of a mapping. For another kind of node it notes a fault and
// returns nil.
func (r *reader) entries(n ast.Node, what string) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	r.fault(n, "%s", what)
	return nil
}

const wantRules = "rules are written as NAME: {shards: N}, one for a table"

// file0 reads the rules of a whole file.
func (r *reader) file0(s *Set, body ast.Node) {
	if body.Type() == ast.NullType {
		return
	}
	top := r.entries(body, wantRules)
	for _, e := range top {
		if key, ok := r.text(e.Key); ok && key == inside {
			if e.Value.Type() == ast.NullType {
				return
			}
			r.rules(s, r.entries(e.Value, wantRules))
			return
		}
	}
	r.rules(s, top)
}

func (r *reader) rules(s *Set, entries []*ast.MappingValueNode) {
	dynamo := false
	for _, e := range entries {
		name, ok := r.text(e.Key)
		switch {
		case !ok:
			r.fault(e.Key, "the name of a table is a text; "+wantRules)
		case name == dynamodb && dynamo:
			r.fault(e.Key, "%s is there twice", dynamodb)
		case name == dynamodb:
			dynamo = true
			if e.Value.Type() == ast.NullType {
				continue
			}
			for _, e := range r.entries(e.Value, "the rules for DynamoDB tables are written as NAME: {shards: N}, one for a table, below "+dynamodb) {
				if name, ok := r.text(e.Key); ok {
					r.add(&s.DynamoDB, e, name, dynamoPattern, r.dynamo)
				} else {
					r.fault(e.Key, "the name of a table is a text; "+wantRules)
				}
			}
		default:
			r.add(&s.CQL, e, name, cqlPattern, r.cql)
		}
	}
}

// add reads one rule.
func (r *reader) add(to *Rules, e *ast.MappingValueNode, name string, parse func(string) (pattern, error), options func(*Rule, ast.Node)) {
	p, err := parse(name)
	if err != nil {
		r.fault(e.Key, "%s: %s", name, err)
		return
	}
	if first, twice := r.lines[p]; twice {
		r.fault(e.Key, "%s: there is a rule for it already, in line %d; keep one", name, first)
		return
	}
	r.lines[p] = line(e.Key)
	rule := Rule{Name: name, Line: line(e.Key)}
	if word, ok := r.text(e.Value); ok && word == plain {
		rule.Plain = true
	} else {
		faults := len(r.faults)
		options(&rule, e.Value)
		for i := faults; i < len(r.faults); i++ {
			where, what, _ := strings.Cut(r.faults[i].Error(), ": ")
			r.faults[i] = fmt.Errorf("%s: %s: %s", where, name, what)
		}
	}
	to.Rules = append(to.Rules, rule)
	to.names = append(to.names, p)
}

const wantOptions = "a rule is {shards: N}, with further options if need be, or " + plain

// cql reads the options of a CQL table.
func (r *reader) cql(rule *Rule, n ast.Node) {
	entries := r.entries(n, wantOptions)
	if len(entries) == 0 {
		if _, empty := n.(*ast.MappingNode); empty {
			r.fault(n, wantOptions)
		}
		return
	}
	rule.Options = map[string]string{}
	faults := len(r.faults)
	for _, e := range entries {
		r.option(rule.Options, e)
	}
	if len(r.faults) > faults {
		return
	}
	if _, err := shard.Parse(rule.Options); err != nil {
		r.fault(at0(entries, err), "%s", strings.TrimPrefix(err.Error(), "write_sharding: "))
	}
}

// at0 returns the entry whose option an error names, or the first entry.
func at0(entries []*ast.MappingValueNode, err error) ast.Node {
	for _, e := range entries {
		if t := e.Key.GetToken(); t != nil && strings.Contains(err.Error(), "'"+t.Value+"'") {
			return e.Key
		}
	}
	return entries[0].Key
}

// dynamo reads the options of a DynamoDB table, and its indexes.
func (r *reader) dynamo(rule *Rule, n ast.Node) {
	entries := r.entries(n, wantOptions)
	if len(entries) == 0 {
		if _, empty := n.(*ast.MappingNode); empty {
			r.fault(n, wantOptions)
		}
		return
	}
	for _, e := range entries {
		if key, ok := r.text(e.Key); ok && key == indexes {
			r.indexes(rule, e.Value)
			continue
		}
		if rule.Options == nil {
			rule.Options = map[string]string{}
		}
		r.option(rule.Options, e)
	}
	slices.SortFunc(rule.Indexes, func(a, b Index) int { return strings.Compare(a.Name, b.Name) })
}

func (r *reader) indexes(rule *Rule, n ast.Node) {
	const want = "indexes are written as NAME: {shards: N}, one for a global secondary index"
	for _, e := range r.entries(n, want) {
		name, ok := r.text(e.Key)
		if !ok {
			r.fault(e.Key, want)
			continue
		}
		if err := indexName(name); err != nil {
			r.fault(e.Key, "%s: %s", name, err)
			continue
		}
		ix := Index{Name: name, Line: line(e.Key), Options: map[string]string{}}
		for _, e := range r.entries(e.Value, want) {
			r.option(ix.Options, e)
		}
		if slices.ContainsFunc(rule.Indexes, func(o Index) bool { return o.Name == name }) {
			r.fault(e.Key, "index %s is there twice", name)
			continue
		}
		rule.Indexes = append(rule.Indexes, ix)
	}
}

// option reads one option. by may be a list.
func (r *reader) option(into map[string]string, e *ast.MappingValueNode) {
	key, ok := r.text(e.Key)
	if !ok || key == "" || strings.ContainsAny(key, " =\t\n") {
		r.fault(e.Key, "the name of an option is a word")
		return
	}
	if _, twice := into[key]; twice {
		r.fault(e.Key, "option %s is there twice", key)
		return
	}
	if list, ok := e.Value.(*ast.SequenceNode); ok && key == "by" {
		var parts []string
		for _, v := range list.Values {
			part, ok := r.text(v)
			if !ok {
				r.fault(v, "option %s: each of the list is a name", key)
				return
			}
			parts = append(parts, part)
		}
		into[key] = strings.Join(parts, ", ")
		return
	}
	value, ok := r.text(e.Value)
	if !ok {
		r.fault(e.Value, "option %s: its value is a number or a text", key)
		return
	}
	into[key] = value
}

// text returns a scalar as it is written. It returns false for another kind of node.
func (r *reader) text(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode:
		return strings.TrimSpace(n.GetToken().Value), true
	case *ast.BoolNode:
		return strconv.FormatBool(n.Value), true
	}
	return "", false
}
