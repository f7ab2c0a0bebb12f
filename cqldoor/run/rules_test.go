// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/write"
)

// ruleTest shows what a rule is for: check compares sharded tables with a plain
// one and says what differs.
type ruleTest struct {
	rule    rule.Rule
	name    string
	columns string
	options string
	layout  string
	check   func(w *twins) string
}

const (
	calculated16 = "{'shards': '16'}"
	rolling      = "{'strategy': 'rollover', 'rows': '1000'}"
	random16     = "{'shards': '16', 'strategy': 'random'}"
	timedHours   = "{'strategy': 'time', 'by': 'c', 'bucket': '1h', 'shards': '2'}"
	timedColumns = "p int, c timestamp, v text, PRIMARY KEY (p, c)"
	plainColumns = "p int, c int, v text, l list<int>, PRIMARY KEY (p, c)"
)

// steps runs statements in which C goes from 0 to 9, so that chance has ten times
// to be kind, and then reads.
func steps(reads string, texts ...string) func(w *twins) string {
	return func(w *twins) string {
		for _, text := range texts {
			n := 10
			if !strings.Contains(text, "C") {
				n = 1
			}
			for c := range n {
				if fault := w.write(numbered(text, c)); fault != "" {
					return fault
				}
			}
		}
		return w.read(reads)
	}
}

// numbered puts a number in the place of each lone C.
func numbered(text string, n int) string {
	text = strings.ReplaceAll(text, "T0 C :", fmt.Sprintf("T0%d:", n))
	text = strings.ReplaceAll(text, " 1 C", fmt.Sprintf(" 1%d", n))
	words := strings.Fields(text)
	for i, word := range words {
		if strings.Trim(word, "(),;'") == "C" {
			words[i] = strings.Replace(word, "C", fmt.Sprint(n), 1)
		}
	}
	return strings.Join(words, " ")
}

var ruleTests = []ruleTest{
	{rule.CanonicalForm, "CanonicalForm", "p int, d decimal, v int, PRIMARY KEY (p, d)", "", calculated16,
		steps("SELECT d, v FROM TABLE WHERE p = 1",
			"INSERT INTO TABLE (p, d, v) VALUES (1, C , 1) USING TIMESTAMP 1", "UPDATE TABLE USING TIMESTAMP 2 SET v = 2 WHERE p = 1 AND d = C .00",
			"UPDATE TABLE USING TIMESTAMP 2 SET v = 2 WHERE p = 1 AND d IN (0.0, 1.0, 2.0, 3.00, 4.0, 5.0, 6.000, 7.0, 8.0, 9.0)")},
	{rule.HashedIsSent, "HashedIsSent", "p int, id timeuuid, v int, PRIMARY KEY (p, id)", "", calculated16, hashedIsSent},
	{rule.FloatsInOrder, "FloatsInOrder", "p int, c int, f float, d double, e decimal, PRIMARY KEY (p, c)", "", calculated16,
		steps("SELECT sum(f), sum(d), sum(e) FROM TABLE WHERE p = 1",
			"INSERT INTO TABLE (p, c, f, d, e) VALUES (1, C , 1e8, 1e16, 1e20)", "UPDATE TABLE SET f = 1, d = 1, e = 0.333 WHERE p = 1 AND c IN (2, 5, 6)",
			"UPDATE TABLE SET f = -1e8, d = -1e16 WHERE p = 1 AND c = 4")},
	{rule.HomeOfStatics, "HomeOfStatics", "p int, c int, s text static, v int, PRIMARY KEY (p, c)", "", calculated16,
		steps("SELECT * FROM TABLE WHERE p = 1", "INSERT INTO TABLE (p, c, s, v) VALUES (1, C , 'C', 1)")},
	{rule.StaticsWithoutRows, "StaticsWithoutRows", "p int, c int, s text static, v int, PRIMARY KEY (p, c)", "", calculated16,
		steps("SELECT v FROM TABLE WHERE p IN (0, 1, 2, 3)", "UPDATE TABLE SET s = 'x' WHERE p = C", "INSERT INTO TABLE (p, c, v) VALUES (C , C , 1)", "DELETE FROM TABLE WHERE p IN (1, 2) AND c < 10")},
	{rule.OwnersOnce, "OwnersOnce", plainColumns, "", calculated16,
		steps("SELECT p, count(*) FROM TABLE GROUP BY p", "INSERT INTO TABLE (p, c) VALUES (1, C )", "INSERT INTO TABLE (p, c) VALUES (2, C )")},
	{rule.BroadcastDeletions, "BroadcastDeletions", plainColumns, "", random16,
		steps("SELECT c, v FROM TABLE WHERE p = 1", "INSERT INTO TABLE (p, c, v) VALUES (1, C , 'x')", "DELETE FROM TABLE WHERE p = 1 AND c = C")},
	{rule.BroadcastNulls, "BroadcastNulls", plainColumns, "", random16,
		steps("SELECT c, v FROM TABLE WHERE p = 1", "INSERT INTO TABLE (p, c, v) VALUES (1, C , 'x')", "UPDATE TABLE SET v = null WHERE p = 1 AND c = C")},
	{rule.BroadcastExpiring, "BroadcastExpiring", plainColumns, "", random16, expiring(
		"INSERT INTO TABLE (p, c, v) VALUES (1, C , 'stays')", "INSERT INTO TABLE (p, c, v) VALUES (1, C , 'goes') USING TTL 1")},
	{rule.BroadcastExpiring, "BroadcastExpiringByDefault", plainColumns, " WITH default_time_to_live = 1", random16, expiring(
		"INSERT INTO TABLE (p, c, v) VALUES (1, C , 'stays') USING TTL 0", "UPDATE TABLE SET v = 'goes' WHERE p = 1 AND c = C")},
	{rule.BroadcastCollections, "BroadcastCollections", plainColumns, "", random16,
		steps("SELECT c, l FROM TABLE WHERE p = 1", "UPDATE TABLE SET l = [1] WHERE p = 1 AND c = C", "UPDATE TABLE SET l = l + [2] WHERE p = 1 AND c = C")},
	{rule.LaterCellWins, "LaterCellWins", plainColumns, "", random16,
		steps("SELECT c, v, writetime(v) FROM TABLE WHERE p = 1", "UPDATE TABLE USING TIMESTAMP 5 SET v = 'a' WHERE p = 1 AND c = C",
			"UPDATE TABLE USING TIMESTAMP 4 SET v = 'z' WHERE p = 1 AND c = C", "UPDATE TABLE USING TIMESTAMP 5 SET v = 'b' WHERE p = 1 AND c = C")},
	{rule.FilterMerged, "FilterMerged", plainColumns, "", random16,
		steps("SELECT c, v FROM TABLE WHERE p = 1 AND v = 'old' ALLOW FILTERING", "UPDATE TABLE SET v = 'old' WHERE p = 1 AND c = C", "UPDATE TABLE SET v = 'new' WHERE p = 1 AND c = C")},
	{rule.StampedWrites, "StampedWrites", plainColumns, "", random16, stamped},
	{rule.AddCounters, "AddCounters", "p int, c int, n counter, m counter, PRIMARY KEY (p, c)", "", random16,
		steps("SELECT c, n, m FROM TABLE WHERE p = 1", "UPDATE TABLE SET n = n + C WHERE p = 1 AND c = 1", "UPDATE TABLE SET n = n - 1, m = m + 3 WHERE p = 1 AND c = C")},
	{rule.AddCounters, "AddCountersWithoutClustering", "p int PRIMARY KEY, n counter", "", random16,
		steps("SELECT * FROM TABLE WHERE p = 1", "UPDATE TABLE SET n = n + C WHERE p = 1", "DELETE FROM TABLE WHERE p = 2")},
	{rule.EpochsOfRows, "EpochsOfRows", plainColumns, "", "{'shards': '2', 'row_epochs': '3@10 from 0x00000005'}",
		steps("SELECT c, v FROM TABLE WHERE p = 1 AND c >= 5", "INSERT INTO TABLE (p, c, v) VALUES (1, C , 'x')")},
	{rule.BucketsAnnounced, "BucketsAnnounced", timedColumns, "", timedHours,
		steps("SELECT c, v FROM TABLE WHERE p = 1", "INSERT INTO TABLE (p, c, v) VALUES (1, '2020-07-10T0 C :00:00Z', 'x')")},
	{rule.DeletionsRepeated, "DeletionsRepeated", timedColumns, "", timedHours,
		steps("SELECT c, v FROM TABLE WHERE p = 1", "DELETE FROM TABLE USING TIMESTAMP 9 WHERE p = 1", "DELETE FROM TABLE USING TIMESTAMP 19 WHERE p = 1 AND c > '2020-07-10T07:30:00Z'",
			"INSERT INTO TABLE (p, c, v) VALUES (1, '2020-07-10T0 C :00:00Z', 'x') USING TIMESTAMP C",
			"INSERT INTO TABLE (p, c, v) VALUES (1, '2020-07-10T0 C :00:00Z', 'y') USING TIMESTAMP 1 C")},
	{rule.NothingBelowFloor, "NothingBelowFloor", timedColumns, "", strings.Replace(timedHours, "'1h'", "'1h', 'keep': '4h'", 1), nothingBelowFloor},
	{rule.ShownWhereItBelongs, "ShownWhereItBelongs", plainColumns, "", "{'shards': '4'}", remains},
	{rule.QuorumInChange, "QuorumInChange", changing, "", "{'shards': '4'}", quorumInChange},
	{rule.ReadBeforeDrawn, "ReadBeforeDrawn", plainColumns, "", "{'shards': '3', 'strategy': 'random'}", readBeforeDrawn},
	{rule.ReadsResolve, "ReadsResolve", changing, "", "{'shards': '4'}", readsResolve},
	{rule.OpenedBeforeWritten, "OpenedBeforeWritten", plainColumns, "", rolling, openedBeforeWritten},
	{rule.NothingFromTheFuture, "NothingFromTheFuture", plainColumns, "", rolling, nothingFromTheFuture},
	{rule.LoggedWhenSplit, "LoggedWhenSplit", plainColumns, "", calculated16, func(w *twins) string {
		for _, split := range []bool{false, true} {
			want := map[bool]wire.BatchType{false: wire.BatchUnlogged, true: wire.BatchLogged}[split]
			if got := (&write.Gathering{Split: split}).Kind(wire.BatchUnlogged); got != want {
				return fmt.Sprintf("a batch whose partition is split (%v) is of type %d", split, got)
			}
		}
		return ""
	}},
}

// hashedIsSent finds each row that now() made again by its key.
func hashedIsSent(w *twins) string {
	w.router.batches.binder.Timeuuid = func() [16]byte { return gocql.TimeUUID() }
	for c := range 10 {
		if fault := w.write(fmt.Sprintf("INSERT INTO TABLE (p, id, v) VALUES (1, now(), %d)", c)); fault != "" {
			return fault
		}
	}
	a := w.must(w.v5, w.text(0, "SELECT id FROM TABLE WHERE p = 1"))
	for _, row := range a.Rows {
		id := fmt.Sprintf("%x-%x-%x-%x-%x", row[0][:4], row[0][4:6], row[0][6:8], row[0][8:10], row[0][10:])
		if found := w.must(w.v5, w.text(0, "SELECT v FROM TABLE WHERE p = 1 AND id = "+id)); len(found.Rows) != 1 {
			return "a row is not where its key says: " + id
		}
	}
	return ""
}

// expiring writes, waits until what expires has, and reads.
func expiring(texts ...string) func(w *twins) string {
	return func(w *twins) string {
		if fault := steps("SELECT * FROM TABLE WHERE p = 2", texts...)(w); fault != "" {
			return fault
		}
		time.Sleep(2100 * time.Millisecond)
		return w.read("SELECT c, v FROM TABLE WHERE p = 1")
	}
}

// stamped looks at the times that the door gave two writes.
func stamped(w *twins) string {
	w.router.batches.writer.Placer.Clock.Now = func() time.Time { return time.UnixMicro(1000) }
	defer func() { w.router.batches.writer.Placer.Clock.Now = time.Now }()
	for range 2 {
		w.must(w.v5, w.text(0, "INSERT INTO TABLE (p, c, v) VALUES (7, 7, 'x')"))
	}
	last := w.router.batches.writer.Placer.Clock.Last.Load()
	w.router.batches.writer.Placer.Clock.Last.Store(1000)
	defer w.router.batches.writer.Placer.Clock.Last.Store(last)
	w.must(w.v5, w.text(0, "INSERT INTO TABLE (p, c, v) VALUES (8, 8, 'x')"))
	w.must(w.v5, w.text(0, "BEGIN BATCH INSERT INTO TABLE (p, c, v) VALUES (9, 9, 'x'); APPLY BATCH"))
	a := w.must(w.v5, w.text(0, "SELECT writetime(v) FROM TABLE WHERE p IN (8, 9)"))
	for i, row := range a.Rows {
		if got := fmt.Sprintf("%x", row[0]); got != fmt.Sprintf("%016x", 1001+i) {
			return fmt.Sprintf("write %d has time %s", i, got)
		}
	}
	return ""
}

// TestRules holds each rule to being kept and to being needed: with the rule
// switched off, its test fails. The tests run on the embedded engine: what Cassandra
// answers is compared with it elsewhere.
func TestRules(t *testing.T) {
	s := newScene(t, embedded(t))
	// Shards are drawn by chance, which might hide that a rule is missing: by the same
	// chance each time.
	s.router.batches.writer.Placer.Drawers.IntN = mathrand.New(mathrand.NewPCG(1, 2)).IntN
	covered := map[rule.Rule]bool{}
	for i, rt := range ruleTests {
		t.Run(rt.name, func(t *testing.T) {
			covered[rt.rule] = true
			check := func(name int) string {
				w := &twins{scene: s, layouts: []string{rt.layout}, name: name}
				w.create(rt.columns, rt.options)
				return rt.check(w)
			}
			if fault := check(1000 + 10*i); fault != "" {
				t.Fatal(fault)
			}
			defer rule.Off(rt.rule)()
			// Plans that were made with the rule are not used again: the tables are new.
			if check(1005+10*i) == "" {
				t.Errorf("with the rule switched off its test still passes")
			}
		})
	}
	for _, r := range rule.All() {
		if !covered[r] {
			t.Errorf("rule %b has no test", r)
		}
	}
}
