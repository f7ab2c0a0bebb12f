// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestIdentityIsMadeForIt draws rows with a column that tells rows apart by luck (an address, a path, a
// sentence) and is shorter or longer than the id, and checks that the key takes the id. Without an id, it
// takes an added one.
func TestIdentityIsMadeForIt(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 34))
	luck := map[string]func() string{
		"address": func() string {
			return netip.AddrFrom4([4]byte{byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(256))}).String()
		},
		"path":     func() string { return fmt.Sprintf("/%x", r.Uint64()) },
		"url":      func() string { return fmt.Sprintf("https://x.example/%x", r.Uint64()) },
		"sentence": func() string { return fmt.Sprintf("order %x came", r.Uint64()) },
	}
	for what, text := range luck {
		for _, id := range []bool{true, false} {
			var data strings.Builder
			data.WriteString("click,who,at,x\n")
			at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
			seen := make(map[string]bool)
			for range 8000 {
				at = at.Add(time.Duration(r.ExpFloat64() * float64(time.Minute)))
				click, x := "", text()
				for seen[x] {
					x = text()
				}
				seen[x] = true
				if id {
					click = fmt.Sprintf("c%012x", r.Uint64()>>16)
				}
				fmt.Fprintf(&data, "%s,u%d,%s,%s\n", click, r.IntN(50), at.Format(time.RFC3339), x)
			}
			want := idColumn
			columns := "who, at, x"
			if id {
				want, columns = "click", "click, who, at, x"
			}
			v := advisedOf(t, "SELECT * FROM a.clicks WHERE who = ? AND at >= ? AND at < ? -- 30/s\nINSERT INTO a.clicks ("+columns+") VALUES ("+strings.Repeat("?, ", strings.Count(columns, ","))+"?) -- 60/s", data.String()).Verdict
			if c := v.Clustering; len(c) != 2 || c[0] != "at" || c[1] != want {
				t.Errorf("%s, id %t: %v, want at, %s", what, id, c, want)
			}
		}
	}
}

// TestNamesThatAreLookedUp draws rows with a path or a sentence that never repeats within a day, and by which
// a query looks rows up. It is the row's name, and the key needs no id.
func TestNamesThatAreLookedUp(t *testing.T) {
	r := rand.New(rand.NewPCG(56, 78))
	for what, text := range map[string]func() string{
		"path":  func() string { return fmt.Sprintf("/%x", r.Uint64()) },
		"title": func() string { return fmt.Sprintf("about %x and %x", r.Uint64(), r.IntN(100)) },
	} {
		var data strings.Builder
		data.WriteString("day,name,body\n")
		for i := range 8000 {
			fmt.Fprintf(&data, "2026-03-%02d,%s,%x\n", 1+i/1000, text(), r.Uint64()&0xfff)
		}
		v := advisedOf(t, "SELECT body FROM a.posts WHERE day = ? AND name = ? -- 30/s\nSELECT name FROM a.posts WHERE day = ? LIMIT 100 -- 5/s\n"+
			"INSERT INTO a.posts (day, name, body) VALUES (?, ?, ?) -- 60/s", data.String()).Verdict
		if c := v.Clustering; len(c) != 1 || c[0] != "name" {
			t.Errorf("%s: the clustering columns are %v, want name", what, c)
		}
	}
}

// TestIdsOfManyRows checks that the time in an id that many rows share is not taken for the time of each row.
func TestIdsOfManyRows(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 43))
	var data strings.Builder
	data.WriteString("match,tick,player,hp\n")
	ms := int64(1_770_000_000_000)
	for range 60 {
		ms += 60_000 + r.Int64N(30_000)
		match := fmt.Sprintf("%08x-%04x-7%03x-b%03x-%012x", ms>>16, ms&0xffff, r.IntN(4096), r.IntN(4096), r.Uint64()>>16)
		for tick := range 30 {
			for p := range 10 {
				fmt.Fprintf(&data, "%s,%d,%d,%d\n", match, tick*64, 1000+p, r.IntN(100))
			}
		}
	}
	rep := advisedFor(t, "Query match = :m AND tick BETWEEN :a AND :b -- 900/s\nQuery match = :m AND player = :p -- 20/s\nPutItem match, tick, player, hp -- 6k/s", data.String(), Options{Target: DynamoDB})
	v := rep.Verdict
	if rep.EventTime != "" || v.Shards != 1 {
		t.Errorf("time of writing %q, %d shards", rep.EventTime, v.Shards)
	}
	// Filtering 300 items twenty times a second costs less than 6,000 writes a second to an index.
	if len(v.Extras) != 0 || len(v.Unserved) != 1 || !strings.Contains(v.Unserved[0].Why, "the writes to a further global secondary index would cost ") {
		t.Errorf("%d indexes, unserved %+v", len(v.Extras), v.Unserved)
	}
	if x := v.Statements[0]; !strings.Contains(x.Note, "write tick with 10 digits, zeros before") {
		t.Errorf("a text of tick and player does not sort by tick: %s -- %s", x.Text, x.Note)
	}
}

// TestSessionsOfOneKeyEach checks the heat of keys that are written fast one after the other, with pauses
// between. The rate in a session is the mean rate divided by the part of the time that has sessions.
func TestSessionsOfOneKeyEach(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 70))
	for draw := range 3 {
		rate, pause := 20+40*r.Float64(), time.Duration(60+r.IntN(120))*time.Second
		var data strings.Builder
		data.WriteString("run,pos,at\n")
		begin := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
		at, busy := begin, 0.0
		for run := range 40 {
			for pos := range 450 {
				d := r.ExpFloat64() / rate
				busy += d
				at = at.Add(time.Duration(d * float64(time.Second)))
				fmt.Fprintf(&data, "R%03d,%09d,%s\n", run, pos*7919, at.Format("2006-01-02 15:04:05.000"))
			}
			at = at.Add(pause)
		}
		const stated = 3000
		want := stated * at.Sub(begin).Seconds() / busy
		h := advisedFor(t, fmt.Sprintf("Query run = :r LIMIT 100 -- 2/s\nPutItem run, pos, at -- %d/s", stated), data.String(), Options{Target: DynamoDB}).Candidates[0].Heat.Moment
		if h.Writes < 0.8*want || h.Writes > 1.2*want {
			t.Errorf("draw %d: %.0f writes/s of the hottest key in a session, want %.0f: %s", draw, h.Writes, want, h.Why)
		}
	}
}

// TestHotKeyInBuckets checks the report if only one key needs shards in its buckets of time. It must say how
// many, and what the other keys would pay. It must print a table for that key, because no command gives
// shards to all of its buckets. Nodes that are too full for any design do not hide that partitions get too
// large.
func TestHotKeyInBuckets(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 19))
	for _, epoch := range []bool{true, false} {
		var data strings.Builder
		data.WriteString("host,at,seq,url\n")
		at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		for i := range 20_000 {
			at = at.Add(time.Duration(r.ExpFloat64() * float64(time.Second)))
			host := fmt.Sprint("h", r.IntN(400))
			if r.Float64() < 0.4 {
				host = "big"
			}
			text := at.Format(time.RFC3339)
			if epoch {
				text = fmt.Sprint(at.UnixMicro())
			}
			fmt.Fprintf(&data, "%s,%s,%x,/%s\n", host, text, uint64(i)*0x9e3779b97f4a7c15, strings.Repeat("u", 60))
		}
		v := advisedOf(t, "SELECT * FROM cdn.logs WHERE host = ? AND at >= ? AND at < ? -- 30/s\nINSERT INTO cdn.logs (host, at, seq, url) VALUES (?, ?, ?, ?) -- 20k/s", data.String()).Verdict
		if v.TimeBucket == nil || *v.TimeBucket != "1h" || v.Shards < 25 || v.Shards > 70 {
			t.Fatalf("%s", v.Design)
		}
		k := v.KeyShards
		if k == nil || len(k.Keys) != 1 || k.Keys[0].Values[0] != "big" || k.Others != 1 || k.OwnName != "cdn.logs_hot" {
			t.Fatalf("%+v", k)
		}
		if !strings.Contains(k.OwnTable, "CREATE TABLE cdn.logs_hot (") || !strings.Contains(k.OwnTable, fmt.Sprintf("'shards': '%d'", v.Shards)) || !strings.Contains(k.DDL, "'shards': '1'") {
			t.Errorf("%s\n%s", k.OwnTable, k.DDL)
		}
		if !strings.Contains(k.Why, fmt.Sprintf("line 1 reads %d partitions of each in place of ", 2*v.Shards)) && !strings.Contains(k.Why, fmt.Sprintf("line 1 reads %d partitions of each in place of 1", v.Shards)) {
			t.Error(k.Why)
		}
		if slices.ContainsFunc(v.Exceeded, func(e Exceeded) bool { return strings.Contains(e.Text, "largest partition") }) {
			t.Errorf("%+v", v.Exceeded)
		}
	}
}

// TestDaysThatQueriesOrder draws rows with days since 1970, few rows each. advise reads them as days if
// queries order them or take a range of them. It does not read a sequence with gaps as days, whose numbers do
// not repeat, nor days that queries only name one by one.
func TestDaysThatQueriesOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 33))
	for _, c := range []struct {
		repeat bool
		where  string
		want   string
	}{{true, "day >= ?", "day"}, {true, "day = ?", ""}, {false, "day >= ?", ""}} {
		var data strings.Builder
		data.WriteString("loan,member,day\n")
		day := 18_000 + r.IntN(3000)
		for range 900 {
			if r.IntN(4) > 0 || !c.repeat {
				day++
			}
			fmt.Fprintf(&data, "L%09x,M%03d,%d\n", r.Uint64()>>28, r.IntN(300), day)
		}
		rep := advisedOf(t, "SELECT * FROM lib.loans WHERE member = ? AND "+c.where+" -- 3/s\nINSERT INTO lib.loans (loan, member, day) VALUES (?, ?, ?) -- 1/s", data.String())
		if rep.EventTime != c.want {
			t.Errorf("%s, days that repeat %t: the time of writing is %q, want %q", c.where, c.repeat, rep.EventTime, c.want)
		}
	}
}
