// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// TestFatPartitions checks that the size of a partition is predicted from its own rows. All devices
// have as many rows, and the rows of one device are ten times as large.
func TestFatPartitions(t *testing.T) {
	r := advised(t, `INSERT INTO iot.events (device, at, note) VALUES (?, ?, ?) -- 500/s
SELECT * FROM iot.events WHERE device = ? AND at >= ? AND at < ? -- 10/s`, "device,at,note", func(i int, at time.Time) string {
		note := "ok"
		if i%50 == 0 {
			note = strings.Repeat("x", 1000)
		}
		return fmt.Sprintf("d%02d,%s,%s", i%50, at.Format("2006-01-02T15:04:05.000Z"), note)
	})
	c := &r.Candidates[0]
	perDay := 500.0 / 50 * 86400 * 1010
	if r.Verdict.TimeBucket == nil || c.PartitionKey[0] != "device" {
		t.Fatalf("%s", c.Design)
	}
	hours := map[string]float64{"1h": 1, "1d": 24}[*r.Verdict.TimeBucket]
	if want := perDay / 24 * hours; c.ProjectedBytes < 0.95*want || c.ProjectedBytes > 1.2*want {
		t.Errorf("in buckets of a %s the largest partition is said to get %.0f bytes, %.0f are right", *r.Verdict.TimeBucket, c.ProjectedBytes, want)
	}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if c.TimeBucket == "day" && c.Shards == 1 && !slices.ContainsFunc(c.Exceeded, func(e Exceeded) bool { return strings.Contains(e.Text, "more than 100 MB") }) {
			t.Errorf("%s: a day has %.0f bytes, and no limit is exceeded: %v", c.Design, perDay, c.Exceeded)
		}
	}
}

// TestFurtherTableOfFewRows checks a further table by a column in which few rows have a value. The
// table has these rows alone, and the advice says how many are missing.
func TestFurtherTableOfFewRows(t *testing.T) {
	r := advised(t, `SELECT * FROM shop.items WHERE sku = ? -- 800/s
SELECT * FROM shop.items WHERE ean = ? -- 60/s
INSERT INTO shop.items (sku, name, ean) VALUES (?, ?, ?) -- 3/s`, "sku,name,ean", func(i int, at time.Time) string {
		ean := ""
		if i%5 == 0 {
			ean = fmt.Sprintf("%013d", i*7919%1000003)
		}
		return fmt.Sprintf("%05d-A,article %d,%s", i, i%700, ean)
	})
	v := r.Verdict
	if len(v.Extras) != 1 || len(v.Unserved) > 0 || v.Extras[0].design.Partition[0].Column != "ean" || !strings.Contains(v.Extras[0].Why, "24,000 rows have no value in ean, and are not in it") {
		t.Fatalf("further tables %+v, unserved %+v", v.Extras, v.Unserved)
	}
	if !slices.ContainsFunc(v.Statements, func(s Statement) bool {
		return strings.HasPrefix(s.Text, "INSERT INTO shop.items_by_ean") && strings.Contains(s.Note, "only if ean has a value")
	}) {
		t.Errorf("%+v", v.Statements)
	}
}

// TestSparseIndex checks that an index of DynamoDB by such a column is advised, too, and that the
// application is told to leave the attribute out: DynamoDB refuses an empty one.
func TestSparseIndex(t *testing.T) {
	var data strings.Builder
	data.WriteString("sku,name,ean\n")
	for i := range 5000 {
		ean := ""
		if i%5 == 0 {
			ean = fmt.Sprintf("%013d", i*7919%1000003)
		}
		fmt.Fprintf(&data, "%05d-A,article %d,%s\n", i, i%700, ean)
	}
	r := advisedFor(t, "SELECT * FROM items WHERE sku = ? -- 800/s\nSELECT * FROM items WHERE ean = ? -- 60/s\nINSERT INTO items (sku, name, ean) VALUES (?, ?, ?) -- 3/s", data.String(), Options{Target: DynamoDB})
	if len(r.Verdict.Extras) != 1 || !strings.Contains(r.Verdict.Statements[2].Note, "leave ean out of an item that has no value in it") {
		t.Errorf("%+v %+v", r.Verdict.Extras, r.Verdict.Statements)
	}
}

// TestTooLargeItems checks that the antipatterns name rows that are larger than an item of DynamoDB may
// be, with the limit, the size, and the column that has most of it.
func TestTooLargeItems(t *testing.T) {
	data := "doc,owner,body\n"
	for i := range 300 {
		n := 2000
		if i%100 == 7 {
			n = 500_000
		}
		data += fmt.Sprintf("d%d,o%d,%s\n", i, i%9, strings.Repeat("x", n))
	}
	asked := "SELECT * FROM docs WHERE doc = ? -- 5/s\nINSERT INTO docs (doc, owner, body) VALUES (?, ?, ?) -- 1/s"
	for target, want := range map[Target]bool{DynamoDB: true, Keyspaces: false, Cassandra: false} {
		r := advisedFor(t, asked, data, Options{Target: target})
		found := slices.ContainsFunc(r.Antipatterns, func(a Antipattern) bool {
			return a.Name == "too large" && slices.Equal(a.Columns, []string{"body"}) && strings.Contains(a.Evidence, "409,600 bytes") && strings.Contains(a.Evidence, "500,000")
		})
		if found != want {
			t.Errorf("%s: %+v", target, r.Antipatterns)
		}
	}
}

// TestNumbersBesideTimes checks that numbers which could be seconds since 1970, but rise otherwise
// than the times beside them, stay numbers.
func TestNumbersBesideTimes(t *testing.T) {
	number := 1_690_000_000
	r := advised(t, `INSERT INTO fakt.bills (bill, customer, entered) VALUES (?, ?, ?) -- 4/s
SELECT * FROM fakt.bills WHERE bill = ? -- 120/s
SELECT * FROM fakt.bills WHERE customer = ? ORDER BY entered DESC LIMIT 20 -- 90/s`, "bill,customer,entered", func(i int, at time.Time) string {
		number += 1 + i*7%3
		return fmt.Sprintf("%d,c%d,%s", number, i*7919%997, at.Format("02.01.2006 15:04"))
	})
	v := r.Verdict
	if !slices.Equal(v.PartitionKey, []string{"bill"}) || len(v.Clustering) > 0 || r.EventTime != "entered" {
		t.Errorf("%v %v, written at %s", v.PartitionKey, v.Clustering, r.EventTime)
	}
	for _, a := range r.Antipatterns {
		if a.Columns[0] == "bill" {
			t.Errorf("%+v", a)
		}
	}
}

// TestPlural checks that evidence says "1 row" and "1 value", and not "1 rows" or "1 values".
func TestPlural(t *testing.T) {
	r := advised(t, "INSERT INTO m.s (host, at, v) VALUES (?, ?, ?) -- 3000/s\nSELECT * FROM m.s WHERE host = ? AND at > ? -- 5/s", "host,at,v", func(i int, at time.Time) string {
		return fmt.Sprintf("web1,%d,%d", 1_780_000_000_000+i/2, i%2*max(0, i-1))
	})
	for _, a := range r.Antipatterns {
		if strings.Contains(" "+a.Evidence, " 1 values") || strings.Contains(" "+a.Evidence, " 1 rows") {
			t.Errorf("%s: %s", a.Name, a.Evidence)
		}
	}
}

// TestSparseIsNoBurst checks that rows which come seldom are not said to come in bursts, although
// most seconds have no row and some have two.
func TestSparseIsNoBurst(t *testing.T) {
	r := advisedOf(t, "INSERT INTO t (room, at) VALUES (?, ?) -- 1/s", seldom())
	for _, a := range r.Antipatterns {
		if strings.Contains(a.Evidence, "bursts") {
			t.Errorf("a row every 15 seconds or so: %s (%v): %s", a.Name, a.Columns, a.Evidence)
		}
	}
}

// seldom returns rows that come by chance, four a minute.
func seldom() string {
	draw := rand.New(rand.NewPCG(8, 8))
	var data strings.Builder
	data.WriteString("room,at\n")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 5000 {
		at = at.Add(time.Duration(15 * draw.ExpFloat64() * float64(time.Second)))
		fmt.Fprintf(&data, "r%d,%s\n", i*7919%20, at.Format("2006-01-02T15:04:05.000Z"))
	}
	return data.String()
}

// TestFatKeys checks that the key with the most write units is the hottest, and not the key with the
// most writes. Tenant fat has a tenth of the rows, each of nine units. Tenant many has a fifth, each of
// one unit.
func TestFatKeys(t *testing.T) {
	var data strings.Builder
	data.WriteString("tenant,doc,body\n")
	for i := range 20_000 {
		tenant, n := fmt.Sprintf("t%d", 2+i%100), 200
		switch {
		case i%10 == 0:
			tenant, n = "fat", 8200
		case i%5 == 1:
			tenant = "many"
		}
		fmt.Fprintf(&data, "%s,d%07d,%s\n", tenant, i, strings.Repeat("x", n))
	}
	asked := "SELECT * FROM docs WHERE tenant = ? AND doc = ? -- 50/s\nSELECT * FROM docs WHERE tenant = ? -- 5/s\nINSERT INTO docs (tenant, doc, body) VALUES (?, ?, ?) -- 3000/s"
	r := advisedFor(t, asked, data.String(), Options{Target: DynamoDB})
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if !slices.Equal(c.PartitionKey, []string{"tenant"}) {
			continue
		}
		if units := c.Heat.WriteUnits * float64(c.Shards); math.Abs(units-300*9) > 30 {
			t.Errorf("%s: %.0f units a second to the hottest key, 2,700 are right", c.Design, units)
		}
		if c.Shards < 4 && c.Exceeded == nil {
			t.Errorf("%s keeps the limits", c.Design)
		}
	}
	if got := r.Candidates[0].Heat.Moment; math.Abs(got.Writes-300) > 5 {
		t.Errorf("the hottest key is said to get %.0f writes a second", got.Writes)
	}
}

// TestBytesOfIndexes checks the size of an item whose table has an index by two columns. The
// application stores one more attribute in each item, which joins the values of the two columns. The
// test compares with the same table without the index.
func TestBytesOfIndexes(t *testing.T) {
	var data strings.Builder
	data.WriteString("id,country,city\n")
	for i := range 5000 {
		fmt.Fprintf(&data, "%08d-x,c%d,t%02d\n", i, i%7, i%90)
	}
	asked := "SELECT * FROM items WHERE id = ? -- 80/s\nINSERT INTO items (id, country, city) VALUES (?, ?, ?) -- 3/s\n"
	plain := advisedFor(t, asked, data.String(), Options{Target: DynamoDB})
	r := advisedFor(t, asked+"SELECT * FROM items WHERE country = ? AND city = ? -- 60/s", data.String(), Options{Target: DynamoDB})
	if len(r.Verdict.Extras) != 1 || !strings.Contains(r.Verdict.Statements[1].Text, `"country#city"`) && !strings.Contains(r.Verdict.Statements[1].Text, `"city#country"`) {
		t.Fatalf("%+v %+v", r.Verdict.Extras, r.Verdict.Statements)
	}
	joined := float64(len("country#city") + len("c1#t01")) // the name and a value of the attribute
	if more := r.Candidates[0].ItemBytes - plain.Candidates[0].ItemBytes; math.Abs(more-joined) > 0.1 {
		t.Errorf("the index adds %v bytes to an item, %v are right", more, joined)
	}
}

// TestUnitsOfSizesThatVary checks that the units of a write are those of the single items, and not
// those of an item of the mean size. Half of the items take one unit, half take two.
func TestUnitsOfSizesThatVary(t *testing.T) {
	var data strings.Builder
	data.WriteString("owner,id,body\n")
	for i := range 20_000 {
		size := 500
		if i/7%2 == 0 {
			size = 1500
		}
		fmt.Fprintf(&data, "o%d,%08d-x,%s\n", i%5, i, strings.Repeat("x", size-len("ownerid")-100))
	}
	asked := "SELECT * FROM notes WHERE owner = ? -- 1/s\nINSERT INTO notes (owner, id, body) VALUES (?, ?, ?) -- 2000/s\n"
	for _, target := range []Target{DynamoDB, Keyspaces} {
		r := advisedFor(t, asked, data.String(), Options{Target: target})
		c := &r.Candidates[0]
		if got := c.Heat.WriteUnits / c.Heat.Writes; math.Abs(got-1.5) > 0.02 {
			t.Errorf("%s: %s: a write takes %v units, 1.5 are right", target, c.Design, got)
		}
		if got := c.Cost.WriteUnits; math.Abs(got-3000) > 1 {
			t.Errorf("%s: %s: %v write units a second, 3,000 are right", target, c.Design, got)
		}
	}
}

// TestUnitsWithIndexes checks that the units of the hottest key count the attributes that indexes
// need. A row alone fits into one unit, and a row with these attributes takes two.
func TestUnitsWithIndexes(t *testing.T) {
	var data strings.Builder
	data.WriteString("owner,id,country,city,body\n")
	for i := range 20_000 {
		fmt.Fprintf(&data, "o%d,%08d-x,c%d,t%02d,%s\n", i%5, i, i%7, i%90, strings.Repeat("x", 970))
	}
	asked := "SELECT * FROM notes WHERE owner = ? LIMIT 10 -- 300/s\nSELECT * FROM notes WHERE country = ? AND city = ? LIMIT 10 -- 60/s\nINSERT INTO notes (owner, id, country, city, body) VALUES (?, ?, ?, ?, ?) -- 3000/s\n"
	r := advisedFor(t, asked, data.String(), Options{Target: DynamoDB})
	c := &r.Candidates[0]
	if len(c.Extras) != 1 || !slices.Equal(c.PartitionKey, []string{"owner"}) {
		t.Fatalf("%s, %+v", c.Design, c.Extras)
	}
	if got := c.Heat.WriteUnits / c.Heat.Writes; got != 2 {
		t.Errorf("an item of %v bytes takes %v units", c.ItemBytes, got)
	}
	if c.Shards < 2 || len(c.Exceeded) > 0 {
		t.Errorf("%s: %v", c.Design, c.Exceeded)
	}
}

// TestNamesThatStoresRefuse checks that a table's name which the store does not allow is an error. The
// error names the line of the queries, the rule, and the option that gives another name.
func TestNamesThatStoresRefuse(t *testing.T) {
	long := strings.Repeat("n", 49)
	for _, c := range []struct {
		target Target
		table  string
		want   string
	}{
		{Cassandra, `shop."größe"`, "no table has the name \"größe\""},
		{Cassandra, `"my-shop".notes`, "no keyspace has the name \"my-shop\""},
		{Cassandra, long + ".notes", "at most 48 characters"},
		{Cassandra, "shop." + strings.Repeat("n", 223), "at most 222 characters"},
		{Keyspaces, "shop." + long, "at most 48 characters"},
		{DynamoDB, `"notes 2024"`, "no table of DynamoDB has the name \"notes 2024\""},
		{DynamoDB, `"notes-2024"`, ""},
		{Cassandra, "shop." + long, ""},
	} {
		data := "owner,id\na,1\nb,2\na,3\n"
		src, err := rows.OpenBytes("data.csv", []byte(data), rows.Options{Again: true})
		if err != nil {
			t.Fatal(err)
		}
		qs, err := queries.Parse("SELECT * FROM " + c.table + " WHERE owner = ? -- 1/s")
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = Run(t.Context(), src, qs, Options{Target: c.target}, profile.Options{}, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "line 1: ") || !strings.Contains(err.Error(), "--table NAME")) {
			t.Errorf("%s: %v", c.table, err)
		}
	}
	a, b := shortened(strings.Repeat("a", 60)+"b", 48), shortened(strings.Repeat("a", 60)+"c", 48)
	if a == b || len(a) != 48 || shortened("short", 48) != "short" {
		t.Errorf("%s, %s", a, b)
	}
}

// TestBurstsInAFewWindows checks that a rare burst does not count twice: once because its window is
// busier than the others, and once more because it is short within its window. Each window of the
// data has at most one burst.
func TestBurstsInAFewWindows(t *testing.T) {
	var data strings.Builder
	data.WriteString("device,at,n\n")
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 40_000 {
		device := "hot"
		if i%5 > 2 {
			device = fmt.Sprintf("d%03d", i*7919%200)
		}
		at := first.Add(time.Duration(i/2000)*10*time.Minute + time.Duration(i%2000)*time.Millisecond)
		fmt.Fprintf(&data, "%s,%s,%d\n", device, at.Format("2006-01-02T15:04:05.000Z"), i)
	}
	r := advisedOf(t, "SELECT * FROM iot.events WHERE device = ? AND at > ? -- 5/s\nINSERT INTO iot.events (device, at, n) VALUES (?, ?, ?) -- 3200/s\n", data.String())
	span := 19*600 + 2.0
	all := 3200 * 1000 / (40_000 / span) // 1,000 rows come in each second of a burst
	if m := r.Candidates[0].Heat.Moment; math.Abs(m.All-all) > 0.05*all || math.Abs(m.Writes-0.6*all) > 0.05*all {
		t.Errorf("%.0f writes a second in a burst, %.0f to the hottest key; %.0f and %.0f are right", m.All, m.Writes, all, 0.6*all)
	}
}
