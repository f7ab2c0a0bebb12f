package profile

import (
	"context"
	"errors"
)

// Of reads the rows once and says what they are like. When ctx ends, what was read
// until then is the result, with Partial set.
func Of(ctx context.Context, in Input, o Options) (*Profile, error) {
	return nil, errors.New("profile: not there yet")
}

// Measure reads the rows once more and says what each candidate would do. p is what
// Of said of the same rows: types are taken from it. Candidates are measured
// together, some tens of them in about the time that it takes to read the rows. When
// ctx ends, what was read until then is the result, and partial is true.
func Measure(ctx context.Context, in Input, p *Profile, candidates []Candidate, o Options) (measured []*Measured, partial bool, err error) {
	return nil, false, errors.New("profile: not there yet")
}

// Nodes spreads the rows over a ring of tokens: owner is the nodes of each token's
// range (up to and including the token; the first also takes what is above the last),
// and the result is each node's rows.
func (m *Measured) Nodes(nodes int, tokens []int64, owners [][]int) []float64 {
	return make([]float64, nodes)
}
