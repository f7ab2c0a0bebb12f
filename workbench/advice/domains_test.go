// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDomains asks for advice about tables whose keys no generator draws, and compares it with what
// an expert says.
func TestDomains(t *testing.T) {
	t.Run("the rows of a chat by Snowflake numbers", func(t *testing.T) {
		r := advised(t, `INSERT INTO chat.messages (room, msg, body) VALUES (?, ?, ?) -- 300/s
SELECT * FROM chat.messages WHERE room = ? ORDER BY msg DESC LIMIT 50 -- 900/s
SELECT * FROM chat.messages WHERE room = ? AND msg < ? ORDER BY msg DESC LIMIT 50 -- 200/s
UPDATE chat.messages SET body = ? WHERE room = ? AND msg = ? -- 9/s`, "room,msg,body", func(i int, at time.Time) string {
			return fmt.Sprintf("r%d,%d,%s", i*i%40, (at.UnixMilli()-1_420_070_400_000)<<22|int64(i%5)<<12, strings.Repeat("x", 80))
		})
		v := r.Verdict
		if !slices.Equal(v.PartitionKey, []string{"room"}) || v.Clustering[0] != "msg" || v.Bucket == nil || v.Bucket.Of != "msg" || v.Strategy == "time" {
			t.Fatalf("%v %v, bucket %+v, strategy %s", v.PartitionKey, v.Clustering, v.Bucket, v.Strategy)
		}
		if !strings.Contains(strings.Join(v.Reasons, "\n"), "Snowflake number") {
			t.Errorf("the reasons do not say where the time is: %q", v.Reasons)
		}
		for _, x := range v.Statements {
			if !strings.Contains(x.Text, v.Bucket.Name) {
				t.Errorf("line %d names no bucket: %s", x.Line, x.Text)
			}
			if strings.HasPrefix(x.Text, "UPDATE") && (strings.Contains(x.Note, "read ") || !strings.Contains(x.Note, "made")) {
				t.Errorf("the update's bucket is known by its id: %q", x.Note)
			}
		}
		if s := r.Queries[2]; !strings.Contains(r.Candidates[0].Queries[2].Why, "from the limit") {
			t.Errorf("%s: %+v", s.Text, r.Candidates[0].Queries[2])
		}
	})
	t.Run("followers, of whom nobody asks by time", func(t *testing.T) {
		r := advised(t, `INSERT INTO s.follows (follower, followee, since) VALUES (?, ?, ?) -- 200/s
SELECT followee FROM s.follows WHERE follower = ? LIMIT 500 -- 3k/s
SELECT follower FROM s.follows WHERE followee = ? LIMIT 500 -- 1k/s`, "follower,followee,since", func(i int, at time.Time) string {
			to := i * 7919 % 3001
			if i%5 == 0 {
				to = 1
			}
			return fmt.Sprintf("u%d,u%d,%s", i%6007, to, at.Format(time.RFC3339Nano))
		})
		for _, e := range r.Verdict.Extras {
			if e.Bucket != nil {
				t.Errorf("a bucket of %s, though no query gives a time", e.Bucket.Of)
			}
			if e.Lines[0] == 3 && !strings.Contains(e.Why, "the queries give no time") {
				t.Errorf("the further table grows for ever without a word: %s", e.Why)
			}
		}
	})
	t.Run("a board in the order of a score that changes", func(t *testing.T) {
		r := advised(t, `UPDATE g.scores SET score = ? WHERE game = ? AND player = ? -- 800/s
SELECT score FROM g.scores WHERE game = ? AND player = ? -- 2000/s
SELECT player, score FROM g.scores WHERE game = ? ORDER BY score DESC LIMIT 100 -- 50/s
INSERT INTO g.scores (game, player, score) VALUES (?, ?, ?) -- 10/s`, "game,player,score", func(i int, at time.Time) string {
			return fmt.Sprintf("g%d,p%d,%d", i%4, i/4, i*7919%100_003)
		})
		if len(r.Verdict.Unserved) != 1 || !strings.Contains(r.Verdict.Unserved[0].Why, "score is updated by line 1") {
			t.Errorf("%+v", r.Verdict.Unserved)
		}
	})
	t.Run("visits by day, of which no more are lost than are written", func(t *testing.T) {
		r := advised(t, `INSERT INTO med.visits (patient, visited, doctor) VALUES (?, ?, ?) -- 3/s
SELECT * FROM med.visits WHERE patient = ? AND visited >= ? AND visited <= ? -- 10/s
SELECT * FROM med.visits WHERE doctor = ? AND visited = ? -- 2/s`, "patient,visited,doctor", func(i int, at time.Time) string {
			return fmt.Sprintf("p%d,%s,d%d", i*7919%997, at.Format(time.DateOnly), i%11)
		})
		found := false
		for _, p := range r.Antipatterns {
			if p.Loss != nil {
				found = true
				if all := 3.0 * 86400; p.Loss.PerDay > all || p.Loss.High > all {
					t.Errorf("%v: %+v of %g rows a day", p.Columns, *p.Loss, all)
				}
			}
			if p.Severity == InTheKey && p.Name == "collision" && p.Mended == "" && r.Verdict != nil {
				t.Errorf("%v: the verdict loses rows, or does not say that it does not: %s", p.Columns, p.Evidence)
			}
		}
		if !found {
			t.Error("no loss is named")
		}
	})
	t.Run("a ledger that is counted within each account", func(t *testing.T) {
		seq := make(map[int]int)
		r := advised(t, `INSERT INTO bank.ledger (account, entry, text) VALUES (?, ?, ?) -- 100/s
SELECT * FROM bank.ledger WHERE account = ? AND entry = ? -- 300/s
SELECT * FROM bank.ledger WHERE account = ? ORDER BY entry DESC LIMIT 20 -- 200/s`, "account,entry,text,booked", func(i int, at time.Time) string {
			a := 0
			if i%2 == 1 {
				a = i * 7919 % 2003
			}
			seq[a]++
			return fmt.Sprintf("a%d,%d,%s,%s", a, seq[a], "some text of a booking", at.Format(time.DateTime))
		})
		if v := r.Verdict; v.TimeBucket == nil && !strings.Contains(v.Summary, "let the application write entry / ") {
			t.Errorf("the key %v grows for ever, and there is no way out: %s", v.PartitionKey, v.Summary)
		}
	})
	t.Run("the log of services, on nodes that bear no second copy of it", func(t *testing.T) {
		asked := `INSERT INTO ops.logs (service, logged_at, level, seq, message) VALUES (?, ?, ?, ?, ?) -- %s
SELECT * FROM ops.logs WHERE service = ? AND logged_at >= ? AND logged_at < ? -- %s
SELECT * FROM ops.logs WHERE service = ? AND level IN ('ERROR', 'WARN') AND logged_at >= ? ORDER BY logged_at DESC LIMIT 200 -- 100/s`
		row := func(i int, at time.Time) string {
			return fmt.Sprintf("svc%d,%s,%s,%d,%s", (i*7919%97)%(1+i%60), at.Format(time.RFC3339Nano), []string{"DEBUG", "INFO", "INFO", "INFO", "INFO", "WARN", "ERROR", "INFO"}[i*31%8], i, strings.Repeat("m", 100))
		}
		names := "service,logged_at,level,seq,message"
		v := advised(t, fmt.Sprintf(asked, "20k/s", "40/s"), names, row).Verdict
		if !slices.Equal(v.PartitionKey, []string{"service", "level"}) || len(v.Extras) != 0 || len(v.Unserved) != 0 || v.TimeBucket == nil || v.Shards < 2 {
			t.Errorf("%v in %d shards, %d further tables, unserved %+v", v.PartitionKey, v.Shards, len(v.Extras), v.Unserved)
		}
		if s := v.Statements[1]; !strings.Contains(s.Text, "level IN (?, ?, ?, ?)") || !strings.Contains(s.Note, "all 4 values of level") {
			t.Errorf("%s -- %s", s.Text, s.Note)
		}
		// With a tenth of the writes, the nodes bear a second copy, which misses no new level.
		if v := advised(t, fmt.Sprintf(asked, "2k/s", "40/s"), names, row).Verdict; len(v.Extras) != 1 || len(v.Exceeded) != 0 {
			t.Errorf("%v in %d shards, %d further tables, exceeded %+v", v.PartitionKey, v.Shards, len(v.Extras), v.Exceeded)
		}
	})
	t.Run("a further table that the nodes do not bear, for queries that need it", func(t *testing.T) {
		v := advised(t, `INSERT INTO s.sales (shop, sold, item, customer) VALUES (?, ?, ?, ?) -- 15k/s
SELECT * FROM s.sales WHERE shop = ? AND sold >= ? AND sold < ? -- 3k/s
SELECT * FROM s.sales WHERE customer = ? ORDER BY sold DESC LIMIT 20 -- 3k/s`, "shop,sold,item,customer", func(i int, at time.Time) string {
			return fmt.Sprintf("s%d,%s,i%d,c%d", i*7919%997, at.Format(time.RFC3339Nano), i, i*31%5003)
		}).Verdict
		if len(v.Extras) != 1 || !strings.Contains(v.Summary, "with 1 further table the writes need 9 nodes in place of 6") {
			t.Errorf("%d further tables: %s", len(v.Extras), v.Summary)
		}
	})
	t.Run("results of matches, which a column tells apart that no query of the key names", func(t *testing.T) {
		r := advised(t, `SELECT * FROM fb.results WHERE season = ? AND league = ? AND matchday = ? -- 700/s
SELECT * FROM fb.results WHERE season = ? AND league = ? -- 50/s
INSERT INTO fb.results (season, league, matchday, home, away, goals) VALUES (?, ?, ?, ?, ?, ?) -- 2/min`, "season,league,matchday,home,away,goals", func(i int, at time.Time) string {
			match, day, league, season := i%9, i/9%34, i/306%20, i/6120
			first := (match*7 + day*5) % 18
			return fmt.Sprintf("%d,L%d,%d,L%dT%d,L%dT%d,%d:%d", 2000+season, league, 1+day, league, (first+match)%18, league, (first+17-match+day)%18, i*7919%5, i*104729%4)
		})
		v := r.Verdict
		if !slices.Equal(v.PartitionKey, []string{"season", "league"}) || len(v.Clustering) != 2 || v.Clustering[0] != "matchday" || slices.Contains(v.Added, "row_id") {
			t.Errorf("%v %v, added %v", v.PartitionKey, v.Clustering, v.Added)
		}
	})
}
