// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"math"
	"testing"

	"github.com/evenkeel/evenkeel/workbench/orders"
)

// TestDetail checks that a key's values are counted one by one, for each number of salts: sizes add
// up to all rows, and are those of the orders.
func TestDetail(t *testing.T) {
	for _, p := range []Partitioner{Murmur3, MD5Mod} {
		o := options(t, p, 4, "code", "code,salt(user,8)", "uuid")
		o.Detail = true
		s := simulation(t, o)
		for r := range orders.Orders(1) {
			if err := s.AddRow(&Row{Values: order(&o, r), Bytes: 100}); err != nil {
				t.Fatal(err)
			}
		}
		r := s.Report()
		// The ten orders of code 0 do not reach all eight salts.
		for i, c := range []struct {
			values, fullest float64
			salts           []int
		}{{11, 1010, nil}, {map[Partitioner]float64{Murmur3: 87, MD5Mod: 85}[p], 151, []int{1, 2, 4, 8, 16, 32}}, {5610, 1, nil}} {
			k := &r.Keys[i]
			d := k.Detail
			rows, bytes, values := 0.0, 0.0, 0.0
			for _, b := range d.Sizes {
				rows, bytes, values = rows+b.Count*b.Rows, bytes+b.Count*b.Bytes, values+b.Count
			}
			if math.Abs(rows-5610) > 1e-6 || math.Abs(bytes-561000) > 1e-3 || math.Abs(values-c.values) > 1e-6 || d.Values.Value != c.values {
				t.Errorf("%s, %s: %v values (%v) with %v rows, %v bytes", p, k.Key, values, d.Values, rows, bytes)
			}
			if math.Abs(d.Fullest.Value/c.fullest-1) > 0.2 || !d.Fullest.Exact() || d.Most != exactly(100*d.Fullest.Value) {
				t.Errorf("%s, %s: the fullest has %v rows, %v bytes", p, k.Key, d.Fullest, d.Most)
			}
			var ns []int
			for j, s := range k.Salts {
				ns = append(ns, s.N)
				if s.Own != (s.N == 8) {
					t.Errorf("%s, %s: N = %d is its own: %v", p, k.Key, s.N, s.Own)
				}
				if j > 0 && (s.Fullest.Value > k.Salts[j-1].Fullest.Value || s.Values.Value <= k.Salts[j-1].Values.Value) {
					t.Errorf("%s, %s: more salts make fuller partitions: %+v", p, k.Key, s)
				}
				if s.N == 1 && (s.Fullest != exactly(1010) || s.Values.Value != 11) {
					t.Errorf("%s, %s: one salt is none: %v values, %v rows", p, k.Key, s.Values, s.Fullest)
				}
			}
			if len(ns) != len(c.salts) {
				t.Errorf("%s, %s: salts %v, want %v", p, k.Key, ns, c.salts)
			}
		}
	}
	if r := run(t, options(t, Murmur3, 4, "code")); r.Keys[0].Detail != nil {
		t.Error("there is a detail that was not asked for")
	}
}
