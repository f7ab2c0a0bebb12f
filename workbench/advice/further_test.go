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

// TestShareOfFurtherTable checks that the verdict says how small a part of the load a further table is for.
func TestShareOfFurtherTable(t *testing.T) {
	for rate, want := range map[string]string{
		"8/s":   "serves line 3, which the table's key does not",
		"3/min": "serves line 3, under 0.1% of the load, which the table's key does not",
	} {
		r := advisedOf(t, `INSERT INTO g.bookings (booking, doctor, patient, begins) VALUES (?, ?, ?, ?) -- 2/s
SELECT * FROM g.bookings WHERE doctor = ? AND begins >= ? AND begins < ? -- 300/s
SELECT * FROM g.bookings WHERE patient = ? -- `+rate, bookings())
		extras := r.Candidates[0].Extras
		if len(extras) != 1 || !strings.HasPrefix(extras[0].Why, want) {
			t.Errorf("%s: %+v, not %s", rate, extras, want)
		}
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

// invoicesOf draws invoices, most of them of one country.
func invoicesOf() string {
	draw := rand.New(rand.NewPCG(8, 6))
	var data strings.Builder
	data.WriteString("invoice,country,issued,total\n")
	for i := range 20_000 {
		country := "DE"
		if draw.IntN(100) >= 80 {
			country = []string{"FR", "IT", "AT", "CH"}[draw.IntN(4)]
		}
		fmt.Fprintf(&data, "i%08x,%s,2026-%02d-%02d,%d\n", uint32(i)*0x9e3779b1, country, 1+i/2000, 1+i%2000/72, draw.IntN(90_000))
	}
	return data.String()
}

// TestOrdersOfOneKey checks queries that ask for the same rows in two orders: each order has an index of its
// own. An index's sort key joins the columns of an order of two.
func TestOrdersOfOneKey(t *testing.T) {
	const asked = `PutItem invoice, country, issued, total -- 900/s
GetItem invoice = :n -- 300/s
SELECT * FROM "rows" WHERE country = ? ORDER BY total DESC LIMIT 10 -- 40/s
SELECT * FROM "rows" WHERE country = ? ORDER BY issued DESC, total DESC LIMIT 10 -- 60/s`
	r := advisedFor(t, asked, invoicesOf(), Options{Target: DynamoDB})
	v := r.Verdict
	var keys []string
	for _, e := range v.Extras {
		keys = append(keys, e.Key)
	}
	if want := []string{"((country), issued DESC, total DESC)", "((country), total DESC)"}; !slices.Equal(keys, want) {
		t.Fatalf("the indexes are %v, not %v", keys, want)
	}
	for i, want := range map[int]string{2: `"IndexName":"by_country_total"`, 3: `"IndexName":"by_country"`} {
		if x := v.Statements[i]; !strings.Contains(x.Text, want) || !strings.Contains(x.Text, `"ScanIndexForward":false`) || strings.Contains(x.Note, "sorts the rows") {
			t.Errorf("%+v", x)
		}
	}
	if all := string(v.CreateTable); !strings.Contains(all, `"issued#total"`) {
		t.Error(all)
	}
	if x := v.Statements[0]; !strings.Contains(x.Text, `"issued#total":{"S":"<issued>#<total>"}`) || !strings.Contains(x.Note, "in issued#total write total with 10 digits") {
		t.Errorf("%+v", x)
	}
	// One sort key cannot ascend and descend.
	mixed := advisedFor(t, strings.ReplaceAll(asked, "issued DESC, total DESC", "issued DESC, total ASC"), invoicesOf(), Options{Target: DynamoDB})
	if x := mixed.Verdict.Statements[3]; !strings.Contains(x.Note, "sorts the rows") {
		t.Errorf("%+v", x)
	}
}

// TestTablesOfTwoOrders checks the same in CQL: a further table for each order, with a name of its own.
func TestTablesOfTwoOrders(t *testing.T) {
	r := advisedOf(t, `INSERT INTO g.invoices (invoice, country, issued, total) VALUES (?, ?, ?, ?) -- 900/s
SELECT * FROM g.invoices WHERE invoice = ? -- 300/s
SELECT * FROM g.invoices WHERE country = ? ORDER BY total DESC LIMIT 10 -- 40/s
SELECT * FROM g.invoices WHERE country = ? ORDER BY issued DESC LIMIT 10 -- 60/s`, invoicesOf())
	var all []string
	for _, x := range r.Verdict.Statements {
		all = append(all, x.Text)
	}
	text := strings.Join(all, "\n")
	if strings.Count(text, "INSERT INTO ") != 3 || !strings.Contains(text, "FROM g.invoices_by_country WHERE country = ? ORDER BY issued DESC") || !strings.Contains(text, "FROM g.invoices_by_country_total WHERE country = ? ORDER BY total DESC") {
		t.Errorf("%s\n%s", r.Verdict.Design, text)
	}
}
