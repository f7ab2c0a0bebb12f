// SPDX-License-Identifier: Apache-2.0

package value

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestOrderIsClusteringOrder compares Compare and Canonical with a real Cassandra. 300 values of
// each type were inserted there as clustering keys and read back.
func TestOrderIsClusteringOrder(t *testing.T) {
	data, err := os.ReadFile("testdata/order.tsv")
	if err != nil {
		t.Fatal(err)
	}
	types := 0
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		typ, _, err := ParseClass(f[0])
		if err != nil {
			t.Fatal(err)
		}
		types++
		values := func(s string) (vs [][]byte) {
			for h := range strings.SplitSeq(s, ",") {
				vs = append(vs, unhex(t, h))
			}
			return vs
		}
		inserted, rows := values(f[1]), values(f[2])
		t.Run(typ.String(), func(t *testing.T) {
			if len(inserted) != 300 {
				t.Fatalf("%d values", len(inserted))
			}
			for i := 1; i < len(rows); i++ {
				if typ.Compare(rows[i-1], rows[i]) >= 0 {
					t.Errorf("0x%x is not before 0x%x", rows[i-1], rows[i])
				}
			}
			canonical := map[string]bool{}
			for _, v := range inserted {
				bound, err := typ.Bind(v)
				if err != nil {
					t.Fatal(err)
				}
				if string(typ.Canonical(nil, v)) != string(typ.Canonical(nil, bound)) {
					t.Errorf("0x%x and what is stored of it differ canonically", v)
				}
				v = bound
				canonical[string(typ.Canonical(nil, v))] = true
				if !slices.ContainsFunc(rows, func(r []byte) bool { return typ.Compare(v, r) == 0 }) {
					t.Errorf("0x%x is equal to no row", v)
				}
				if err := typ.Validate(v); err != nil {
					t.Errorf("0x%x: %v", v, err)
				}
			}
			// Fewer canonical values than rows would be safe. More would mean lost rows.
			if len(canonical) > len(rows) || len(canonical) < len(rows)*9/10 {
				t.Errorf("%d canonical values, %d rows", len(canonical), len(rows))
			}
		})
	}
	if types < 34 {
		t.Errorf("only %d types", types)
	}
}
