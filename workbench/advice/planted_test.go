// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/planted"
)

func rowsOf(t *planted.Table) *table { return &table{names: t.Names, rows: t.Rows} }

// TestPlanted compares the verdicts with those of an expert, both on exact counts and on the
// profile of the same rows in a file.
func TestPlanted(t *testing.T) {
	for _, c := range planted.Sets {
		for _, way := range []struct {
			name   string
			advise func(testing.TB, *table, string, Options) *Report
		}{{"counted", advise}, {"profiled", adviseFile}} {
			t.Run(c.Name+"/"+way.name, func(t *testing.T) {
				r := way.advise(t, rowsOf(c.Rows()), strings.TrimSpace(c.Queries), Options{Target: Target(c.Target)})
				v := r.Verdict
				fail := func(format string, args ...any) { t.Errorf(format+"\n%s", append(args, show(r))...) }
				key := slices.Clone(v.PartitionKey)
				want := strings.Split(c.Key, ",")
				slices.Sort(key)
				slices.Sort(want)
				switch {
				case !slices.Equal(key, want):
					fail("key %v, want %v", key, want)
				case c.Clustering != "" && (len(v.Clustering) == 0 || v.Clustering[0] != c.Clustering):
					fail("clustering %v, want %s first", v.Clustering, c.Clustering)
				case (v.Shards > 1) != c.Sharded:
					fail("%d shards", v.Shards)
				case (v.TimeBucket != nil) != c.Bucket:
					fail("bucket %v", v.TimeBucket)
				case len(v.Extras) != c.Extras:
					fail("%d further tables", len(v.Extras))
				case r.Candidates[0].RowsLost > 0:
					fail("the verdict loses rows")
				}
				for _, b := range c.Bad {
					if !slices.ContainsFunc(r.Antipatterns, func(a Antipattern) bool {
						return a.Name+" "+strings.Join(a.Columns, ",") == b && a.Evidence != ""
					}) {
						fail("no antipattern %q", b)
					}
				}
				for _, n := range c.Not {
					if slices.ContainsFunc(r.Antipatterns, func(a Antipattern) bool { return a.Name == n }) {
						fail("antipattern %s, which it is not", n)
					}
				}
				if c.Hot != "" && !slices.ContainsFunc(r.HotKeys, func(h HotKey) bool { return h.Value == c.Hot }) {
					fail("no hot key %s", c.Hot)
				}
			})
		}
	}
}
