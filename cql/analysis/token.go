// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/partitioner"
)

// TokenRange is a range of Murmur3 tokens. Both ends are inclusive.
type TokenRange struct {
	Start, End int64
}

const (
	minToken = -1 << 63
	maxToken = 1<<63 - 1
)

// tokenRestriction analyzes a comparison of token() with a value.
func (a *analyzer) tokenRestriction(r *syntax.Relation) (*Restriction, error) {
	switch r.Op {
	case syntax.OpIn, syntax.OpContains, syntax.OpContainsKey, syntax.OpLike:
		return nil, invalid("%s cannot be used with the token function", symbol(r.Op))
	case syntax.OpNE:
		return nil, invalid(`Unsupported "!=" relation: %s`, a.relationText(r))
	}
	out := &Restriction{Kind: kindOf(r.Op)}
	for _, name := range r.Columns {
		c, err := a.column(name)
		if err != nil {
			return nil, err
		}
		out.Columns = append(out.Columns, c)
	}
	if err := a.checkToken(out.Columns); err != nil {
		return nil, err
	}
	term, err := a.prepare(r.Value, spec{name: "partition key token", t: value.Native(value.Bigint)})
	if err != nil {
		return nil, err
	}
	out.compare(r.Op, term)
	return out, nil
}

// checkToken verifies that token's arguments are the columns of the partition key, in its order.
func (a *analyzer) checkToken(cols []*schema.Column) error {
	key := a.table.PartitionKey
	same := len(cols) == len(key)
	for i := 0; same && i < len(cols); i++ {
		same = cols[i] == key[i]
	}
	if same {
		return nil
	}
	seen := map[*schema.Column]bool{}
	for _, c := range cols {
		seen[c] = true
	}
	for _, k := range key {
		if !seen[k] {
			return invalid("The token() function must be applied to all partition key components or none of them")
		}
	}
	if len(seen) != len(cols) {
		return invalid("The token() function contains duplicate partition key components")
	}
	names := make([]string, len(key))
	for i, c := range key {
		names[i] = quote(c.Name)
	}
	if len(cols) > len(key) {
		return invalid("The token() function must contains only partition key components")
	}
	return invalid("The token function arguments must be in the partition key order: %s", strings.Join(names, ", "))
}

// tokens returns the range of tokens that a WHERE names; no range if it is empty.
func (w *Where) tokens(env *eval.Env) (out []TokenRange, err error) {
	all := TokenRange{minToken, maxToken}
	if w.Token == nil {
		return []TokenRange{all}, nil
	}
	r := w.Token
	startTerm, endTerm, startIn, endIn := r.Start, r.End, r.StartInclusive, r.EndInclusive
	if r.Kind == EQ {
		startTerm, endTerm, startIn, endIn = r.Term, r.Term, true, true
	}
	start, hasStart, err := tokenBound(startTerm, env)
	if err != nil {
		return nil, err
	}
	end, hasEnd, err := tokenBound(endTerm, env)
	if err != nil {
		return nil, err
	}
	// The least token means an open end, both as start and as end.
	if hasStart && start != minToken {
		if !startIn {
			if start == maxToken {
				return nil, nil
			}
			start++
		}
		all.Start = start
	}
	if hasEnd && end != minToken {
		if !endIn {
			end--
		}
		all.End = end
	}
	if all.Start > all.End {
		return nil, nil
	}
	return []TokenRange{all}, nil
}

func tokenBound(e eval.Expr, env *eval.Env) (int64, bool, error) {
	if e == nil {
		return 0, false, nil
	}
	v, err := eval.Term(e, env)
	if err != nil {
		return 0, false, err
	}
	if v.Unset {
		return 0, false, invalid("Invalid unset value for partition key token")
	}
	if v.Bytes == nil {
		return 0, false, invalid("Invalid null token value")
	}
	if len(v.Bytes) != 8 {
		return 0, false, invalid("Invalid token value")
	}
	var n uint64
	for _, b := range v.Bytes {
		n = n<<8 | uint64(b)
	}
	return int64(n), true, nil
}

// maxFiltered is the largest number of partition keys that ofTokens filters.
const maxFiltered = 1 << 16

// ofTokens returns the partition keys of a table whose token is in the range that the WHERE names. It computes
// the token of each key.
func (w *Where) ofTokens(keys Tuples, t *schema.Table, env *eval.Env) (Tuples, error) {
	tokens, err := w.tokens(env)
	if err != nil {
		return Tuples{}, err
	}
	if keys.n > maxFiltered {
		return Tuples{}, cartesian("partition key", keys.n, maxFiltered)
	}
	var in list
	for _, k := range keys.All() {
		at := partitioner.Murmur3(partitioner.AppendComposite(nil, k...))
		if slices.ContainsFunc(tokens, func(r TokenRange) bool { return r.Start <= at && at <= r.End }) {
			in.add(k...)
		}
	}
	out := Tuples{n: 1}
	out.add(in, t.PartitionKey)
	return out, nil
}
