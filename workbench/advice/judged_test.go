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
)

// TestShardsByASkewedColumn checks the fullest shard if only some columns choose the shard. One
// sensor writes an eighth of all rows, so all of these rows are in one shard.
func TestShardsByASkewedColumn(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const rate, days, rows = 18_000, 21, 12_000
	i := 0
	rep := advised(t, fmt.Sprintf(`SELECT * FROM iot.readings WHERE sensor = ? AND d = ? ORDER BY ms -- 300/s
SELECT * FROM iot.readings WHERE sensor = ? AND d = ? AND ms > ? LIMIT 10 -- 2k/s
INSERT INTO iot.readings (sensor, d, ms, temp) VALUES (?, ?, ?, ?) -- %d/s`, rate), "sensor,d,ms,temp", func(int, time.Time) string {
		i++
		sensor := r.IntN(900)
		if r.IntN(8) == 0 {
			sensor = 0
		}
		return fmt.Sprintf("sn%d,%d,%d,%.1f", sensor, 19_700+i*days/rows, r.IntN(86_400_000), r.Float64()*40)
	})
	v := rep.Verdict
	if !slices.Equal(v.PartitionKey, []string{"sensor", "d"}) || v.Shards < 20 || len(v.Exceeded) > 0 {
		t.Errorf("key %v in %d shards, exceeded %v", v.PartitionKey, v.Shards, v.Exceeded)
	}
	if k := v.KeyShards; k == nil || !slices.Equal(k.Columns, []string{"sensor"}) || len(k.Keys) != 1 || k.Keys[0].Values[0] != "sn0" || k.Others != 1 || k.OwnTable == "" {
		t.Errorf("shards for that key alone: %+v", k)
	}
	for _, c := range rep.Candidates {
		if slices.Equal(c.By, []string{"sensor"}) && slices.Equal(c.PartitionKey, []string{"d"}) && c.Shards > 20 {
			if want := rate * 86_400 / 8.0; math.Abs(c.ProjectedRows-want) > 0.1*want || c.Heat.Writes < rate/9 {
				t.Errorf("%s: %.0f rows in the largest partition, want %.0f; %.0f writes/s to the hottest", c.Design, c.ProjectedRows, want, c.Heat.Writes)
			}
			return
		}
	}
	t.Error("no design has shards by sensor")
}

// TestNumbersAreNames checks that numbers of channels, which are as large as seconds since 1970, are
// no times: queries name single ones, and they do not rise from row to row.
func TestNumbersAreNames(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	asked := `SELECT * FROM chat.messages WHERE channel = ? AND at < ? ORDER BY at DESC LIMIT 50 -- 900/s
INSERT INTO chat.messages (channel, at, seq, body) VALUES (?, ?, ?, ?) -- 400/s`
	rep := advised(t, asked, "channel,at,seq,body", func(i int, at time.Time) string {
		return fmt.Sprintf("%d,%s,%d,hello", 800_000_000+37*min(r.IntN(900), r.IntN(900)), at.Format(time.RFC3339Nano), i)
	})
	if v := rep.Verdict; !slices.Equal(v.PartitionKey, []string{"channel"}) || rep.EventTime != "at" {
		t.Errorf("key %v, time %s", v.PartitionKey, rep.EventTime)
	}
	for _, a := range rep.Antipatterns {
		if a.Name == "unpredictable" || a.Name == "too granular" {
			t.Errorf("%s %v: %s", a.Name, a.Columns, a.Evidence)
		}
	}
	if c := rep.Columns[0]; len(c.Notes) == 0 || !strings.Contains(c.Notes[0], "taken for names") {
		t.Errorf("notes of channel: %q", c.Notes)
	}
}

// TestUpdatedTimeIsNotThatOfWriting checks that a time that a query updates does not say when rows
// were inserted.
func TestUpdatedTimeIsNotThatOfWriting(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	rep := advised(t, `SELECT * FROM city.parking WHERE lot = ? AND spot = ? -- 50/s
SELECT spot FROM city.parking WHERE lot = ? -- 100/s
UPDATE city.parking SET free = ?, changed = ? WHERE lot = ? AND spot = ? -- 1200/s`, "lot,spot,free,changed", func(i int, at time.Time) string {
		return fmt.Sprintf("lot%d,%d,true,%s", i/200, i%200, at.Add(time.Duration(r.IntN(9000))*time.Second).Format(time.RFC3339))
	})
	if rep.EventTime != "" {
		t.Errorf("%s is taken as the time of writing", rep.EventTime)
	}
}

// TestSmallQueryThatIsTooDear checks that a query for which a further table is not worth its writes
// does not decide the key, if others are asked ten times as often.
func TestSmallQueryThatIsTooDear(t *testing.T) {
	rep := advised(t, `SELECT * FROM mon.points WHERE metric = ? AND host = ? AND ts >= ? AND ts < ? -- 250/s
SELECT * FROM mon.points WHERE severity = ? LIMIT 50 -- 5/s
INSERT INTO mon.points (metric, host, ts, val, severity) VALUES (?, ?, ?, ?, ?) -- 35k/s`, "metric,host,ts,val,severity", func(i int, at time.Time) string {
		return fmt.Sprintf("m%d,h%d,%s,%d,%s", i%6, i/6%50, at.Format(time.RFC3339Nano), i*7919%1000, []string{"ok", "ok", "warn", "crit"}[i*31%4])
	})
	v := rep.Verdict
	if !slices.Equal(slices.Sorted(slices.Values(v.PartitionKey)), []string{"host", "metric"}) || len(v.Unserved) != 1 || v.Unserved[0].Line != 2 {
		t.Errorf("key %v, unserved %+v", v.PartitionKey, v.Unserved)
	}
	if n := v.Nodes; n == nil || n.Nodes != 11 || n.Tables != 1 || !slices.Contains(v.Reasons, n.Text()) {
		t.Errorf("nodes: %+v", n)
	}
	if len(v.Exceeded) > 0 {
		t.Errorf("exceeded: %+v: the nodes are as many as the writes need", v.Exceeded)
	}
}

// TestLoneTimeTellsNothing checks that a column of few values is not taken to tell rows apart because no two
// rows of the data have one time. At the stated rate, many rows have one.
func TestLoneTimeTellsNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	rep := advised(t, `SELECT * FROM ads.clicks WHERE campaign = ? AND clicked >= ? AND clicked < ? -- 20/s
INSERT INTO ads.clicks (campaign, clicked, lang, cpc) VALUES (?, ?, ?, ?) -- 9k/s`, "campaign,clicked,lang,cpc", func(i int, _ time.Time) string {
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i)*500*time.Millisecond + time.Duration(r.IntN(400))*time.Millisecond)
		return fmt.Sprintf("c%d,%s,%s,%.3f", min(r.IntN(40), r.IntN(40)), at.Format("2006-01-02T15:04:05.000Z"), []string{"de", "en", "fr"}[r.IntN(3)], r.Float64())
	})
	if v := rep.Verdict; !slices.Contains(v.Added, idColumn) {
		t.Errorf("key %s: %v", v.Design, v.Reasons)
	}
}

// TestLossBehindTheTime checks the rows that a key of an entity, a day and a time of day would lose: the
// time of day, too, tells them apart.
func TestLossBehindTheTime(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	const rate, entities, steps = 400, 50, 20_000
	rep := advised(t, fmt.Sprintf(`SELECT * FROM iot.readings WHERE sensor = ? AND d = ? AND part > ? -- 20/s
INSERT INTO iot.readings (sensor, d, part, temp) VALUES (?, ?, ?, ?) -- %d/s`, rate), "sensor,d,part,temp", func(i int, at time.Time) string {
		return fmt.Sprintf("s%d,%s,%d,%.1f", r.IntN(entities), at.Format(time.DateOnly), r.IntN(steps), r.Float64()*40)
	})
	mu := rate * 86_400.0 / entities / steps // rows of an entity, a day and a step
	want := rate * 86_400 * (1 + math.Expm1(-mu)/mu)
	for _, a := range rep.Antipatterns {
		if a.Name == "collision" && a.Loss != nil && slices.Contains(a.Columns, "part") {
			if a.Loss.PerDay < 0.8*want || a.Loss.PerDay > 1.2*want {
				t.Errorf("%.0f rows a day, want %.0f: %s", a.Loss.PerDay, want, a.Evidence)
			}
			return
		}
	}
	t.Errorf("no collision is named: %+v", rep.Antipatterns)
}

// TestFurtherTableInOrder checks that a further table has the order that its query asks for, behind
// which come the columns that tell rows apart.
func TestFurtherTableInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	seen := make(map[string]bool)
	rep := advised(t, `SELECT * FROM app.likes WHERE post = ? AND usr = ? -- 6k/s
SELECT * FROM app.likes WHERE post = ? LIMIT 100 -- 200/s
SELECT * FROM app.likes WHERE usr = ? ORDER BY liked DESC LIMIT 20 -- 900/s
DELETE FROM app.likes WHERE post = ? AND usr = ? -- 150/s
INSERT INTO app.likes (post, usr, liked) VALUES (?, ?, ?) -- 3k/s`, "post,usr,liked", func(i int, at time.Time) string {
		for {
			if k := fmt.Sprintf("p%d,%d", r.IntN(3000), r.IntN(9000)); !seen[k] {
				seen[k] = true
				return k + "," + at.Format(time.RFC3339)
			}
		}
	})
	v := rep.Verdict
	if len(v.Extras) != 1 || !strings.HasPrefix(v.Extras[0].Key, "((usr), liked DESC, post)") || len(v.Unserved) != 0 {
		t.Errorf("further tables %+v, unserved %+v", v.Extras, v.Unserved)
	}
}

// TestRowsWithoutAKeyAreNamed checks that the verdict names the rows that have no value in the key, also where an id
// is added.
func TestRowsWithoutAKeyAreNamed(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	v := advised(t, `SELECT * FROM net.beats WHERE gateway = ? AND seen >= ? AND seen <= ? -- 40/s
INSERT INTO net.beats (gateway, seen, load) VALUES (?, ?, ?) -- 100/s`, "gateway,seen,load", func(i int, at time.Time) string {
		if i%30 == 0 {
			return fmt.Sprintf(",%s,%d", at.Format(time.RFC3339), r.IntN(100))
		}
		return fmt.Sprintf("gw%d,%s,%d", r.IntN(300), at.Format(time.RFC3339), r.IntN(100))
	}).Verdict
	if !slices.Contains(v.Added, idColumn) || !slices.ContainsFunc(v.Reasons, func(s string) bool { return strings.HasPrefix(s, "1,000 rows have no value in gateway") }) {
		t.Errorf("%s: %v", v.Design, v.Reasons)
	}
}

func TestStepText(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    string
	}{{1e-9, "1 ns"}, {1e-6, "1 µs"}, {0.001, "1 ms"}, {0.01, "10 ms"}, {1, "1 second"}, {86_400, "24 hours"}} {
		if got := stepText(c.seconds); got != c.want {
			t.Errorf("%g s: %q, want %q", c.seconds, got, c.want)
		}
	}
}

// TestWays checks the ways to serve what the key does not: their costs, and which is taken.
func TestWays(t *testing.T) {
	asked := func(readings, players string) string {
		return fmt.Sprintf(`SELECT * FROM game.events WHERE match_id = ? AND seq > ? -- 800/s
SELECT * FROM game.events WHERE player = ? -- %s
SELECT * FROM game.events WHERE match_id = ? AND kind = ? -- 60/s
INSERT INTO game.events (match_id, seq, player, kind) VALUES (?, ?, ?, ?) -- %s`, players, readings)
	}
	row := func(i int, at time.Time) string {
		return fmt.Sprintf("%d,%d,p%d,%s", i/60, i%60, i*7919%9973, []string{"move", "shoot", "die"}[i*31%3])
	}
	of := func(t *testing.T, r *Report, line int) map[string]*Way {
		for i := range r.Verdict.Ways {
			if w := &r.Verdict.Ways[i]; w.Line == line {
				out := make(map[string]*Way)
				for j := range w.Ways {
					out[w.Ways[j].Way] = &w.Ways[j]
					if (j == 0) != w.Ways[j].Taken {
						t.Errorf("line %d: %s is taken: %t", line, w.Ways[j].Way, w.Ways[j].Taken)
					}
				}
				return out
			}
		}
		t.Fatalf("no ways for line %d: %+v", line, r.Verdict.Ways)
		return nil
	}
	t.Run("an index where a further table is too dear", func(t *testing.T) {
		r := advised(t, asked("18k/s", "15/s"), "match_id,seq,player,kind", row)
		w := of(t, r, 2)
		scan, further, index := w["scan"], w["further table"], w[indexName]
		if scan == nil || further == nil || index == nil || !index.Taken {
			t.Fatalf("ways: %+v", r.Verdict.Ways)
		}
		// A further table doubles the writes. The index has an entry for each, and each query asks all ranges.
		if want := 18_000 * cpuWrite; math.Abs(further.CPU-want) > 0.05*want || further.Writes != 18_000 {
			t.Errorf("further table: %+v, want %.3f cores", further, want)
		}
		if want := 18_000*cpuEntry + 15*(Nodes*VNodes*cpuIndex+3*cpuFound); math.Abs(index.CPU-want) > 0.05*want {
			t.Errorf("index: %+v, want %.3f cores", index, want)
		}
		if index.DDL != "CREATE INDEX ON game.events (player) USING 'sai';" || scan.CPU < 2*index.CPU {
			t.Errorf("index: %q, scan %.3f cores", index.DDL, scan.CPU)
		}
		if u := r.Verdict.Unserved; len(u) == 0 || u[0].Line != 2 || u[0].How != "served by an index" || !strings.Contains(u[0].Text(), strings.TrimSuffix(index.DDL, ";")) {
			t.Errorf("unserved: %+v", u)
		}
	})
	t.Run("a filter where partitions are small", func(t *testing.T) {
		r := advised(t, asked("900/s", "200/s"), "match_id,seq,player,kind", row)
		if w := of(t, r, 3); !w["filter"].Taken || w["filter"].CPU >= w["further table"].CPU {
			t.Errorf("line 3: %+v, %+v", w["filter"], w["further table"])
		}
		if w := of(t, r, 2); !w["further table"].Taken || w[indexName].CPU < w["further table"].CPU {
			t.Errorf("line 2: %+v, %+v", w["further table"], w[indexName])
		}
	})
	t.Run("no entries of rows without a value", func(t *testing.T) {
		r := advised(t, `SELECT * FROM shop.orders WHERE id = ? -- 800/s
SELECT * FROM shop.orders WHERE coupon = ? -- 1/min
INSERT INTO shop.orders (id, coupon, total) VALUES (?, ?, ?) -- 250/s`, "id,coupon,total", func(i int, at time.Time) string {
			coupon := ""
			if i%10 == 0 {
				coupon = fmt.Sprintf("x%d", i/10%50)
			}
			return fmt.Sprintf("o%x,%s,%d", uint64(i+1)*0x9e3779b97f4a7c15, coupon, i%997)
		})
		if w := of(t, r, 2)[indexName]; math.Abs(w.Writes-25) > 0.1 {
			t.Errorf("%+v, want 25 entries a second", w)
		}
	})
	t.Run("no index in other stores, nor with shards", func(t *testing.T) {
		for _, o := range []Options{{Target: Scylla}, {Target: Keyspaces}} {
			for _, w := range advisedFor(t, asked("900/s", "200/s"), "match_id,seq,player,kind\n1,2,p3,move\n1,3,p4,die\n2,1,p3,die\n", o).Verdict.Ways {
				if slices.ContainsFunc(w.Ways, func(w Way) bool { return w.Way == indexName }) {
					t.Errorf("%s: %+v", o.Target, w)
				}
			}
		}
		r := advised(t, `SELECT * FROM t.e WHERE dev = ? AND at >= ? AND at < ? -- 900/s
SELECT * FROM t.e WHERE code = ? -- 2/s
INSERT INTO t.e (dev, at, id, code) VALUES (?, ?, ?, ?) -- 8k/s`, "dev,at,id,code", func(i int, at time.Time) string {
			return fmt.Sprintf("d%d,%s,%x,c%d", i%40, at.Format(time.RFC3339), uint64(i+1)*0x9e3779b97f4a7c15, i*31%5003)
		})
		if r.Verdict.Strategy == "none" {
			t.Fatalf("%s: not what this test is about", r.Verdict.Design)
		}
		if w := of(t, r, 2); w[indexName].Taken || w[indexName].DDL != "" || !strings.Contains(w[indexName].Note, "write_sharding") {
			t.Errorf("index: %+v", w[indexName])
		}
	})
}

// TestLimitsBehindASort checks that no LIMIT cuts rows before the application sorts them, nor before DynamoDB
// filters them.
func TestLimitsBehindASort(t *testing.T) {
	row := func(i int, at time.Time) string {
		return fmt.Sprintf("%d,%d,p%d,%s", i/60, i%60, i*7919%9973, at.Format(time.RFC3339))
	}
	data := "match_id,seq,player,at\n"
	for i := range 6000 {
		data += row(i, time.Date(2026, 1, 1, 0, 0, i*7, 0, time.UTC)) + "\n"
	}
	asked := `SELECT * FROM game.events WHERE match_id = ? AND seq > ? -- 800/s
SELECT * FROM game.events WHERE player = ? ORDER BY at DESC LIMIT 100 -- 2/s
SELECT * FROM game.events WHERE match_id = ? AND player = ? LIMIT 5 -- 2/s
INSERT INTO game.events (match_id, seq, player, at) VALUES (?, ?, ?, ?) -- 14k/s`
	for _, target := range []Target{Cassandra, DynamoDB} {
		v := advisedFor(t, asked, data, Options{Target: target}).Verdict
		if len(v.Extras) > 0 {
			t.Fatalf("%s: further tables: not what this test is about", target)
		}
		sorted, filtered := v.Statements[1], v.Statements[2]
		if strings.Contains(sorted.Text, "LIMIT") || strings.Contains(sorted.Text, `"Limit"`) || !strings.Contains(sorted.Note, "the application sorts the rows, and takes the first 100") {
			t.Errorf("%s: %s -- %s", target, sorted.Text, sorted.Note)
		}
		if target == Cassandra && !strings.Contains(filtered.Text, "LIMIT 5") || target == DynamoDB && (strings.Contains(filtered.Text, `"Limit"`) || !strings.Contains(filtered.Note, "until there is enough: 5 items")) {
			t.Errorf("%s: %s -- %s", target, filtered.Text, filtered.Note)
		}
	}
}
