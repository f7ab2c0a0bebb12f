// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// bookings draws rows of which one column tells each apart, though the table's key needs others, too.
func bookings() string {
	draw := rand.New(rand.NewPCG(5, 6))
	var data strings.Builder
	data.WriteString("booking,doctor,patient,begins\n")
	for i := range 20_000 {
		fmt.Fprintf(&data, "%d,d%d,p%d,%d\n", 100_000+i, draw.IntN(60), draw.IntN(3000), 1_767_225_600_000+900_000*draw.Int64N(30_000))
	}
	return data.String()
}

// TestFurtherTablesAreMinimal checks that a further table has no column in its key that it does not need.
func TestFurtherTablesAreMinimal(t *testing.T) {
	r := advisedOf(t, `INSERT INTO g.bookings (booking, doctor, patient, begins) VALUES (?, ?, ?, ?) -- 2/s
SELECT * FROM g.bookings WHERE doctor = ? AND begins >= ? AND begins < ? -- 30/s
SELECT * FROM g.bookings WHERE booking = ? -- 8/s
SELECT * FROM g.bookings WHERE patient = ? -- 8/s`, bookings())
	var keys []string
	for _, e := range r.Candidates[0].Extras {
		keys = append(keys, e.Key)
	}
	if want := []string{"((patient), booking)", "booking"}; !slices.Equal(slices.Sorted(slices.Values(keys)), want) {
		t.Errorf("the further tables of %s are %v, not %v", r.Candidates[0].Design, keys, want)
	}
}

// TestUnservedByRate checks that the way out for an unserved query depends on how often it is asked.
func TestUnservedByRate(t *testing.T) {
	for rate, filters := range map[string]bool{"50/s": false, "5/h": true} {
		r := advisedOf(t, `INSERT INTO g.bookings (booking, doctor, patient, begins) VALUES (?, ?, ?, ?) -- 30000/s
SELECT * FROM g.bookings WHERE doctor = ? AND begins >= ? AND begins < ? -- 30000/s
SELECT * FROM g.bookings WHERE patient = ? -- `+rate, bookings())
		at := slices.IndexFunc(r.Verdict.Unserved, func(u Unserved) bool { return u.Line == 3 })
		if at < 0 {
			t.Errorf("%s: the query is served", rate)
		} else if got := strings.Contains(r.Verdict.Unserved[at].Why, "Filter it"); got != filters {
			t.Errorf("%s: %s", rate, r.Verdict.Unserved[at].Why)
		}
	}
	for _, target := range []Target{Cassandra, Scylla, Keyspaces, DynamoDB} {
		if often, seldom := target.otherWay(50), target.otherWay(0.001); strings.Contains(often, "Filter it") || !strings.Contains(seldom, "Filter it") {
			t.Errorf("%s: often %q, seldom %q", target, often, seldom)
		}
	}
}

// TestWideReads checks that the verdict names a query that reads very many partitions in a second, and
// no other.
func TestWideReads(t *testing.T) {
	var data strings.Builder
	data.WriteString("board,score,player,at\n")
	for i := range 30_000 {
		fmt.Fprintf(&data, "b%d,%d,p%d,%d\n", i%3, i*7919%10_007, i*31%9973, 1_767_225_600+int64(i)*40)
	}
	for rate, wide := range map[string]bool{"400/s": true, "1/h": false} {
		r := advisedOf(t, `INSERT INTO g.scores (board, score, player, at) VALUES (?, ?, ?, ?) -- 1500/s
SELECT player FROM g.scores WHERE board = ? ORDER BY score DESC LIMIT 100 -- `+rate, data.String())
		all := strings.Join(r.Verdict.Reasons, "\n")
		if !strings.Contains(all, "line 2 reads") {
			t.Fatalf("%s: the query does not read several partitions of %s:\n%s", rate, r.Candidates[0].Design, all)
		}
		if got := strings.Contains(all, "partitions a second. Keep what it asks for in a table of its own: the first 100 rows"); got != wide {
			t.Errorf("%s: %s", rate, all)
		}
	}
}
