// SPDX-License-Identifier: Apache-2.0

package drawn

import (
	"math"
	"slices"
	"testing"
)

const seeds = 60

func TestSameSeedSameSet(t *testing.T) {
	for seed := range uint64(seeds) {
		a, b := New(seed), New(seed)
		if a.Queries != b.Queries || a.Truth.String() != b.Truth.String() || !slices.EqualFunc(a.Rows, b.Rows, slices.Equal) {
			t.Fatalf("seed %d: two sets", seed)
		}
	}
}

// TestTruthIsOfTheRows checks that the rows show what the truth says about the process, as far as
// chance allows.
func TestTruthIsOfTheRows(t *testing.T) {
	kinds := make(map[application]int)
	for seed := range uint64(seeds) {
		s := New(seed)
		kinds[s.app]++
		want, got := s.p.largest(false), s.Truth.TopShare.Value
		n := float64(len(s.Rows))
		if slack := 5*math.Sqrt(want/n) + 3/n; got < want-slack || got > want+slack+4*math.Sqrt(want/n) {
			t.Errorf("seed %d (%s): the greatest entity has %.4f of the rows, its process says %.4f", seed, s.What, got, want)
		}
		ids := make(map[string]bool)
		if at := s.at(s.roles[id]); at >= 0 {
			for _, row := range s.Rows {
				ids[row[at]] = true
			}
			if (len(ids) == len(s.Rows)) != s.unique {
				t.Errorf("seed %d: %d ids of %d rows, unique: %t", seed, len(ids), len(s.Rows), s.unique)
			}
		}
		if s.p.pattern == regular && s.roles[when] != "" && s.time.fine.Seconds() <= s.p.period/2 {
			keys := make(map[string]bool)
			for _, row := range s.Rows {
				keys[row[s.at(s.roles[entity])]+"\x00"+row[s.at(s.roles[when])]] = true
			}
			if len(keys) != len(s.Rows) && s.nulls == 0 {
				t.Errorf("seed %d: rows of one entity at the same time, though it writes at fixed times", seed)
			}
		}
		if high := s.Truth.ShardsHigh; s.Truth.ShardsLow < 1 || high < s.Truth.ShardsLow {
			t.Errorf("seed %d: %d to %d shards", seed, s.Truth.ShardsLow, high)
		}
	}
	if len(kinds) != int(applications) {
		t.Errorf("not every application was drawn: %v", kinds)
	}
}

// TestScore checks that the right answer gets all points, and that wrong answers get few.
func TestScore(t *testing.T) {
	for seed := range uint64(seeds) {
		tr := &New(seed).Truth
		a := &Answer{
			Partition: tr.Keys[0].Partition, Clustering: slices.Concat(tr.Keys[0].Order, tr.Keys[0].Identity[0]), Bucket: tr.Bucket, Shards: tr.ShardsLow, Further: tr.Further,
			Rows: tr.Rows, EventTime: tr.EventTime, Peak: Interval{Value: tr.Peak.Value}, RowsAtRate: Interval{Value: tr.RowsAtRate.Value},
			LostPerDay: Interval{Value: tr.LostPerDay.Value}, P99: Interval{Value: tr.P99.Value}, Cache: tr.Cache, FasterFrom: tr.FasterFrom, Columns: make(map[string]Column), Hot: []string{tr.Hot},
		}
		for _, n := range tr.Names {
			a.Names = append(a.Names, Named{n.Any[0], []string{n.Column}})
		}
		for _, c := range tr.Texts {
			a.Columns[c] = Column{Text: true}
		}
		e := a.Columns[tr.EntityColumn]
		e.Distinct, e.TopShare = Interval{Value: tr.Distinct.Value}, Interval{Value: tr.TopShare.Value}
		a.Columns[tr.EntityColumn] = e
		a.Columns[tr.EventTime] = Column{First: tr.First, Last: tr.Last}
		if p := Score(tr, a); math.Abs(p.Total()-100) > 1e-9 {
			t.Errorf("seed %d: the truth has %.1f points: %q", seed, p.Total(), p.Faults)
		}
		if p := Score(tr, &Answer{}); p.Total() > 45 {
			t.Errorf("seed %d: nothing has %.1f points", seed, p.Total())
		}
		a.Partition = []string{"another"}
		a.Columns[tr.EntityColumn] = Column{Text: true}
		if p := Score(tr, a); p.Total() > 62 {
			t.Errorf("seed %d: another key has %.1f points", seed, p.Total())
		}
	}
}
