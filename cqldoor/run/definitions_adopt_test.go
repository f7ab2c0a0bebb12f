// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/reshard"
)

// title draws a title, at times without a letter of ASCII.
func title(n int) string {
	alphabet := []rune("abcdefghijklmnopqrstuvwxyz äöüß日本語😀'")
	var b strings.Builder
	for range 1 + mathrand.IntN(20) {
		b.WriteRune(alphabet[mathrand.IntN(len(alphabet))])
	}
	return fmt.Sprintf("%s %d", b.String(), n)
}

// byHand is the calculation of the Amazon Keyspaces documentation, as an application has it.
func byHand(title string, n int) int {
	product := 1
	for _, r := range title {
		product = product % n * int(r) % n
	}
	return product%n + 1
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// handmade is a table that an application has sharded by hand.
type handmade struct {
	*scene
	table  string
	titles []string // all of one day
}

// newHandmade writes the titles of a day, each where at puts it.
func newHandmade(s *scene, name string, rows int, at func(title string) int) *handmade {
	h := &handmade{scene: s, table: s.keyspace + "." + name}
	s.must(s.v5, "CREATE TABLE "+h.table+" (publish_date date, shard int, title text, words int, PRIMARY KEY ((publish_date, shard), title))")
	for i := range rows {
		h.titles = append(h.titles, title(i))
		h.put(h.titles[i], at(h.titles[i]))
	}
	return h
}

func (h *handmade) put(title string, shard int) {
	h.t.Helper()
	h.must(h.direct, fmt.Sprintf("INSERT INTO %s (publish_date, shard, title, words) VALUES ('2020-07-09', %d, %s, %d)", h.table, shard, quoted(title), len(title)))
}

func (h *handmade) adopt(options string) string {
	return "ALTER TABLE " + h.table + " WITH write_sharding = {'adopt': 'shard'" + options + "}"
}

// status returns the status of the table's change or adoption.
func (h *handmade) status() (s reshard.Status) {
	h.t.Helper()
	a := h.must(h.v5, "ALTER TABLE "+h.table+" WITH write_sharding = {'change': 'status'}")
	if err := json.Unmarshal(a.Rows[0][0], &s); err != nil {
		h.t.Fatal(err)
	}
	return s
}

// logical checks that clients see the table without its shards, and that every row is found.
func (h *handmade) logical() {
	h.t.Helper()
	if a := h.must(h.v5, "SELECT * FROM "+h.table+" WHERE publish_date = '2020-07-09'"); len(a.Rows) != len(h.titles) || len(a.Columns) != 3 {
		h.t.Errorf("the day has %d rows of %d columns, want %d of 3", len(a.Rows), len(a.Columns), len(h.titles))
	}
	for i := 0; i < len(h.titles); i += 1 + len(h.titles)/10 {
		text := "SELECT words FROM " + h.table + " WHERE publish_date = '2020-07-09' AND title = " + quoted(h.titles[i])
		if a := h.must(h.v5, text); len(a.Rows) != 1 || fmt.Sprintf("%x", a.Rows[0][0]) != fmt.Sprintf("%08x", len(h.titles[i])) {
			h.t.Errorf("%s: %s", text, show(a))
		}
	}
}

// TestAdoption adopts a table that was sharded by hand, and gives it back.
func TestAdoption(t *testing.T) { onStores(t, adoptAndGiveBack) }

func adoptAndGiveBack(t *testing.T, st store.Store) {
	s := newScene(t, st)
	n := 2 + mathrand.IntN(200)
	h := newHandmade(s, "blogs", 300, func(title string) int { return byHand(title, n) })
	rows := func() string { return show(s.must(s.direct, "SELECT * FROM "+h.table)) }
	before := rows()
	insert := "INSERT INTO " + h.table + " (publish_date, shard, title) VALUES ('2020-07-09', ?, 'x')"
	prepared, err := s.v5.Prepare(insert)
	if err != nil || prepared.Kind != difftest.Prepared {
		t.Fatalf("%v %s", err, show(prepared))
	}
	if s := h.status(); s.Phase != reshard.NoPhase {
		t.Errorf("before: %+v", s)
	}

	declaration := fmt.Sprintf(", 'strategy': 'calculated', 'hash': 'code_points', 'by': 'title', 'shards': '%d'", n)
	s.must(s.v5, h.adopt(declaration))
	h.logical()
	s.must(s.v5, h.adopt(declaration)) // sent again, for instance after a timeout
	if after := rows(); after != before {
		t.Error("the physical table is not as it was")
	}
	h.refusedWith(h.adopt(", 'shards': '7'"), "is adopted already, and has the layout {'by': 'title'")

	// Applications that still name the shard.
	for _, text := range []string{
		"SELECT * FROM " + h.table + " WHERE publish_date = '2020-07-09' AND shard = 1",
		"INSERT INTO " + h.table + " (publish_date, shard, title) VALUES ('2020-07-09', 1, 'x')",
		"UPDATE " + h.table + " SET words = 1 WHERE publish_date = '2020-07-09' AND shard = 1 AND title = 'x'",
		"DELETE FROM " + h.table + " WHERE publish_date = '2020-07-09' AND shard IN (1, 2)",
		"BEGIN BATCH DELETE FROM " + h.table + " WHERE publish_date = '2020-07-09' AND shard = 1 APPLY BATCH",
		"SELECT shard FROM " + h.table,
	} {
		h.refusedWith(text, "was sharded by hand by its column shard, and is adopted: evenkeel fills that in and hides it; leave it out")
	}
	if a, err := s.v5.Execute(prepared, difftest.Request{Values: int32s(1)}); err != nil || a.Kind != difftest.Error || a.Code != primitive.ErrorCodeUnprepared {
		t.Errorf("a statement that was prepared before: %v %s", err, show(a))
	}
	if a, err := s.v5.Prepare(insert); err != nil || a.Kind != difftest.Error || !strings.Contains(a.Text, "is adopted") {
		t.Errorf("it is prepared again: %v %s", err, show(a))
	}
	h.refusedWith("SELECT shards FROM "+h.table, "Undefined column name shards")

	// Clients see one table, which DESCRIBE can create again.
	if a := s.must(s.v5, fmt.Sprintf("SELECT column_name FROM system_schema.columns WHERE keyspace_name = '%s' AND table_name = 'blogs'", s.keyspace)); len(a.Rows) != 3 {
		t.Errorf("the schema shows %s", show(a))
	}
	text := string(s.must(s.v5, "DESCRIBE TABLE "+h.table).Rows[0][3])
	if again := strings.Replace(text, h.table, h.table+"_again", 1); strings.Contains(text, "shard int") || s.query(s.v5, again).Kind == difftest.Error {
		t.Errorf("it is described as\n%s\nwhich makes %s", text, show(s.query(s.v5, again)))
	}
	if a := s.must(s.direct, "DESCRIBE TABLE "+h.table+"_again"); !strings.Contains(string(a.Rows[0][3]), "PRIMARY KEY ((publish_date, shard), title)") {
		t.Errorf("what it creates is described as %s", a.Rows[0][3])
	}

	// What the application writes now is where it would have written it.
	added := title(len(h.titles))
	h.titles = append(h.titles, added)
	s.must(s.v5, fmt.Sprintf("INSERT INTO %s (publish_date, title, words) VALUES ('2020-07-09', %s, %d)", h.table, quoted(added), len(added)))
	if a := s.must(s.direct, fmt.Sprintf("SELECT words FROM %s WHERE publish_date = '2020-07-09' AND shard = %d AND title = %s", h.table, byHand(added, n), quoted(added))); len(a.Rows) != 1 {
		t.Errorf("a row that was written to the logical table is not in shard %d", byHand(added, n))
	}
	h.logical()

	s.must(s.v5, "ALTER TABLE "+h.table+" WITH write_sharding = {'adopt': ''}")
	if a, b := show(s.must(s.v5, "SELECT * FROM "+h.table)), rows(); a != b {
		t.Errorf("it was given back, and is shown as %s, want %s", a, b)
	}
	if a, err := s.v5.Prepare(insert); err != nil || a.Kind != difftest.Prepared {
		t.Errorf("it was given back: %v %s", err, show(a))
	}
	if a := s.must(s.v5, "DESCRIBE TABLE "+h.table); strings.Contains(string(a.Rows[0][3]), "write_sharding") {
		t.Errorf("it was given back, and is described as %s", a.Rows[0][3])
	}
	h.refusedWith("ALTER TABLE "+h.table+" WITH write_sharding = {'adopt': ''}", "is not adopted")
	s.must(s.v5, h.adopt(declaration))
	h.logical()

	// An adopted table gets another layout like any other. Numbers that the application may have used
	// are not used again.
	m := 2 + mathrand.IntN(20)
	s.must(s.v5, fmt.Sprintf("ALTER TABLE %s WITH write_sharding = {'shards': '%d', 'hash': 'murmur3'}", h.table, m))
	for deadline := time.Now().Add(patience); h.status().Phase != reshard.NoPhase; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the change does not end: %+v", h.status())
		}
	}
	h.logical()
	for _, row := range s.must(s.direct, "SELECT shard FROM "+h.table).Rows {
		if at := int(binary.BigEndian.Uint32(row[0])); at <= 10_000 || at > 10_000+m {
			t.Fatalf("after another layout, a row is in shard %d", at)
		}
	}
	h.refusedWith("SELECT shard FROM "+h.table, "is adopted")
	if a := s.must(s.v5, "ALTER TABLE "+h.table+" WITH write_sharding = {'adopt': ''}"); !strings.Contains(fmt.Sprint(a.Warnings), "was changed since it was adopted") {
		t.Errorf("giving it back: %s", show(a))
	}
}

// TestAdoptionOfWrongPlaces declares what the rows of a table are not: it stays as it is, and the error
// says which rows are where, and what would fit.
func TestAdoptionOfWrongPlaces(t *testing.T) { onStores(t, adoptionOfWrongPlaces) }

func adoptionOfWrongPlaces(t *testing.T, st store.Store) {
	s := newScene(t, st)
	n := []int{23, 53, 97}[mathrand.IntN(3)] // prime, so that nearly all shards have rows
	const codePoints = ", 'hash': 'code_points', 'shards': "
	h := newHandmade(s, "one", 700, func(title string) int { return byHand(title, n) })
	one := title(700)
	at := byHand(one, n)%n + 1 // its neighbour
	h.put(one, at)
	s.refusedWith(h.adopt(fmt.Sprintf("%s'%d'", codePoints, n)), fmt.Sprintf("the row publish_date = '2020-07-09', title = %s is in shard %d, where code_points of title over %d shards gives %d. The other 700 rows",
		quoted(one), at, n, byHand(one, n)))
	if got := h.status(); got.Phase != reshard.NoPhase || !strings.Contains(got.Problem, quoted(one)) {
		t.Errorf("the status is %+v", got)
	}
	s.must(s.v5, "DELETE FROM "+h.table+" WHERE publish_date = '2020-07-09' AND shard = "+fmt.Sprint(at)+" AND title = "+quoted(one)) // it is served as it was
	s.must(s.v5, h.adopt(fmt.Sprintf("%s'%d'", codePoints, n)))
	h.logical()
	h.put(one, at) // past the doors
	s.refusedWith(h.adopt(fmt.Sprintf("%s'%d'", codePoints, n)), fmt.Sprintf("is adopted, but rows are not where its layout says, so clients do not see them: the row publish_date = '2020-07-09', title = %s is in shard %d",
		quoted(one), at))

	// Another hash, another number of shards, other columns.
	h = newHandmade(s, "other", 60, func(title string) int { return byHand(title, n) })
	fits := fmt.Sprintf("All of the 60 rows that were tried are where {'adopt': 'shard', 'hash': 'code_points', 'shards': '%d', 'strategy': 'calculated'} puts them", n)
	s.refusedWith(h.adopt(fmt.Sprintf(", 'shards': '%d'", n)), fits)
	s.refusedWith(h.adopt(fmt.Sprintf("%s'%d'", codePoints, n+1)), fits)
	s.refusedWith(h.adopt(fmt.Sprintf("%s'%d'", codePoints, n-10)), fits)

	// A shard of nobody's calculation.
	drawn := newHandmade(s, "drawn", 60, func(string) int { return 3 + mathrand.IntN(n) })
	s.refusedWith(drawn.adopt(fmt.Sprintf("%s'%d'", codePoints, n+2)), "adopt the table with 'strategy': 'random'")
	for at, words := range map[int]string{0: "numbers shards from 1", -5: "cannot be in an adopted table", n + 3: "the highest shard that was met is"} {
		drawn.put("far", at)
		s.refusedWith(drawn.adopt(fmt.Sprintf(", 'strategy': 'random', 'shards': '%d'", n+2)), fmt.Sprintf("the partition publish_date = '2020-07-09' is in shard %d, and the shards are 1 to %d", at, n+2))
		s.refusedWith(drawn.adopt(fmt.Sprintf(", 'strategy': 'random', 'shards': '%d'", n+2)), words)
		s.must(s.direct, fmt.Sprintf("DELETE FROM %s WHERE publish_date = '2020-07-09' AND shard = %d", drawn.table, at))
	}
	s.must(s.v5, drawn.adopt(fmt.Sprintf(", 'strategy': 'random', 'shards': '%d', 'base': '2'", n)))
	drawn.logical()
}

// TestAdoptionRefused declares what no table, or not this one, can be adopted with.
func TestAdoptionRefused(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		tables := 0
		for _, c := range []struct{ columns, options, words string }{
			{"d date, shard int, title text, PRIMARY KEY ((d, shard))", "'shards': '200'",
				"each d and shard is a single row, and only shard tells the rows of one d apart: without it, all of them would be one row. Rows that came to the same shard are lost already"},
			{"d date, shard int, title text, PRIMARY KEY ((d, shard))", "'shards': '200', 'strategy': 'random'", "PRIMARY KEY (d, …) WITH write_sharding, and copy the rows"},
			{"d date, shard smallint, title text, PRIMARY KEY ((d, shard), title)", "'shards': '2'", "which is smallint; evenkeel's shards are int"},
			{"d date, shard bigint, title text, PRIMARY KEY ((d, shard), title)", "'shards': '2'", "which is bigint; evenkeel's shards are int"},
			{"d date, shard text, title text, PRIMARY KEY ((d, shard), title)", "'shards': '2'", "which is text; evenkeel's shards are int"},
			{"shard int, d date, title text, PRIMARY KEY ((shard, d), title)", "'shards': '2'", "which is not the last column of the partition key (shard, d)"},
			{"d date, shard int, title text, PRIMARY KEY (d, shard, title)", "'shards': '2'", "which is not in the partition key"},
			{"shard int, title text, PRIMARY KEY (shard, title)", "'shards': '2'", "which is the whole partition key"},
			{"d date, bucket int, title text, PRIMARY KEY ((d, bucket), title)", "'shards': '2'", "which is not a column of the table"},
			{"d date, shard int, title text, PRIMARY KEY ((d, shard), title)", "'hash': 'murmur3'", "the number of shards is missing"},
			{"d date, shard int, title text, PRIMARY KEY ((d, shard), title)", "'shards': '2', 'column': 'shard'", "leave 'column' out"},
			{"d date, shard int, title text, PRIMARY KEY ((d, shard), title)", "'shards': '2', 'by': 'd'", "which is a partition key column"},
			{"d date, shard int, title text, PRIMARY KEY ((d, shard), title)", "'shards': '2', 'epochs': '4 from 2030-01-01'", "change its layout afterwards"},
			{"d date, shard int, title text, PRIMARY KEY ((d, shard), title)", "'shards': '2', 'change': 'plan'", "'change' means nothing beside 'adopt'"},
			{"d date, shard int, n int, PRIMARY KEY ((d, shard), n)", "'shards': '2', 'hash': 'code_points'", "multiplies the characters of text"},
			{"d date, shard int, t timestamp, PRIMARY KEY ((d, shard), t)", "'strategy': 'time', 'by': 't', 'bucket': '1h'", "cannot be adopted with strategy 'time'"},
			{"d date, shard int, t timestamp, PRIMARY KEY ((d, shard), t)", "'strategy': 'rollover', 'rows': '1000'", "cannot be adopted with strategy 'rollover'"},
			{"d date, shard int, title text, home text static, PRIMARY KEY ((d, shard), title)", "'shards': '2'", "it has static columns"},
			{"d date, shard int, title text, tags set<text>, PRIMARY KEY ((d, shard), title)", "'shards': '2', 'strategy': 'random'", "columns tags are collections"},
		} {
			tables++
			table := fmt.Sprintf("%s.t%d", s.keyspace, tables)
			s.must(s.v5, "CREATE TABLE "+table+" ("+c.columns+")")
			s.refusedWith("ALTER TABLE "+table+" WITH write_sharding = {'adopt': 'shard', "+c.options+"}", c.words)
			s.must(s.v5, "SELECT * FROM "+table)
		}
		table := s.keyspace + ".more"
		s.must(s.v5, "CREATE TABLE "+table+" (d date, shard int, title text, v int, PRIMARY KEY ((d, shard), title))")
		adopt := "ALTER TABLE " + table + " WITH write_sharding = {'adopt': 'shard', 'shards': '4'}"
		s.refusedWith(strings.Replace(adopt, " WITH ", " WITH comment = 'x' AND ", 1), "adopt a table by itself")
		s.must(s.v5, adopt)
		s.refusedWith("CREATE INDEX byv ON "+table+" (v)", "CREATE INDEX on a sharded table")
		s.refusedWith("CREATE TABLE "+s.keyspace+".new (d date, title text, PRIMARY KEY (d, title)) WITH write_sharding = {'adopt': 'shard', 'shards': '4'}", "is for a table that exists")
		s.must(s.v5, "CREATE TABLE "+s.keyspace+".made (d date, title text, PRIMARY KEY (d, title)) WITH write_sharding = {'shards': '4'}")
		for _, name := range []string{"shard", ""} {
			s.refusedWith("ALTER TABLE "+s.keyspace+".made WITH write_sharding = {'adopt': '"+name+"'}", "was not sharded by hand")
		}
		s.refusedWith("ALTER TABLE "+s.keyspace+".nothing WITH write_sharding = {'adopt': 'shard', 'shards': '4'}", "doesn't exist")
	})
}

// TestAdoptionOfDrawnShards adopts tables whose shards were drawn: a row in two shards is one, and a
// counter is the sum of all shards.
func TestAdoptionOfDrawnShards(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newScene(t, st)
		n := 2 + mathrand.IntN(30)
		h := newHandmade(s, "drawn", 80, func(string) int { return 1 + mathrand.IntN(n) })
		twice := h.titles[mathrand.IntN(len(h.titles))]
		for i, words := range []int{7, 8} { // by an application that draws anew for each write
			s.must(s.direct, fmt.Sprintf("INSERT INTO %s (publish_date, shard, title, words) VALUES ('2020-07-09', %d, %s, %d) USING TIMESTAMP %d",
				h.table, 1+mathrand.IntN(n), quoted(twice), words, time.Now().Add(time.Hour).UnixMicro()+int64(i)))
		}
		s.must(s.v5, h.adopt(fmt.Sprintf(", 'strategy': 'random', 'shards': '%d'", n)))
		of := " WHERE publish_date = '2020-07-09' AND title = " + quoted(twice)
		if a := s.must(s.v5, "SELECT words FROM "+h.table+of); len(a.Rows) != 1 || fmt.Sprintf("%x", a.Rows[0][0]) != "00000008" {
			t.Errorf("a row in two shards is %s", show(a))
		}
		s.must(s.v5, "DELETE FROM "+h.table+" USING TIMESTAMP "+fmt.Sprint(time.Now().Add(2*time.Hour).UnixMicro())+of)
		if a := s.must(s.direct, "SELECT title FROM "+h.table); len(a.Rows) != len(h.titles)-1 || strings.Contains(show(a), fmt.Sprintf("%x", twice)) {
			t.Errorf("after it was deleted there are %d rows, of %d before", len(a.Rows), len(h.titles))
		}

		hits := s.keyspace + ".hits"
		s.must(s.v5, "CREATE TABLE "+hits+" (page text, shard int, n counter, PRIMARY KEY ((page, shard)))")
		for range 50 {
			s.must(s.direct, fmt.Sprintf("UPDATE %s SET n = n + 1 WHERE page = 'a' AND shard = %d", hits, 1+mathrand.IntN(n)))
		}
		s.refusedWith("ALTER TABLE "+hits+" WITH write_sharding = {'adopt': 'shard', 'shards': '"+fmt.Sprint(n)+"'}", "'strategy': 'random'")
		s.must(s.v5, "ALTER TABLE "+hits+" WITH write_sharding = {'adopt': 'shard', 'strategy': 'random', 'shards': '"+fmt.Sprint(n)+"'}")
		s.must(s.v5, "UPDATE "+hits+" SET n = n + 5 WHERE page = 'a'")
		if a := s.must(s.v5, "SELECT n FROM "+hits+" WHERE page = 'a'"); len(a.Rows) != 1 || fmt.Sprintf("%x", a.Rows[0][0]) != fmt.Sprintf("%016x", 55) {
			t.Errorf("the counter is %s", show(a))
		}
	})
}
