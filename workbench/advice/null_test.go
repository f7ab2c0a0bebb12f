// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"slices"
	"testing"
)

// TestNullKeysAreNamed checks that the report counts and names rows without a value in the advised
// key, and does not count them as told apart by that key. A key of other columns has these rows.
func TestNullKeysAreNamed(t *testing.T) {
	tb := &table{names: []string{"id", "owner"}}
	for i := range 5000 {
		owner := fmt.Sprint("u", i%40)
		if i%50 == 7 {
			owner = ""
		}
		tb.rows = append(tb.rows, []string{fmt.Sprintf("%x", uint64(i+1)*0x9e3779b97f4a7c15), owner})
	}
	r := adviseFile(t, tb, "SELECT * FROM t WHERE owner = ? AND id = ? -- 50/s\nSELECT * FROM t WHERE owner = ? -- 50/s\nINSERT INTO t (id, owner) VALUES (?, ?) -- 10/s", Options{})
	for _, want := range []string{
		"no row that has a key is lost: the primary key is different in each of 4,900 rows",
		"100 rows have no value in owner, and have no place under this key: they count for none of its figures",
	} {
		if !slices.Contains(r.Verdict.Reasons, want) {
			t.Errorf("no %q in %q", want, r.Verdict.Reasons)
		}
	}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if want := int64(100); slices.Contains(append(slices.Clone(c.PartitionKey), c.Clustering...), "owner") != (c.RowsNull == want) {
			t.Errorf("%s: %d rows without a key", c.Design, c.RowsNull)
		}
	}
}
