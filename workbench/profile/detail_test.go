// SPDX-License-Identifier: Apache-2.0

package profile_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// TestDetailAddsUp checks that the sizes that plots show add up to the rows, however many
// partitions there are.
func TestDetailAddsUp(t *testing.T) {
	for _, keys := range []int{3, 1000, 60_000} {
		var b strings.Builder
		b.WriteString("k,at,n\n")
		const total = 120_000
		for i := range total {
			k := i % keys
			if i%4 == 0 {
				k = 0
			}
			fmt.Fprintf(&b, "key%d,2024-01-%02dT%02d:00:00Z,%d\n", k, 1+i*28/total, i%24, i)
		}
		in, err := rows.OpenBytes("data.csv", []byte(b.String()), rows.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.Of(t.Context(), in, profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := profile.Candidate{Partition: []profile.Part{{Column: "k"}}, Clustering: []string{"n"}, Time: "at", Detail: true}
		sharded := c
		sharded.Shards = 4
		ms, _, err := profile.Measure(t.Context(), in, p, []profile.Candidate{c, sharded}, profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range ms {
			count, sum := 0.0, 0.0
			for j, s := range m.Detail.Sizes {
				count += s.Count
				sum += s.Count * s.Rows
				if j > 0 && s.Rows < m.Detail.Sizes[j-1].Rows {
					t.Fatalf("%d keys: sizes are not in order", keys)
				}
			}
			if math.Abs(count-m.Partitions.Value) > 0.05*m.Partitions.Value {
				t.Errorf("%d keys, candidate %d: %g partitions, %g in the plot", keys, i, m.Partitions.Value, count)
			}
			if math.Abs(sum-total) > 0.05*total {
				t.Errorf("%d keys, candidate %d: %g rows in the plot", keys, i, sum)
			}
			if last := m.Detail.Sizes[len(m.Detail.Sizes)-1]; math.Abs(last.Rows-m.RowSizes.Max.Value) > 0.02*last.Rows {
				t.Errorf("%d keys, candidate %d: the largest has %g rows, %g in the plot", keys, i, m.RowSizes.Max.Value, last.Rows)
			}
			heat, hot := int64(0), 0
			for _, times := range m.Detail.Heat {
				for r, n := range times {
					heat += n
					if n > 0 {
						hot |= 1 << r
					}
				}
			}
			if heat != total {
				t.Errorf("%d keys, candidate %d: %d rows in the heat", keys, i, heat)
			}
			if keys >= 1000 && hot != 1<<profile.HeatRanges-1 {
				t.Errorf("%d keys, candidate %d: ranges of tokens %b", keys, i, hot)
			}
		}
	}
}

func TestDetailIsAskedFor(t *testing.T) {
	in, err := rows.OpenBytes("data.csv", []byte("k,n\na,1\nb,2\n"), rows.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Of(t.Context(), in, profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := profile.Candidate{Partition: []profile.Part{{Column: "k"}}}
	detailed := c
	detailed.Detail = true
	ms, _, err := profile.Measure(t.Context(), in, p, []profile.Candidate{c, detailed}, profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if ms[0].Detail != nil || ms[1].Detail == nil || ms[1].Detail.Heat != nil {
		t.Errorf("%+v %+v", ms[0].Detail, ms[1].Detail)
	}
}
