// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// TestGroupsInOrder reads GROUP BY and aggregates with IN on the partition key and ORDER
// BY, which Cassandra takes without pages: groups come in the order of their first rows.
func TestGroupsInOrder(t *testing.T) {
	st, err := cluster.Connect(t.Context(), cluster.Options{Contacts: []string{cassandra.Shared(t)}, ConnectTimeout: time.Minute}) // a loaded machine is slow
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	w := &twins{scene: newScene(t, st), layouts: layouts}
	w.create("p int, c int, d int, v int, f float, s int static, PRIMARY KEY (p, c, d)", " WITH CLUSTERING ORDER BY (c ASC, d DESC)")
	for _, text := range []string{
		"INSERT INTO TABLE (p, c, d, v, f, s) VALUES (1, 1, 1, 1, 0.5, 7)",
		"INSERT INTO TABLE (p, c, d, v, f) VALUES (1, 1, 2, 2, 0.25)",
		"INSERT INTO TABLE (p, c, d, v, f) VALUES (1, 2, 1, 3, 1e8)",
		"INSERT INTO TABLE (p, c, d, v, f) VALUES (1, 4, 1, 4, 1)",
		"INSERT INTO TABLE (p, c, d, v, f) VALUES (2, 1, 1, 5, 2)",
		"INSERT INTO TABLE (p, c, d, v, f, s) VALUES (2, 2, 2, 6, -1e8, 8)",
		"INSERT INTO TABLE (p, c, d, v, f) VALUES (2, 3, 3, 7, 3)",
		"UPDATE TABLE SET s = 9 WHERE p = 3",
	} {
		if fault := w.write(text); fault != "" {
			t.Fatal(fault)
		}
	}
	for _, text := range []string{
		"SELECT p, c, sum(v) FROM TABLE WHERE p IN (1, 2) GROUP BY p, c ORDER BY c",
		"SELECT p, c, sum(v) FROM TABLE WHERE p IN (2, 1, 3) GROUP BY p, c ORDER BY c DESC",
		"SELECT p, c, d, v FROM TABLE WHERE p IN (1, 2) GROUP BY p, c ORDER BY c DESC, d ASC",
		"SELECT p, c, d FROM TABLE WHERE p IN (1, 2) GROUP BY p, c, d ORDER BY c, d DESC",
		"SELECT p, count(*), max(v), sum(f), avg(f) FROM TABLE WHERE p IN (1, 2) GROUP BY p ORDER BY c DESC",
		"SELECT p, s, count(*) FROM TABLE WHERE p IN (1, 2, 3) GROUP BY p ORDER BY c",
		"SELECT p, c, sum(v) FROM TABLE WHERE p IN (1, 2) GROUP BY p, c ORDER BY c LIMIT 3",
		"SELECT p, c, sum(v) FROM TABLE WHERE p IN (1, 2) GROUP BY p, c ORDER BY c DESC LIMIT 1",
		"SELECT p, c, sum(v) FROM TABLE WHERE p IN (1, 2) GROUP BY p, c ORDER BY c PER PARTITION LIMIT 2",
		"SELECT p, c, sum(v) FROM TABLE WHERE p IN (1, 2) GROUP BY p, c ORDER BY c DESC PER PARTITION LIMIT 2 LIMIT 3",
		"SELECT p, c, sum(v) FROM TABLE WHERE p IN (1, 2) AND c > 1 GROUP BY p, c ORDER BY c DESC",
		"SELECT p, c, sum(v) FROM TABLE WHERE p IN (1, 2) AND c IN (1, 2) GROUP BY p, c ORDER BY c",
		"SELECT p, c, count(*) FROM TABLE WHERE p IN (1, 2) AND v > 2 GROUP BY p, c ORDER BY c ALLOW FILTERING",
		"SELECT JSON p, c, sum(v) FROM TABLE WHERE p IN (1, 2) GROUP BY p, c ORDER BY c DESC",
		"SELECT sum(v), count(*), avg(f) FROM TABLE WHERE p IN (1, 2) ORDER BY c",
		"SELECT sum(v), min(c), max(d) FROM TABLE WHERE p IN (1, 2) ORDER BY c DESC LIMIT 1",
		"SELECT count(*) FROM TABLE WHERE p IN (8, 9) ORDER BY c",
		"SELECT p, count(*) FROM TABLE WHERE p IN (8, 9) GROUP BY p ORDER BY c",
		"SELECT count(*), sum(v) FROM TABLE WHERE p IN (1, 2) AND c IN () ORDER BY c",
		"SELECT v FROM TABLE WHERE p IN (1, 2) ORDER BY c DESC LIMIT 4",
	} {
		want := show(w.must(w.v5, w.text(-1, text)))
		for i, layout := range w.layouts {
			if got := show(w.must(w.v5, w.text(i, text))); got != want {
				t.Errorf("%s\n%s\nwant %sgot  %s", text, layout, want, got)
			}
		}
		for _, paged := range []int{-1, 0} { // pages are refused alike
			a := w.paged(w.v5, w.text(paged, text), 2)
			if a.Code != 0x2200 {
				t.Errorf("%s, in pages: %s", text, show(a))
			}
		}
	}
}

// TestPagesOfGroups reads groups page by page: a sharded table has no page more than a plain one. The
// last group that PER PARTITION LIMIT allows is the last of the page and of the result.
func TestPagesOfGroups(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		w := &twins{scene: newScene(t, st), layouts: layouts[1:5]}
		w.create("p int, c int, v int, s int static, PRIMARY KEY (p, c)", "")
		for p := range 3 {
			for c := range 2*p + 1 {
				if fault := w.write(fmt.Sprintf("INSERT INTO TABLE (p, c, v) VALUES (%d, %d, %d)", p, c, c)); fault != "" {
					t.Fatal(fault)
				}
			}
		}
		if fault := w.write("UPDATE TABLE SET s = 1 WHERE p = 5"); fault != "" {
			t.Fatal(fault)
		}
		for _, where := range []string{"p = 1", "p = 2 AND c > 1", "p = 2 AND c IN (0, 3)", "p IN (0, 2)", "p IN (2, 0, 1)", "p IN (1, 9)", "p = 5", "p IN (0, 5)"} {
			for _, limits := range []string{"", " PER PARTITION LIMIT 1", " PER PARTITION LIMIT 2", " PER PARTITION LIMIT 2 LIMIT 3"} {
				text := "SELECT p, c, count(*), sum(v) FROM TABLE WHERE " + where + " GROUP BY p, c" + limits
				for size := range int32(3) {
					want, pages := w.pages(w.text(-1, text), 1+size)
					for i, l := range w.layouts {
						got, n := w.pages(w.text(i, text), 1+size)
						if got != want || n > pages {
							t.Errorf("%s, %s in pages of %d: %d pages, and %d of a plain table\nwant %s\ngot  %s", text, l, 1+size, n, pages, want, got)
						}
					}
				}
			}
		}
	})
}

// pages reads all pages of a result. It returns the rows, and how many pages there are.
func (w *twins) pages(text string, size int32) (rows string, pages int) {
	w.t.Helper()
	for req := (difftest.Request{Query: text, PageSize: size}); ; {
		a, err := w.v5.Query(req)
		if err != nil || a.Kind != difftest.Rows {
			w.t.Fatalf("%s: %v %v", text, a, err)
		}
		pages++
		for _, row := range a.Rows {
			rows += fmt.Sprintf(" %x", row)
		}
		if req.State = a.State; a.State == nil {
			return rows, pages
		}
	}
}
