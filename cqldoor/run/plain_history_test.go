// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/reshard"
)

var historySeed = flag.Uint64("history.seed", 1, "the seed of the histories across changes of layout")

// twin draws statements on a table and executes each on it and on a table that nobody changes.
// The answers must be equal.
type twin struct {
	t     *testing.T
	doors []*gocql.Session
	r     *rand.Rand
	stamp int64 // of the last write
	done  int
	scale int // the values of c are multiples of it
}

const changed, unchanged = "both.changed", "both.unchanged"

// draw returns a statement on table T. A read may be of several partitions, whose order depends on
// the layout.
func (h *twin) draw() (text string, unordered bool) {
	r := h.r
	h.stamp = max(h.stamp+1, time.Now().UnixMicro())
	p, c, n := r.IntN(4), h.c(), r.IntN(1000)
	using := fmt.Sprintf("USING TIMESTAMP %d", h.stamp)
	row := fmt.Sprintf("p = %d AND c = %d", p, c)
	part := fmt.Sprintf("p = %d AND c >= %d AND c < %d", p, c, c+h.scale*(1+r.IntN(9)))
	insert := fmt.Sprintf("INSERT INTO T (p, c, v, n) VALUES (%d, %d, 'v%d', %d)", p, c, n, n)
	switch r.IntN(22) {
	case 0, 1, 2, 3:
		return insert + " " + using, false
	case 4:
		return insert + " " + using + " AND TTL 90000", false
	case 5:
		return fmt.Sprintf("UPDATE T %s SET v = 'u%d', n = %d WHERE %s", using, n, n, row), false
	case 6:
		return fmt.Sprintf("UPDATE T %s SET v = 'u%d' WHERE p IN (%d, %d) AND c = %d", using, n, p, (p+1)%4, c), false
	case 7:
		return fmt.Sprintf("DELETE n FROM T %s WHERE %s", using, row), false
	case 8:
		return "DELETE FROM T " + using + " WHERE " + row, false
	case 9:
		return "DELETE FROM T " + using + " WHERE " + part, false
	case 10:
		if r.IntN(4) == 0 {
			return fmt.Sprintf("DELETE FROM T %s WHERE p = %d", using, p), false
		}
		fallthrough
	case 11:
		kind := []string{"", "UNLOGGED "}[r.IntN(2)]
		return fmt.Sprintf("BEGIN %sBATCH %s %s; DELETE FROM T WHERE p = %d AND c = %d; INSERT INTO T (p, c, v) VALUES (%d, %d, 'b'); APPLY BATCH", kind, using, insert, p, h.c(), (p+1)%4, c), false
	case 12:
		return "SELECT * FROM T WHERE " + row, false
	case 13:
		return "SELECT v, n, writetime(n) FROM T WHERE " + part, false
	case 14:
		return fmt.Sprintf("SELECT * FROM T WHERE p = %d ORDER BY c DESC", p), false
	case 15:
		return fmt.Sprintf("SELECT c, v FROM T WHERE p = %d LIMIT %d", p, 1+r.IntN(9)), false
	case 16:
		return "SELECT count(*), min(c), max(n), sum(n) FROM T WHERE " + part, false
	case 17:
		return fmt.Sprintf("SELECT * FROM T WHERE p IN (0, 1, 3) AND c IN (%d, %d, %d)", c, h.c(), h.c()), false
	case 18:
		return fmt.Sprintf("SELECT p, c, n FROM T WHERE n > %d ALLOW FILTERING", n), true
	case 19:
		return "SELECT p, count(*), max(c) FROM T GROUP BY p", true
	case 20:
		return []string{"SELECT DISTINCT p FROM T", "SELECT p, c FROM T PER PARTITION LIMIT 2"}[r.IntN(2)], true
	default:
		return "SELECT * FROM T", true
	}
}

// c draws a value of column c.
func (h *twin) c() int { return h.scale * h.r.IntN(30) }

// condition draws a conditional write.
func (h *twin) condition() string {
	p, c, n := h.r.IntN(4), h.c(), h.r.IntN(1000)
	switch h.r.IntN(3) {
	case 0:
		return fmt.Sprintf("INSERT INTO T (p, c, v) VALUES (%d, %d, 'i') IF NOT EXISTS", p, c)
	case 1:
		return fmt.Sprintf("UPDATE T SET v = 'c' WHERE p = %d AND c = %d IF n > %d", p, c, n)
	default:
		return fmt.Sprintf("DELETE FROM T WHERE p = %d AND c = %d IF EXISTS", p, c)
	}
}

func (h *twin) step(text string, unordered bool) {
	h.t.Helper()
	h.done++
	size := []int{3, 1000}[h.r.IntN(2)]
	var values []any
	if h.r.IntN(2) == 0 { // gocql prepares statements with values
		var ints []int
		text, ints = withMarkers(text)
		for _, n := range ints {
			values = append(values, int64(n))
		}
	}
	ask := func(table string) (string, error) {
		for {
			rows, err := rowsOf(h.doors[h.r.IntN(len(h.doors))], size, strings.ReplaceAll(text, " T ", " "+table+" "), values...)
			if err != nil && unordered && strings.Contains(err.Error(), "Invalid value for the paging state") {
				continue // a scan that began by places that are gone; it begins anew
			}
			if err != nil && len(h.doors) > 1 && strings.Contains(err.Error(), "it may have been applied or not") {
				continue // another door published a step; the write is sent again with its timestamp
			}
			var failed *gocql.RequestErrReadFailure
			if errors.As(err, &failed) && size < 1000 {
				// Cassandra itself can fail to end a short page inside a range that was deleted
				// ("illegal Range Tombstone bounds sequence").
				size = 1000
				continue
			}
			if unordered {
				slices.Sort(rows)
			}
			return joined(rows), err
		}
	}
	text += " "
	got, err := ask(changed)
	want, wrong := ask(unchanged)
	if got != want || err != nil || wrong != nil {
		h.t.Fatalf("%d. %s of %v in pages of %d gives\n%s, %v\nand should give\n%s, %v", h.done, text, values, size, got, err, want, wrong)
	}
}

// TestHistoriesAcrossPlain executes random statements on a table that is plain, gets 5 shards, then 8,
// and becomes plain again, before, during and after each change. A table that is never sharded gives
// the same answers.
func TestHistoriesAcrossPlain(t *testing.T) { onStores(t, historiesAcrossPlain) }

func historiesAcrossPlain(t *testing.T, st store.Store) {
	historiesAcross(t, startSessions(t, st, 1), "p int, c int, v text, n int, PRIMARY KEY (p, c))", 1, "'shards': '5'", "'shards': '8'", "", "'shards': '4'", rolledBack, "'shards': '2'", "")
}

// rolledBack stands for a change that is taken back. The change's options follow it; if none follow, the change
// is to a plain table.
const rolledBack = "'change': 'rollback'"

// TestHistoriesAcrossTime executes random statements on a table that gets buckets of time, other buckets,
// shards by a hash, and is plain in between. A table that is never sharded gives the same answers.
func TestHistoriesAcrossTime(t *testing.T) { onStores(t, historiesAcrossTime) }

func historiesAcrossTime(t *testing.T, st store.Store) {
	const hashed = "'strategy': 'calculated', 'shards': '3'"
	timed := func(rest string) string { return "'strategy': 'time', 'by': 'c', " + rest }
	doors := startSessions(t, st, 1)
	historiesAcross(t, doors, "p int, c timestamp, v text, n int, PRIMARY KEY (p, c))", 24_000,
		timed("'bucket': '1m', 'shards': '2'"), "'bucket': '3m'", "'bucket': '1m', 'shards': '5'", hashed, timed("'bucket': '2m'"), rolledBack, "'shards': '3'", "")
	historiesAcross(t, doors, "p int, c timestamp, v text, n int, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c DESC)", 24_000,
		hashed, timed("'bucket': '1m'"), "'bucket': '2m', 'shards': '2'", "", timed("'bucket': '5m'"), hashed+", 'column': 'salt'", "'column': 'pepper'")
}

// TestHistoriesAcrossRollover executes random statements on tables of strategy rollover that get shards by a
// hash, buckets of time, or become plain, and on such tables that get strategy rollover. A table that is never
// sharded gives the same answers.
func TestHistoriesAcrossRollover(t *testing.T) { onStores(t, historiesAcrossRollover) }

func historiesAcrossRollover(t *testing.T, st store.Store) {
	const (
		columns = "p int, c timestamp, v text, n int, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c DESC)"
		rolls   = "'strategy': 'rollover', 'rows': '10'"
		hashed  = "'strategy': 'calculated', 'shards': '3'"
		timed   = "'strategy': 'time', 'by': 'c', 'bucket': '2m'"
	)
	doors := startSessions(t, st, 1)
	for _, changes := range [][]string{
		{hashed, "'shards': '4'", rolledBack + rolls, rolls, "'rows': '20', 'max': '5'", hashed},
		{timed, rolls, timed},
		{rolledBack, "", rolls, rolledBack, hashed},
	} {
		historiesAfter(t, doors, "{"+rolls+"}", columns, 24_000, changes...)
	}
}

// TestHistoriesAcrossRolloverInAFleet does so at three doors: each statement goes to one of them.
func TestHistoriesAcrossRolloverInAFleet(t *testing.T) {
	const (
		rolls  = "'strategy': 'rollover', 'rows': '10'"
		hashed = "'strategy': 'calculated', 'shards': '3'"
	)
	historiesAfter(t, startSessions(t, embedded(t), 3), "{"+rolls+"}", "p int, c timestamp, v text, n int, PRIMARY KEY (p, c))", 24_000,
		hashed, rolledBack+rolls, rolls, "'strategy': 'time', 'by': 'c', 'bucket': '2m'", rolls, "")
}

// startSessions starts doors, and returns sessions with them. A single door is the only one that can use the store
// until the test ends.
func startSessions(t *testing.T, st store.Store, doors int) (all []*gocql.Session) {
	if doors == 1 {
		return []*gocql.Session{session(t, serveDoor(t, st, startRouter(t, st)), 5)}
	}
	for i := range doors {
		all = append(all, session(t, serveDoor(t, st, startDoor(t, st, string(rune('a'+i))+":1")), 4+i%2))
	}
	return all
}

// historiesAcross executes random statements on two tables of some columns, before, during and after
// changes of the layout of one of them.
func historiesAcross(t *testing.T, doors []*gocql.Session, columns string, scale int, changes ...string) {
	historiesAfter(t, doors, "", columns, scale, changes...)
}

// historiesAfter is historiesAcross for a table that begins with strategy rollover, if sharding is given. There
// are no conditions while the table has this strategy, nor at several doors, which may not know their outcome.
func historiesAfter(t *testing.T, doors []*gocql.Session, sharding, columns string, scale int, changes ...string) {
	s := doors[0]
	exec(t, s, "DROP KEYSPACE IF EXISTS both")
	exec(t, s, "CREATE KEYSPACE both WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	defer func() { exec(t, s, "DROP KEYSPACE both") }()
	for _, table := range []string{changed, unchanged} {
		exec(t, s, "CREATE TABLE "+table+" ("+columns)
	}
	if sharding != "" {
		and := " WITH "
		if strings.Contains(columns, and) {
			and = " AND "
		}
		exec(t, s, "DROP TABLE "+changed)
		exec(t, s, "CREATE TABLE "+changed+" ("+columns+and+"write_sharding = "+sharding)
	}
	h := &twin{t: t, doors: doors, r: rand.New(rand.NewPCG(*historySeed, 13)), scale: scale}
	l := &lived{t: t, table: changed, doors: doors}
	rolls := sharding != "" || len(doors) > 1
	for _, change := range changes {
		for range 25 {
			h.step(h.draw())
			if !rolls {
				h.step(h.condition(), false)
				continue
			}
			h.step(h.draw())
			h.step(h.draw())
		}
		change, back := strings.CutPrefix(change, rolledBack)
		text := "ALTER TABLE " + changed + " WITH write_sharding = {" + change + "}"
		exec(t, s, text)
		if back {
			exec(t, s, "ALTER TABLE "+changed+" WITH write_sharding = {"+rolledBack+"}")
		} else if change == "" || strings.Contains(change, "'strategy'") {
			rolls = strings.Contains(change, "'rollover'") || len(doors) > 1
		}
		for n := 0; l.status().Phase != reshard.NoPhase; n++ {
			if n > 2000 || l.status().Problem != "" {
				t.Fatalf("%s does not end: %+v", text, l.status())
			}
			h.step(h.draw())
		}
	}
	for range 50 {
		h.step(h.draw())
		if !rolls {
			h.step(h.condition(), false)
		}
	}
	t.Logf("%d statements", h.done)
}
