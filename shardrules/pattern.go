// SPDX-License-Identifier: Apache-2.0

package shardrules

import (
	"errors"
	"fmt"
	"strings"
)

// pattern is the name in a rule: a keyspace and a table for CQL, only a table for DynamoDB. In it, *
// stands for any characters and ? for one.
type pattern struct{ space, name string }

// These are the longest names that the two engines accept.
const (
	longestCQL      = 222 // Cassandra accepts 48 characters, newer releases more
	longestDynamoDB = 255
)

// rank orders names from the general to the specific.
func (p pattern) rank() int {
	wild, literal := 0, 0
	for _, part := range []string{p.space, p.name} {
		n := strings.Count(part, "*") + strings.Count(part, "?")
		wild += n
		literal += len(part) - n
	}
	if wild == 0 {
		return longestCQL*2 + longestDynamoDB // higher than the rank of any pattern
	}
	return literal
}

func (p pattern) matches(space, name string) bool {
	return match(p.space, space) && match(p.name, name)
}

// match says whether a name matches a pattern. It backtracks only to the last *, so it takes at
// most len(pattern) × len(name) steps.
func match(pattern, name string) bool {
	p, n := 0, 0
	star, resume := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			resume++
			p, n = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// cqlPattern reads the name of a rule for CQL tables.
func cqlPattern(s string) (pattern, error) {
	space, rest, err := cqlPart(s)
	if err != nil {
		return pattern{}, err
	}
	if rest == "" {
		return pattern{}, errors.New("the name has no keyspace; write KEYSPACE.TABLE, and put DynamoDB tables under the key dynamodb")
	}
	if rest[0] != '.' {
		return pattern{}, unfit(rest)
	}
	name, rest, err := cqlPart(rest[1:])
	switch {
	case err != nil:
		return pattern{}, err
	case rest != "" && rest[0] == '.':
		return pattern{}, errors.New("the name has more than two parts; write KEYSPACE.TABLE")
	case rest != "":
		return pattern{}, unfit(rest)
	}
	return pattern{space, name}, nil
}

func unfit(rest string) error {
	return fmt.Errorf("%q cannot be part of the name of a CQL table; names have letters, digits and _, * stands for any characters and ? for any one", firstRune(rest))
}

func firstRune(s string) string {
	for _, r := range s {
		return string(r)
	}
	return s
}

// cqlPart reads one part of a name.
func cqlPart(s string) (part, rest string, err error) {
	quoted := strings.HasPrefix(s, `"`)
	if quoted {
		s = s[1:]
	}
	n := 0
	for n < len(s) && (cqlLetter(s[n]) || s[n] == '*' || s[n] == '?') {
		n++
	}
	part, rest = s[:n], s[n:]
	if quoted {
		if !strings.HasPrefix(rest, `"`) {
			if rest == "" {
				return "", "", errors.New("a double quote is not closed")
			}
			return "", "", unfit(rest)
		}
		rest = rest[1:]
	} else {
		part = strings.ToLower(part)
	}
	switch {
	case part == "" && rest != "" && rest[0] != '.':
		return "", "", unfit(rest)
	case part == "":
		return "", "", errors.New("a part of the name is empty; write KEYSPACE.TABLE")
	case len(part) > longestCQL:
		return "", "", fmt.Errorf("a part of the name has more than %d characters", longestCQL)
	}
	return part, rest, nil
}

func cqlLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// dynamoPattern reads the name of a rule for DynamoDB tables.
func dynamoPattern(s string) (pattern, error) {
	if s == "" || len(s) > longestDynamoDB {
		return pattern{}, fmt.Errorf("the name of a DynamoDB table has 3 to %d characters", longestDynamoDB)
	}
	for i := range len(s) {
		if c := s[i]; !cqlLetter(c) && c != '-' && c != '.' && c != '*' && c != '?' {
			return pattern{}, fmt.Errorf("%q cannot be part of the name of a DynamoDB table; names have letters, digits, _, - and ., * stands for any characters and ? for any one", firstRune(s[i:]))
		}
	}
	return pattern{"", s}, nil
}

// indexName checks the name of an index, which cannot be a pattern.
func indexName(s string) error {
	if s == "" || len(s) > longestDynamoDB {
		return fmt.Errorf("the name of an index has 3 to %d characters", longestDynamoDB)
	}
	for i := range len(s) {
		if c := s[i]; !cqlLetter(c) && c != '-' && c != '.' {
			return fmt.Errorf("%q cannot be part of the name of an index; name each index by itself", firstRune(s[i:]))
		}
	}
	return nil
}

// OfCQL returns the rule that applies to a CQL table, or nil. keyspace and table have the form of
// the schema, without quotes. A nil *Rules has no rule.
func (r *Rules) OfCQL(keyspace, table string) (*Rule, error) {
	return r.find(keyspace, table)
}

// OfDynamoDB returns the rule that applies to a DynamoDB table, or nil. A nil *Rules has no rule.
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
