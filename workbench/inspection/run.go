// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// Run is the progress of an inspection, which is stored between two calls of the program.
type Run struct {
	Plan     *Plan       `json:"plan"`
	Began    time.Time   `json:"began"`
	Requests int64       `json:"requests"`
	Total    Tally       `json:"total"`
	Done     []RangeDone `json:"done"`
}

// RangeDone holds the counts of a range.
type RangeDone struct {
	Range      int   `json:"range"` // index in the plan
	Partitions int64 `json:"partitions"`
	Rows       int64 `json:"rows"`
	Bytes      int64 `json:"bytes"`
}

// Add adds a range that was read to its end.
func (r *Run) Add(i int, t *Tally) {
	r.Total.Merge(t)
	r.Done = append(r.Done, RangeDone{i, t.Partitions, t.Rows, t.Bytes})
}

// Left returns the ranges still to be read, in their order.
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

// Covered returns the share of the ring that was read.
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

// Complete reports whether everything planned was read.
func (r *Run) Complete() bool { return len(r.Done) == len(r.Plan.Ranges) }

// restore recreates what is not stored, and checks what was.
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

// State is what is stored about a table: an unfinished inspection, and the result of the last one.
type State struct {
	Version int    `json:"version"`
	Table   string `json:"table"` // keyspace.table
	ID      string `json:"id"`    // of the table: a table of the same name with another id is another table
	Run     *Run   `json:"run,omitempty"`
	Last    *Last  `json:"last,omitempty"`
}

// stateVersion is the version of State's form.
const stateVersion = 1

// NewState returns the state of a table that was never inspected.
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

// Goes reports whether an unfinished run can continue: it has the same ring and the fraction that
// is wanted now.
func (r *Run) Goes(nodes []Node, fraction float64) bool {
	return !r.Complete() && r.Plan.Fraction == fraction && slices.EqualFunc(r.Plan.Nodes, nodes, func(a, b Node) bool {
		return a.Address == b.Address && slices.Equal(a.Tokens, b.Tokens)
	})
}

// Last is the result of an inspection, with which the next one compares.
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

// Totals holds estimates for the whole table.
type Totals struct {
	Partitions Interval `json:"partitions"`
	Rows       Interval `json:"rows"`
	Bytes      Interval `json:"bytes"`
}

// Totals estimates the whole table from the ranges that were read.
func (r *Run) Totals() Totals {
	f := r.Covered()
	return Totals{
		Partitions: total(float64(r.Total.Partitions), float64(r.Total.Partitions), 1, f),
		Rows:       total(float64(r.Total.Rows), r.Total.RowSquares, float64(r.Total.MaxRows), f),
		Bytes:      total(float64(r.Total.Bytes), r.Total.ByteSquare, float64(r.Total.MaxBytes), f),
	}
}

// total estimates the sum over all partitions. Each partition was chosen with probability f. The
// chosen ones have the sum sum and the sum of squares squares, and the largest of them has most.
//
// The sum is compound Poisson, and is approximated by a gamma variable of its mean and variance.
// For the upper bound, one more partition like the largest may have been missed (Fay and Feuer,
// 1997). Sizes are skewed: a normal interval would miss the truth four times as often as it says.
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
	// What was seen is certain. Only the rest is random.
	certain := math.Sqrt(1 - f)
	return Interval{sum / f, math.Max(sum, (sum-(sum-low)*certain)/f), (sum + (high-sum)*certain) / f}
}

// gammaQuantile returns the quantile, at a normal deviate, of a gamma variable with that shape and
// scale 1 (Wilson and Hilferty).
func gammaQuantile(shape, z float64) float64 {
	c := math.Max(0, 1-1/(9*shape)+z/(3*math.Sqrt(shape)))
	return shape * c * c * c
}

// poissonHigh returns the mean at which a Poisson count is n or less in only 0.5% of cases (Wilson
// and Hilferty).
func poissonHigh(n float64) float64 {
	k := n + 1
	c := 1 - 1/(9*k) + z99/(3*math.Sqrt(k))
	return k * c * c * c
}
