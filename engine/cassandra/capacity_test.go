// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// limitedEngine is an engine with limits, and with a clock that the test moves.
type limitedEngine struct {
	*local
	nanos atomic.Int64
}

func openLimited(t testing.TB, l throughput.Limits) *limitedEngine {
	t.Helper()
	c := new(limitedEngine)
	e, err := Open("data", Options{
		Storage: storage.Options{FS: vfs.NewMem(), SweepInterval: -1}, Capacity: &l,
		Clock: func() time.Time { return time.Unix(1_767_225_600, 0).Add(time.Duration(c.nanos.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	c.local = newLocal(t, e, wire.V5)
	for _, q := range []string{
		"CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE k.blogs (day text, title text, s text static, d text, e text, PRIMARY KEY (day, title))",
		"CREATE TABLE k.counts (day text PRIMARY KEY, n counter)",
	} {
		if err := c.query(q, wire.LocalQuorum); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// query executes a statement and returns its error.
func (c *limitedEngine) query(text string, level wire.Consistency) error {
	q := wire.Query{Text: []byte(text)}
	q.Params.Consistency = level
	resp := c.do(wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, c.v, &q)})
	return c.failure(resp)
}

func (c *limitedEngine) failure(resp wire.Message) error {
	if resp.Op != wire.OpError {
		return nil
	}
	e, err := wire.ParseError(c.v, resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return e
}

// prepared returns a statement that takes the fast way.
func (c *limitedEngine) prepared(text string) func(values ...string) error {
	resp := c.do(wire.Message{Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, c.v, &wire.Prepare{Text: []byte(text)})})
	if resp.Op != wire.OpResult {
		c.t.Fatal(c.failure(resp))
	}
	p, err := wire.ParsePrepared(c.v, resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	id, result := append([]byte(nil), p.ID...), append([]byte(nil), p.MetadataID...)
	return func(values ...string) error {
		x := wire.Execute{ID: id, MetadataID: result}
		x.Params.Consistency = wire.LocalQuorum
		all := wire.Values{Count: len(values)}
		for _, v := range values {
			all.Raw = wire.AppendBytes(all.Raw, []byte(v))
		}
		x.Params.SetValues(all)
		return c.failure(c.do(wire.Message{Op: wire.OpExecute, Body: wire.AppendExecute(nil, c.v, &x)}))
	}
}

// rate offers a number of requests a second and returns how many were accepted in one second, on
// average after the first.
func (c *limitedEngine) rate(seconds, rate int, request func(i int) error) float64 {
	taken := 0
	for i := range seconds * rate {
		err := request(i)
		var e *wire.Error
		switch {
		case err == nil && i >= rate:
			taken++
		case err != nil && (!errors.As(err, &e) || e.Code != wire.CodeWriteTimeout && e.Code != wire.CodeReadTimeout):
			c.t.Fatal(err)
		}
		c.nanos.Add(int64(time.Second) / int64(rate))
	}
	return float64(taken) / float64(seconds-1)
}

func TestHotPartition(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.02*want {
			t.Errorf("%s: %.0f a second, not %.0f", what, got, want)
		}
	}
	c := openLimited(t, throughput.Limits{})
	insert := c.prepared("INSERT INTO k.blogs (day, title, d) VALUES (?, ?, ?)")
	near("rows of less than a KB", c.rate(4, 3000, func(i int) error { return insert("2020-07-09", fmt.Sprint(i), "x") }), 1000)
	near("rows of less than 2 KB", c.rate(4, 2000, func(i int) error { return insert("2020-07-10", fmt.Sprint(i), strings.Repeat("x", 1200)) }), 500)
	near("by text", c.rate(4, 3000, func(i int) error {
		return c.query(fmt.Sprintf("INSERT INTO k.blogs (day, title, d) VALUES ('2020-07-11', '%d', 'x')", i), wire.LocalQuorum)
	}), 1000)

	big := strings.Repeat("x", 10_000) // 3 read units
	c.nanos.Add(int64(time.Minute))
	if err := insert("2020-07-12", "t", big); err != nil {
		t.Fatal(err)
	}
	const point = "SELECT title FROM k.blogs WHERE day = '2020-07-12' AND title = 't'"
	near("reads at LOCAL_QUORUM", c.rate(4, 2500, func(int) error { return c.query(point, wire.LocalQuorum) }), 1000)
	c.nanos.Add(int64(time.Minute))
	near("reads at LOCAL_ONE", c.rate(4, 4000, func(int) error { return c.query("SELECT title FROM k.blogs WHERE day = '2020-07-12'", wire.LocalOne) }), 2000)
	get := c.prepared("SELECT title FROM k.blogs WHERE day = ? AND title = ?")
	c.nanos.Add(int64(time.Minute))
	near("prepared reads", c.rate(4, 2500, func(int) error { return get("2020-07-12", "t") }), 1000)
}

// A request that exceeds a limit gets a timeout, as from Keyspaces. The code and the write type are
// those of the statement's kind.
func TestTimeouts(t *testing.T) {
	c := openLimited(t, throughput.Limits{Partition: throughput.Rate{Read: 0.001, Write: 0.001}, Account: throughput.Rate{Read: -1, Write: -1}})
	for _, q := range []struct {
		text string
		code wire.Code
		kind string
	}{
		{"INSERT INTO k.blogs (day, title) VALUES ('a', 'b')", wire.CodeWriteTimeout, wire.WriteSimple},
		{"UPDATE k.blogs SET d = 'x' WHERE day = 'a' AND title IN ('b', 'c')", wire.CodeWriteTimeout, wire.WriteSimple},
		{"DELETE FROM k.blogs WHERE day = 'a'", wire.CodeWriteTimeout, wire.WriteSimple},
		{"DELETE FROM k.blogs WHERE day = 'a' AND title > 'b'", wire.CodeWriteTimeout, wire.WriteSimple},
		{"DELETE FROM k.blogs WHERE day = 'a' AND title = 'b'", wire.CodeWriteTimeout, wire.WriteSimple},
		{"UPDATE k.blogs SET s = 'x' WHERE day = 'a'", wire.CodeWriteTimeout, wire.WriteSimple},
		{"INSERT INTO k.blogs (day, title) VALUES ('a', 'b') IF NOT EXISTS", wire.CodeWriteTimeout, wire.WriteCAS},
		{"UPDATE k.counts SET n = n + 1 WHERE day = 'a'", wire.CodeWriteTimeout, wire.WriteCounter},
		{"BEGIN BATCH INSERT INTO k.blogs (day, title) VALUES ('a', 'b'); INSERT INTO k.blogs (day, title) VALUES ('z', 'b') APPLY BATCH", wire.CodeWriteTimeout, wire.WriteBatch},
		{"BEGIN UNLOGGED BATCH INSERT INTO k.blogs (day, title) VALUES ('a', 'b') APPLY BATCH", wire.CodeWriteTimeout, wire.WriteUnloggedBatch},
		{"BEGIN BATCH INSERT INTO k.blogs (day, title) VALUES ('a', 'b') IF NOT EXISTS APPLY BATCH", wire.CodeWriteTimeout, wire.WriteCAS},
		{"SELECT * FROM k.blogs WHERE day = 'a' AND title = 'b'", wire.CodeReadTimeout, ""},
		{"SELECT * FROM k.blogs WHERE day = 'a'", wire.CodeReadTimeout, ""},
		{"SELECT * FROM k.blogs WHERE day IN ('a', 'b')", wire.CodeReadTimeout, ""},
		{"SELECT * FROM k.blogs", wire.CodeReadTimeout, ""},
	} {
		t.Run(q.text, func(t *testing.T) {
			var err error
			for range 20 { // until the initial units are gone
				if err = c.query(q.text, wire.LocalQuorum); err != nil {
					break
				}
				if q.code == wire.CodeReadTimeout {
					_ = c.query("SELECT * FROM k.blogs WHERE day = 'a'", wire.LocalQuorum)
				}
			}
			var e *wire.Error
			if !errors.As(err, &e) || e.Code != q.code || e.WriteType != q.kind || e.Consistency != wire.LocalQuorum || e.Required != 2 || e.Received != 0 || e.DataPresent ||
				e.Message != "Operation timed out - received only 0 responses." {
				t.Errorf("%#v", err)
			}
		})
	}
	for _, text := range []string{"SELECT * FROM system.local", "SELECT * FROM system_schema.tables"} {
		if err := c.query(text, wire.LocalQuorum); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestUnits(t *testing.T) {
	c := openLimited(t, throughput.Limits{})
	total := func() (read, write float64) {
		c.e.limits.models.Range(func(_, m any) bool {
			for _, p := range m.(*throughput.Model).Map(time.Unix(0, 0)) {
				read += p.Read.UnitsTotal
				write += p.Write.UnitsTotal
			}
			return true
		})
		return read, write
	}
	kb := func(n int) string { return strings.Repeat("x", n<<10) }
	for _, q := range []struct {
		text        string
		level       wire.Consistency
		read, write float64
	}{
		{"INSERT INTO k.blogs (day, title, d) VALUES ('a', 'b', 'x')", wire.LocalQuorum, 0, 1},
		{"INSERT INTO k.blogs (day, title, d) VALUES ('a', 'c', '" + kb(3) + "')", wire.LocalQuorum, 0, 4},
		{"INSERT INTO k.blogs (day, title, d) VALUES ('a', 'c', '" + kb(3) + "') IF NOT EXISTS", wire.LocalQuorum, 0, 4}, // not applied, and paid for
		{"INSERT INTO k.blogs (day, title, d) VALUES ('a', 'b', '" + kb(5) + "') IF NOT EXISTS", wire.LocalQuorum, 0, 1}, // the existing row is small
		{"UPDATE k.blogs SET e = 'x' WHERE day = 'a' AND title = 'c' IF e = 'y'", wire.LocalQuorum, 0, 4},                // the existing row is not small
		{"UPDATE k.blogs SET e = 'x' WHERE day = 'a' AND title = 'none' IF e = 'y'", wire.LocalQuorum, 0, 1},
		{"INSERT INTO k.blogs (day, title, d, s) VALUES ('a', 'b', 'x', 'y')", wire.LocalQuorum, 0, 4}, // static and regular: 2 + 2
		{"UPDATE k.blogs SET s = 'z' WHERE day = 'a'", wire.LocalQuorum, 0, 1},
		{"UPDATE k.blogs SET e = 'z' WHERE day IN ('a', 'y') AND title IN ('b', 'd')", wire.LocalQuorum, 0, 4},
		{"DELETE e FROM k.blogs WHERE day = 'a' AND title = 'b'", wire.LocalQuorum, 0, 1},
		{"DELETE FROM k.blogs WHERE day = 'y'", wire.LocalQuorum, 0, 1},
		{"BEGIN BATCH INSERT INTO k.blogs (day, title) VALUES ('g', 'b'); INSERT INTO k.blogs (day, title) VALUES ('h', 'b') APPLY BATCH", wire.LocalQuorum, 0, 2},
		{"UPDATE k.counts SET n = n + 1 WHERE day = 'a'", wire.LocalQuorum, 0, 1},
		{"SELECT e FROM k.blogs WHERE day = 'a' AND title = 'b'", wire.LocalQuorum, 1, 0},
		{"SELECT e FROM k.blogs WHERE day = 'a' AND title = 'none'", wire.LocalOne, 0.5, 0},
		{"SELECT e FROM k.blogs WHERE day = 'none'", wire.LocalOne, 0.5, 0},
		{"SELECT title FROM k.blogs WHERE day = 'a'", wire.LocalQuorum, 1, 0}, // rows of 3 KB and little
		{"INSERT INTO k.blogs (day, title, d) VALUES ('a', 'f', '" + kb(7) + "')", wire.LocalQuorum, 0, 8},
		{"SELECT title FROM k.blogs WHERE day = 'a'", wire.LocalQuorum, 3, 0}, // whole rows count
		{"SELECT title FROM k.blogs WHERE day = 'a'", wire.LocalOne, 1.5, 0},
		{"SELECT title FROM k.blogs WHERE day IN ('a', 'g')", wire.LocalQuorum, 4, 0},
	} {
		r0, w0 := total()
		if err := c.query(q.text, q.level); err != nil {
			t.Fatalf("%.80s: %v", q.text, err)
		}
		if r1, w1 := total(); r1-r0 != q.read || w1-w0 != q.write {
			t.Errorf("%.80s took %v read and %v write units, not %v and %v", q.text, r1-r0, w1-w0, q.read, q.write)
		}
	}
}

// A hot partition is split between its rows, because the model knows their order.
func TestSplitForHeat(t *testing.T) {
	for name, title := range map[string]func(i int) string{
		"scattered":  func(i int) string { return fmt.Sprintf("%08x", uint32(i)*2654435761) },
		"increasing": func(i int) string { return fmt.Sprintf("%08x", i) },
	} {
		t.Run(name, func(t *testing.T) {
			c := openLimited(t, throughput.Limits{SplitAfter: 2 * time.Second})
			insert := c.prepared("INSERT INTO k.blogs (day, title) VALUES (?, ?)")
			request := func(i int) error { return insert("2020-07-09", title(i)) }
			c.rate(4, 3000, request)
			got, want := c.rate(2, 3000, func(i int) error { return request(12_000 + i) }), 1000.0
			if name == "scattered" {
				want = 2000
			}
			if got < 0.95*want || got > 1.6*want {
				t.Errorf("%.0f writes a second after the split", got)
			}
		})
	}
}

func TestDroppedTableIsForgotten(t *testing.T) {
	c := openLimited(t, throughput.Limits{})
	if err := c.query("INSERT INTO k.blogs (day, title) VALUES ('a', 'b')", wire.LocalQuorum); err != nil {
		t.Fatal(err)
	}
	if err := c.query("DROP TABLE k.blogs", wire.LocalQuorum); err != nil {
		t.Fatal(err)
	}
	c.e.limits.models.Range(func(id, _ any) bool {
		t.Errorf("the model of table %x is kept", id)
		return true
	})
}
