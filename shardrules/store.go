// SPDX-License-Identifier: Apache-2.0

package shardrules

import (
	"encoding/json"
	"fmt"
)

// stored is the form in which a store keeps rules.
type stored struct {
	File  string       `json:"file"`
	Rules []storedRule `json:"rules"`
}

type storedRule struct {
	Name    string            `json:"name"`
	Space   string            `json:"space,omitempty"` // keyspace of the pattern, in the form for matching
	Match   string            `json:"match"`
	Line    int               `json:"line"`
	Plain   bool              `json:"plain,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Table   bool              `json:"table,omitempty"` // Options is not nil
	Indexes []Index           `json:"indexes,omitempty"`
}

// Encode encodes rules for a store.
func Encode(r *Rules) []byte {
	out := stored{File: r.File, Rules: []storedRule{}}
	for i, rule := range r.Rules {
		p := r.names[i]
		out.Rules = append(out.Rules, storedRule{rule.Name, p.space, p.name, rule.Line, rule.Plain, rule.Options, rule.Options != nil, rule.Indexes})
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return text
}

// Decode decodes the output of Encode.
func Decode(text []byte) (*Rules, error) {
	var in stored
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("shard rules: those in the store cannot be read, a newer release may have written them: %w", err)
	}
	r := &Rules{File: in.File}
	for _, s := range in.Rules {
		rule := Rule{Name: s.Name, Line: s.Line, Plain: s.Plain, Options: s.Options, Indexes: s.Indexes}
		if s.Table && rule.Options == nil {
			rule.Options = map[string]string{}
		}
		r.Rules = append(r.Rules, rule)
		r.names = append(r.names, pattern{s.Space, s.Match})
	}
	return r, nil
}

// Difference describes how a differs from b. It returns "" if they have the same rules, in
// whatever order and files. Either may be nil, which has no rules.
func Difference(a, b *Rules) string {
	if a == nil {
		a = &Rules{}
	}
	if b == nil {
		b = &Rules{}
	}
	ours, theirs := a.places(), b.places()
	for i := range a.Rules {
		mine := &a.Rules[i]
		j, there := theirs[a.names[i]]
		if !there {
			return fmt.Sprintf("%s is in %s and not in %s", mine.Name, a.Where(mine), b.name())
		}
		if other := &b.Rules[j]; !mine.same(other) {
			return fmt.Sprintf("%s is %s in %s and %s in %s", mine.Name, mine.Says(), a.Where(mine), other.Says(), b.Where(other))
		}
	}
	for j := range b.Rules {
		if _, there := ours[b.names[j]]; !there {
			return fmt.Sprintf("%s is in %s and not in %s", b.Rules[j].Name, b.Where(&b.Rules[j]), a.name())
		}
	}
	return ""
}

// places returns the index of each rule, by its name.
func (r *Rules) places() map[pattern]int {
	m := make(map[pattern]int, len(r.names))
	for i, p := range r.names {
		m[p] = i
	}
	return m
}

// name returns the name of the file for messages.
func (r *Rules) name() string {
	if r.File == "" {
		return "the other rules"
	}
	return r.File
}
