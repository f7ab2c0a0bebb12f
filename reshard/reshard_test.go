// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"flag"
	"strings"
	"testing"
)

var sweep = flag.Bool("reshard.sweep", false, "explore every scene of two operations: many minutes")

var w, d = value, deletion

// tooMany is more states than any scene of these tests has.
const tooMany = 40_000_000

func holds(t *testing.T, sc scene) {
	t.Helper()
	n, trace, err := explore(sc, tooMany)
	if err != nil || trace != nil {
		t.Errorf("%v: %v\n%s", sc, err, strings.Join(trace, "\n"))
	}
	t.Logf("%8d states: %v", n, sc)
}

// TestRules switches each rule off: the same scene holds with it, and fails without.
func TestRules(t *testing.T) { rules(t, false) }

// TestRulesOfTwoTables does so for a change between two physical tables.
func TestRulesOfTwoTables(t *testing.T) { rules(t, true) }

func rules(t *testing.T, tables bool) {
	fails := map[Rule]scene{
		NewFirst:          {ops: []cell{w(5), d(6)}, first: w(4)},
		QuorumFloor:       {ops: []cell{w(5)}, first: w(4), one: 1},
		PastOldFirst:      {ops: []cell{w(3)}, first: d(4), reads: 1},
		Barriers:          {ops: []cell{d(5)}, first: w(4), reads: 1},
		AnswerCounts:      {ops: []cell{d(5)}, first: w(4), late: true},
		ReadsResolve:      {ops: []cell{w(6)}, first: w(4), reads: 2},
		SwitchingBetween:  {ops: []cell{w(6)}, first: w(4), reads: 2},
		VerifyInSwitching: {ops: []cell{w(6)}, first: w(4), reads: 2, back: true},
		VerifyBothWays:    {ops: []cell{w(6)}, first: w(4), reads: 2, back: true},
		AtAll:             {ops: []cell{d(5)}, first: w(4), one: 1, late: true},
		SweepLate:         {ops: []cell{w(5)}, first: w(4), any: 1},
		SweepWhenQuiet:    {ops: []cell{w(5)}, first: w(4), any: 1},
		SweepWithinGrace:  {ops: []cell{d(5)}, first: w(4), grace: true},
		FreshPlaces:       {ops: []cell{w(3)}, first: w(4), used: d(4)},
		BucketsFirst:      {ops: []cell{w(6)}, first: w(4), buckets: 2},
		BucketDeletions:   {ops: []cell{w(6), d(7)}, first: d(4), buckets: 2},
		FirstsWhenKnown:   {ops: []cell{w(6), d(7)}, first: d(4), rolls: 2, opens: 6},
		LookAtWritten:     {ops: []cell{w(5)}, first: w(4), reads: 2, rolls: 1, opens: 5},
	}
	for _, r := range Rules() {
		sc, ok := fails[r]
		if !ok {
			t.Errorf("rule %b has no scene", r)
			continue
		}
		if sc.rolls != 0 && (!tables || testing.Short()) {
			continue // such places are in two tables
		}
		if sc.tables = tables; tables && r == FreshPlaces {
			sc = scene{first: d(4), ghost: w(3), tables: true} // a name that was used before
		}
		holds(t, sc)
		restore := Off(r)
		n, trace, err := explore(sc, tooMany)
		restore()
		if trace == nil {
			t.Errorf("rule %b: without it nothing fails in %d states (%v): %v", r, n, err, sc)
			continue
		}
		t.Logf("rule %b, %v, %d states:\n%s", r, sc, n, strings.Join(trace, "\n"))
	}
}

// TestExplored explores scenes of two operations with all rules in force.
func TestExplored(t *testing.T) {
	for _, sc := range []scene{
		{ops: []cell{w(6), d(7)}, first: w(4), late: true},
		{ops: []cell{w(5), d(6)}, first: d(4), reads: 1},
		{ops: []cell{w(3), d(7)}, first: w(4), back: true},
		{ops: []cell{d(3), w(5)}, first: w(4), late: true},
		{ops: []cell{d(6)}, first: w(4), reads: 2, back: true},
		{ops: []cell{w(3)}, first: d(4), reads: 2, back: true},
		{ops: []cell{d(5), w(6)}, first: w(4), one: 1},
		{ops: []cell{d(5), w(6)}, first: w(4), one: 1, tables: true, ghost: w(3)},
		{ops: []cell{d(6)}, first: w(4), reads: 2, back: true, tables: true, ghost: d(5)},
		{ops: []cell{d(6)}, first: w(4), late: true, back: true, tables: true},
	} {
		if testing.Short() && len(sc.ops) > 1 {
			continue
		}
		holds(t, sc)
	}
}

// TestBuckets explores changes to, from and between places that are buckets of time.
func TestBuckets(t *testing.T) {
	for _, sc := range []scene{
		{ops: []cell{w(5), d(6)}, first: w(4), tables: true, buckets: 1},
		{ops: []cell{w(5), d(6)}, first: w(4), tables: true, buckets: 2},
		{ops: []cell{w(6), d(7)}, first: d(4), tables: true, buckets: 3},
		{ops: []cell{d(6)}, first: w(4), reads: 1, back: true, tables: true, buckets: 3},
		{ops: []cell{w(6)}, first: w(4), reads: 1, back: true, tables: true, buckets: 3},
		{ops: []cell{d(6)}, first: w(4), late: true, tables: true, buckets: 2},
		{ops: []cell{w(6)}, first: d(4), late: true, back: true, tables: true, buckets: 3},
	} {
		holds(t, sc)
	}
}

// TestRollover explores changes to and from places of strategy rollover.
func TestRollover(t *testing.T) {
	for _, sc := range []scene{
		{ops: []cell{w(5), d(6)}, first: w(4), rolls: 1, opens: 5},
		{ops: []cell{w(6), d(7)}, first: w(4), rolls: 2, opens: 6},
		{ops: []cell{w(6), d(7)}, first: d(4), rolls: 2, opens: 8},
		{ops: []cell{d(6), w(7)}, first: w(4), rolls: 2, opens: 7},
		{ops: []cell{d(6)}, first: w(4), reads: 1, back: true, rolls: 1, opens: 6},
		{ops: []cell{w(6)}, first: w(4), reads: 1, back: true, rolls: 1, opens: 6},
		{ops: []cell{d(6)}, first: w(4), reads: 1, back: true, rolls: 2, opens: 7},
		{ops: []cell{w(6)}, first: w(4), reads: 1, back: true, rolls: 2, opens: 6},
		{ops: []cell{d(6)}, first: w(4), late: true, rolls: 2, opens: 7},
		{ops: []cell{d(6)}, first: w(4), late: true, back: true, rolls: 1, opens: 5},
		{ops: []cell{w(6)}, first: d(4), late: true, back: true, rolls: 1, opens: 6},
		{ops: []cell{w(5)}, first: d(4), late: true, back: true, rolls: 2, opens: 6},
	} {
		if testing.Short() && sc.rolls == 1 {
			continue // millions of states
		}
		sc.tables = true
		holds(t, sc)
	}
}

// TestAllScenes explores every scene of two operations: make explore-reshard.
func TestAllScenes(t *testing.T) {
	if !*sweep {
		holds(t, scene{ops: []cell{w(6)}, first: w(4), late: true, back: true})
		return
	}
	var cells []cell
	for _, ts := range []int{3, 5, 6, 7} {
		cells = append(cells, w(ts), d(ts))
	}
	for _, first := range []cell{w(4), d(4)} {
		for _, sc := range []scene{{late: true}, {reads: 1}, {back: true}, {late: true, back: true}, {one: 1}, {one: 1, late: true}, {reads: 2}, {reads: 2, back: true}} {
			for i, a := range cells {
				for _, b := range cells[i+1:] {
					if a.ts() != b.ts() {
						sc.ops, sc.first = []cell{a, b}, first
						holds(t, sc)
					}
				}
			}
		}
	}
}
