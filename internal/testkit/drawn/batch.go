// SPDX-License-Identifier: Apache-2.0

package drawn

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// batch is a statement that changes a row and inserts another one, in one BEGIN BATCH … APPLY BATCH.
// Batches are so rare that their load decides nothing. But a batch with a condition is refused unless all
// its rows are in one partition of one table.
type batch struct {
	fence  bool   // the change has a condition, which also guards the row that is inserted
	kind   string // "" or "UNLOGGED "
	before bool   // the insert comes first
	lines  bool   // a statement a line
	change change
}

// batched draws a batch.
func (s *Set) batched(r *rand.Rand) {
	set := role(number)
	if s.roles[set] == "" {
		set = note
	}
	if !chance(r, 30) || s.app == byID || s.roles[set] == "" {
		return
	}
	s.batch = &batch{
		fence: chance(r, 60), before: chance(r, 30), lines: chance(r, 40),
		change: change{set: set, equal: s.rowKey(), rate: 0.001 * min(s.rate, s.load())},
	}
	if !s.batch.fence {
		s.batch.kind = pick(r, "", "UNLOGGED ")
	}
}

// fenced reports whether the rows of a batch must be in one partition. DynamoDB's transactions may have
// items of any keys.
func (s *Set) fenced() bool { return s.batch != nil && s.batch.fence && s.Target != "dynamodb" }

// together computes the effect of a fence: the rows of a key stay in one partition, even if that exceeds a
// limit.
func (s *Set) together() {
	t := &s.Truth
	if !s.fenced() {
		return
	}
	t.ShardsLow, t.ShardsHigh = 1, 1
	if s.app != dated { // whose day is a column that statements give
		t.Bucket, t.BucketIdeal = "", ""
	}
}

// batchText returns the batch as CQL.
func (s *Set) batchText() string {
	b := s.batch
	change := s.changeText(&b.change, "cql")
	if b.fence {
		change += " IF " + ident(s.roles[b.change.set], "cql") + " = ?"
	}
	parts := []string{change + ";", s.insertText("cql") + ";"}
	if b.before {
		slices.Reverse(parts)
	}
	between := " "
	if b.lines {
		between = "\n  "
	}
	return "BEGIN " + b.kind + "BATCH" + between + strings.Join(parts, between) + strings.TrimRight(between, " ") + map[bool]string{false: " "}[b.lines] + "APPLY BATCH"
}
