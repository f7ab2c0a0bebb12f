// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// Run is how far an inspection has come: what is kept between two calls of the
// program.
type Run struct {
	Plan     *Plan       `json:"plan"`
	Began    time.Time   `json:"began"`
	Requests int64       `json:"requests"`
	Total    Tally       `json:"total"`
	Done     []RangeDone `json:"done"`
}

// RangeDone is what a range had.
type RangeDone struct {
	Range      int   `json:"range"` // place in the plan
	Partitions int64 `json:"partitions"`
	Rows       int64 `json:"rows"`
	Bytes      int64 `json:"bytes"`
}

// Add adds a range that was read to its end.
func (r *Run) Add(i int, t *Tally) {
	r.Total.Merge(t)
	r.Done = append(r.Done, RangeDone{i, t.Partitions, t.Rows, t.Bytes})
}

// Left are the ranges that are still to be read, in their order.
func (r *Run) Left() []int {
	done := make([]bool, len(r.Plan.Ranges))
	for _, d := range r.Done {
		done[d.Range] = true
	}
	var left []int
	for i, d := range done {
		if !d {
			left = append(left, i)
		}
	}
	return left
}

// Covered is the share of the ring that was read.
func (r *Run) Covered() float64 {
	sum := 0.0
	for _, d := range r.Done {
		sum += r.Plan.Ranges[d.Range].share()
	}
	if r.Plan.Fraction == 1 && len(r.Done) == len(r.Plan.Ranges) {
		return 1
	}
	return math.Min(sum, 1)
}

// Complete says that all that was planned was read.
func (r *Run) Complete() bool { return len(r.Done) == len(r.Plan.Ranges) }

// restore makes what is not written down again, and judges what was.
func (r *Run) restore() error {
	if r.Plan == nil || r.Plan.Pieces < 1 || r.Plan.Segments < 0 || r.Plan.Segments > 1<<20 || !(r.Plan.Fraction > 0 && r.Plan.Fraction <= 1) || r.Plan.Pieces > 1<<20 {
		return fmt.Errorf("there is no plan in it")
	}
	r.Plan = NewPlan(r.Plan.Nodes, r.Plan.PlanOptions)
	seen := make(map[int]bool)
	for _, d := range r.Done {
		if d.Range < 0 || d.Range >= len(r.Plan.Ranges) || seen[d.Range] {
			return fmt.Errorf("range %d is not of the plan", d.Range)
		}
		seen[d.Range] = true
	}
	return nil
}

// State is what is kept of a table: an inspection that was not finished, and what the
// last one found.
type State struct {
	Version int    `json:"version"`
	Table   string `json:"table"` // keyspace.table
	ID      string `json:"id"`    // of the table: another one of its name is another table
	Run     *Run   `json:"run,omitempty"`
	Last    *Last  `json:"last,omitempty"`
}

// stateVersion is that of the form of State.
const stateVersion = 1

// NewState is that of a table that was not looked at before.
func NewState(table, id string) *State { return &State{Version: stateVersion, Table: table, ID: id} }

// ReadState reads a state.
func ReadState(text []byte) (*State, error) {
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("is no state of an inspection: %w", err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("is of version %d, and this program reads %d", s.Version, stateVersion)
	}
	if s.Run != nil {
		if err := s.Run.restore(); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

// Goes says whether an unfinished run goes on as the same plan: of the same ring, and
// of the fraction that is wanted now.
func (r *Run) Goes(nodes []Node, fraction float64) bool {
	return !r.Complete() && r.Plan.Fraction == fraction && slices.EqualFunc(r.Plan.Nodes, nodes, func(a, b Node) bool {
		return a.Address == b.Address && slices.Equal(a.Tokens, b.Tokens)
	})
}

// Last is what an inspection found, for the next one to compare with.
type Last struct {
	At         time.Time   `json:"at"`
	Covered    float64     `json:"covered"`
	Partitions Interval    `json:"partitions"`
	Rows       Interval    `json:"rows"`
	Bytes      Interval    `json:"bytes"`
	P50        float64     `json:"p50_bytes"`
	P99        float64     `json:"p99_bytes"`
	Max        float64     `json:"max_bytes"`
	Largest    []Partition `json:"largest"`
}

// Totals are estimates of the whole table.
type Totals struct {
	Partitions Interval `json:"partitions"`
	Rows       Interval `json:"rows"`
	Bytes      Interval `json:"bytes"`
}

// Totals are what the ranges that were read say of the whole table.
func (r *Run) Totals() Totals {
	f := r.Covered()
	return Totals{
		Partitions: total(float64(r.Total.Partitions), float64(r.Total.Partitions), 1, f),
		Rows:       total(float64(r.Total.Rows), r.Total.RowSquares, float64(r.Total.MaxRows), f),
		Bytes:      total(float64(r.Total.Bytes), r.Total.ByteSquare, float64(r.Total.MaxBytes), f),
	}
}

// total is the sum over all partitions, of which each was chosen with probability f:
// n of them with that sum, that sum of squares, and most in one.
//
// The sum is compound Poisson, about a gamma variable of its mean and variance; above,
// one more partition like the largest may have been missed (Fay and Feuer, 1997). Sizes
// are skewed: a normal interval would miss four times as often as it says.
func total(sum, squares, most, f float64) Interval {
	if f >= 1 {
		return exactly(sum)
	}
	if f <= 0 || sum == 0 {
		return Interval{0, 0, math.Inf(1)}
	}
	low := gammaQuantile(sum*sum/squares, -z99) * squares / sum
	above, wide := sum+most, squares+most*most
	high := gammaQuantile(above*above/wide, z99) * wide / above
	// What was seen is certain: only the rest is by chance.
	certain := math.Sqrt(1 - f)
	return Interval{sum / f, math.Max(sum, (sum-(sum-low)*certain)/f), (sum + (high-sum)*certain) / f}
}

// gammaQuantile is the quantile of a gamma variable of that shape and scale 1 at a
// normal deviate (Wilson and Hilferty).
func gammaQuantile(shape, z float64) float64 {
	c := math.Max(0, 1-1/(9*shape)+z/(3*math.Sqrt(shape)))
	return shape * c * c * c
}

// poissonHigh is the mean below which a Poisson count is n or less in fewer than
// 0.5% of cases (Wilson and Hilferty).
func poissonHigh(n float64) float64 {
	k := n + 1
	c := 1 - 1/(9*k) + z99/(3*math.Sqrt(k))
	return k * c * c * c
}
