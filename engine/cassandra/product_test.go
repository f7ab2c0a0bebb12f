// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestProducts sends requests that name as many rows as the product of two lists of
// thousands, or repeat a long value as often as a list has elements. What is allocated
// for them is bounded by what they say and by what they find.
func TestProducts(t *testing.T) {
	const many = 10_000
	c := newLocal(t, openMemory(t), wire.V4)
	var list []byte
	list = binary.BigEndian.AppendUint32(list, many)
	for i := range many {
		list = binary.BigEndian.AppendUint32(list, 4)
		list = binary.BigEndian.AppendUint32(list, uint32(i))
	}
	ask := func(text string, values ...[]byte) error {
		q := wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.One}}
		v := wire.Values{Count: len(values), Named: strings.Contains(text, ":v")}
		for _, b := range values {
			if v.Named {
				v.Raw = wire.AppendString(v.Raw, []byte("v"))
			}
			v.Raw = wire.AppendBytes(v.Raw, b)
		}
		q.Params.SetValues(v)
		resp := c.do(wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, wire.V4, &q)})
		if resp.Op != wire.OpError {
			return nil
		}
		_, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		e, err := wire.ParseError(wire.V4, body)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	long := make([]byte, 1<<20)
	for _, text := range []string{
		"CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE ks.t (p int, c int, d int, v int, s int static, b blob, l list<int>, x text, PRIMARY KEY (p, c, d))",
		"CREATE TABLE ks.k (p int, q int, v int, PRIMARY KEY ((p, q)))",
		"CREATE TABLE ks.s (p text, c int, v int, PRIMARY KEY (p, c))",
		"CREATE TABLE ks.n (p int, c int, n counter, PRIMARY KEY (p, c))",
		"INSERT INTO ks.t (p, c, d, v, s) VALUES (1, 9999, 5000, 7, 8)",
		"INSERT INTO ks.t (p, c, d, v) VALUES (9999, 1, 1, 7)",
	} {
		if err := ask(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask("INSERT INTO ks.t (p, c, d, b) VALUES (5, 5, 5, ?)", long); err != nil {
		t.Fatal(err)
	}
	const oversized, tooLong, tooMuch, tooOften = "Rejected an oversized mutation", "the result is longer", "may have 64 MiB", "counts for each marker"
	nested := strings.Repeat("to_json(", 64) + "'\"'" + strings.Repeat(")", 64)
	for _, test := range []struct {
		text    string
		values  [][]byte
		refused string
	}{
		{"SELECT v FROM ks.t WHERE p IN ? AND c IN ?", [][]byte{list, list}, ""},
		{"SELECT v FROM ks.t WHERE p = 1 AND c IN ? AND d IN ?", [][]byte{list, list}, ""},
		{"SELECT v FROM ks.t WHERE p = 1 AND c IN ? AND d IN ? ORDER BY c DESC, d DESC", [][]byte{list, list}, ""},
		{"SELECT v FROM ks.t WHERE p IN ? AND c IN ? AND d > 10", [][]byte{list, list}, ""},
		{"SELECT count(*), max(v) FROM ks.t WHERE p IN ? AND c IN ? AND d IN ?", [][]byte{list, list, list}, ""},
		{"SELECT v FROM ks.t WHERE c IN ? AND d IN ? ALLOW FILTERING", [][]byte{list, list}, ""},
		{"UPDATE ks.t SET v = 1 WHERE p IN ? AND c IN ? AND d IN ?", [][]byte{list, list, list}, oversized},
		{"UPDATE ks.t SET v = 1 WHERE p = 1 AND c IN ? AND d IN ?", [][]byte{list, list}, oversized},
		{"UPDATE ks.k SET v = 1 WHERE p IN ? AND q IN ?", [][]byte{list, list}, oversized},
		{"UPDATE ks.t SET l = l + [1] WHERE p IN ? AND c IN ? AND d = 1", [][]byte{list, list}, oversized},
		{"UPDATE ks.t SET l[0] = 1 WHERE p IN ? AND c IN ? AND d = 1", [][]byte{list, list}, oversized},
		{"UPDATE ks.t SET b = ? WHERE p = 1 AND c IN ? AND d = 1", [][]byte{long, list}, oversized},
		{"UPDATE ks.t SET b = ? WHERE p IN ? AND c = 1 AND d = 1", [][]byte{long, list}, oversized},
		{"UPDATE ks.s SET v = 1 WHERE p = ? AND c IN ?", [][]byte{long[:60_000], list}, oversized},
		{"DELETE FROM ks.s WHERE p = ? AND c IN ?", [][]byte{long[:60_000], list}, oversized},
		{"UPDATE ks.n SET n = n + 1 WHERE p IN ? AND c IN ?", [][]byte{list, list}, oversized},
		{"DELETE FROM ks.t WHERE p IN ? AND c IN ? AND d IN ?", [][]byte{list, list, list}, oversized},
		{"DELETE FROM ks.t WHERE p IN ? AND c IN ?", [][]byte{list, list}, oversized},
		{"DELETE FROM ks.t WHERE p IN ? AND c IN ? AND d > 3", [][]byte{list, list}, oversized},
		{"DELETE FROM ks.k WHERE p IN ? AND q IN ?", [][]byte{list, list}, oversized},
		{"BEGIN BATCH UPDATE ks.t SET v = 1 WHERE p = 1 AND c = 1 AND d = 1; UPDATE ks.k SET v = 1 WHERE p IN ? AND q IN ?; APPLY BATCH", [][]byte{list, list}, oversized},
		{"SELECT v FROM ks.s WHERE p IN (" + strings.Repeat(":v, ", 5000) + ":v)", [][]byte{long[:60_000]}, tooOften},
		{"SELECT v FROM ks.t WHERE p = 5 AND b IN (" + strings.Repeat(":v, ", 5000) + ":v) ALLOW FILTERING", [][]byte{long}, tooOften},
		{"UPDATE ks.t SET v = 1 WHERE p = 5 AND c = 5 AND d = 5 IF b IN (" + strings.Repeat(":v, ", 5000) + ":v)", [][]byte{long}, tooOften},
		{"BEGIN UNLOGGED BATCH " + strings.Repeat("UPDATE ks.t SET b = ? WHERE p = 1 AND c IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) AND d = 1; ", 10) + "APPLY BATCH", repeated(long, 10), oversized},
		{"SELECT " + strings.Repeat("b, ", 5000) + "v FROM ks.t WHERE p = 5", nil, tooLong},
		{"SELECT JSON " + strings.Repeat("b, ", 5000) + "v FROM ks.t WHERE p = 5", nil, tooMuch},
		{"SELECT " + strings.Repeat("max(b), ", 5000) + "v FROM ks.t WHERE p = 5", nil, tooMuch},
		{"SELECT " + strings.Repeat("to_json(b), ", 5000) + "v FROM ks.t WHERE p = 5", nil, tooMuch},
		{"SELECT " + strings.Replace(nested, "'\"'", "cluster_name", 1) + " FROM system.local", nil, tooMuch},
		{"SELECT " + strings.Replace(nested, "'\"'", "b", 1) + " FROM ks.t WHERE p = 5", nil, tooMuch},
		{"SELECT v FROM ks.t WHERE p = 5 AND x = " + nested + " ALLOW FILTERING", nil, tooMuch},
		{"UPDATE ks.t SET x = " + nested + " WHERE p = 5 AND c = 5 AND d = 5", nil, tooMuch},
		{"UPDATE ks.t SET v = 1 WHERE p = 5 AND c = 5 AND d = 5 IF x = " + nested, nil, tooMuch},
		{"BEGIN BATCH " + strings.Repeat("UPDATE ks.t SET x = to_json(blobAsText(?)) WHERE p = 5 AND c = 5 AND d = 5; ", 20) + "APPLY BATCH", repeated(make([]byte, 1<<20), 20), tooMuch},
	} {
		t.Run(fmt.Sprintf("%.70s", test.text), func(t *testing.T) {
			allowed := uint64(160 << 20)
			switch test.refused {
			case tooLong:
				allowed = 2 << 30 // the result, as far as it goes, grows in steps
			case tooMuch:
				allowed = 400 << 20 // what is made
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := ask(test.text, test.values...)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > allowed {
				t.Errorf("%d MiB were allocated", n>>20)
			}
			if test.refused == "" && err != nil || test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

func repeated(b []byte, n int) (all [][]byte) {
	for range n {
		all = append(all, b)
	}
	return all
}

// The memory that a read of many partitions of a system table allocates must not grow with the
// product of two numbers: how many partitions it names, and how many there are.
func TestSystemTablesAreMadeOnce(t *testing.T) {
	c := newLocal(t, openMemory(t), wire.V4)
	ask := func(text string, values ...[]byte) {
		q := wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.One}}
		v := wire.Values{Count: len(values)}
		for _, b := range values {
			v.Raw = wire.AppendBytes(v.Raw, b)
		}
		q.Params.SetValues(v)
		if resp := c.do(wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, wire.V4, &q)}); resp.Op != wire.OpResult {
			e, _ := wire.ParseError(wire.V4, resp.Body)
			t.Fatalf("%s: %v", text, e)
		}
	}
	allocated := func(names int) uint64 {
		list := binary.BigEndian.AppendUint32(nil, uint32(names))
		for i := range names {
			list = wire.AppendBytes(list, fmt.Appendf(nil, "no_such_keyspace_%d", i))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ask("SELECT * FROM system_schema.columns WHERE keyspace_name IN ?", list)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(10)
	one, four := allocated(1000), allocated(4000)
	if each := (four - one) / 3000; four > one && each > 2000 {
		t.Errorf("%d bytes are allocated for each keyspace that is named", each)
	}
}

// TestBatchesThatAreTooLarge has batches write to the product of two lists, within the
// bound of a mutation. That they are larger than a batch may be is found without looking
// at all of it.
func TestBatchesThatAreTooLarge(t *testing.T) {
	c := newLocal(t, openMemory(t), wire.V4)
	for _, text := range []string{
		"CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE ks.t (p int, c int, d int, v int, l list<int>, PRIMARY KEY (p, c, d))",
	} {
		if resp := c.do(ask(text)); resp.Op != wire.OpResult {
			t.Fatal(resp.Op)
		}
	}
	list := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ", %d", i)
		}
		return b.String()[2:]
	}
	for _, text := range []string{
		"DELETE FROM ks.t WHERE p IN (0, 1) AND c IN (LIST)",
		"DELETE FROM ks.t WHERE p IN (LIST) AND c IN (LIST)",
		"DELETE FROM ks.t WHERE p IN (LIST) AND c IN (LIST) AND d > 3",
		"DELETE FROM ks.t WHERE p IN (LIST) AND c IN (LIST) AND d IN (1, 2)",
		"UPDATE ks.t SET v = 1 WHERE p IN (LIST) AND c IN (LIST) AND d = 1",
		"UPDATE ks.t SET l = l + [LIST] WHERE p IN (0, 1) AND c IN (LIST) AND d = 1",
	} {
		parts := func(n int) int {
			t.Helper()
			text := "BEGIN BATCH " + strings.ReplaceAll(text, "LIST", list(n)) + "; APPLY BATCH"
			resp := c.do(ask(text))
			if e, err := wire.ParseError(wire.V4, resp.Body); err != nil || e.Message != "Batch too large" {
				t.Fatalf("%.80s of %d: %s %v %v", text, n, resp.Op, e, err)
			}
			p, err := newPlan(c.e.state.Load(), text, "")
			if err != nil {
				t.Fatal(err)
			}
			bound, err := p.batch.Bind(&eval.Env{})
			if err != nil {
				t.Fatal(err)
			}
			w := writing{}
			for i, b := range bound.Writes {
				w.writes = append(w.writes, boundWrite{b, p.batch.writes[i]})
			}
			return len(w.parts().size)
		}
		n := 100
		if strings.Count(text, "LIST") == 1 {
			n = 1600
		}
		// A part has 16 bytes at least that are certain, of rows with their cells.
		if once, twice := parts(n), parts(2*n); once > longBatch/8 || twice > longBatch/8 {
			t.Errorf("%s: %d parts were looked at, and %d where lists are twice as long", text, once, twice)
		}
	}
}
