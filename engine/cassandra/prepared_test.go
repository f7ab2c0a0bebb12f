// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
)

func prepareOn(t testing.TB, c *local, text string) wire.Prepared {
	t.Helper()
	resp := c.do(wire.Message{Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, c.v, &wire.Prepare{Text: []byte(text)})})
	if resp.Op == wire.OpError {
		e, err := wire.ParseError(c.v, resp.Body)
		t.Fatalf("prepare %s: %v %v", text, e, err)
	}
	p, err := wire.ParsePrepared(c.v, resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func executeBody(v wire.Version, p wire.Prepared, change func(*wire.Params), values ...[]byte) []byte {
	e := wire.Execute{ID: p.ID, MetadataID: p.MetadataID}
	e.Params.Consistency = wire.One
	var vs wire.Values
	for _, b := range values {
		vs.Raw = wire.AppendBytes(vs.Raw, b)
		vs.Count++
	}
	e.Params.SetValues(vs)
	if change != nil {
		change(&e.Params)
	}
	return wire.AppendExecute(nil, v, &e)
}

func execute(t testing.TB, c *local, p wire.Prepared, change func(*wire.Params), values ...[]byte) string {
	t.Helper()
	var b strings.Builder
	printResponse(t, &b, c, c.v, c.do(wire.Message{Op: wire.OpExecute, Body: executeBody(c.v, p, change, values...)}), false)
	return b.String()
}

func integerValue(n int) []byte { return wire.AppendInt(nil, int32(n)) }

const simpleKeyspace = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"

func TestPreparedID(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V5)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int PRIMARY KEY, v int)")
	full := "SELECT v FROM k.t WHERE p = ?"
	if p := prepareOn(t, c, full); !bytes.Equal(p.ID, sum(full)) {
		t.Errorf("qualified: %x", p.ID)
	}
	c.use("k")
	short := "SELECT v FROM t WHERE p = ?"
	if p := prepareOn(t, c, short); !bytes.Equal(p.ID, sum("k"+short)) {
		t.Errorf("with a keyspace: %x", p.ID)
	}
	if p := prepareOn(t, c, full); !bytes.Equal(p.ID, sum(full)) {
		t.Errorf("qualified, with a keyspace: %x", p.ID)
	}
}

// TestPreparedTruncate prepares a TRUNCATE with one keyspace in use, and executes it with another. It truncates the
// table of the keyspace that was in use when it was prepared.
func TestPreparedTruncate(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, strings.Replace(simpleKeyspace, "KEYSPACE k", "KEYSPACE other", 1))
	for _, table := range []string{"k.t", "other.t"} {
		must(t, c, "CREATE TABLE "+table+" (p int PRIMARY KEY)", "INSERT INTO "+table+" (p) VALUES (1)")
	}
	c.use("k")
	p := prepareOn(t, c, "TRUNCATE t")
	c.use("other")
	execute(t, c, p, nil)
	for table, want := range map[string]uint32{"k.t": 0, "other.t": 1} {
		rows, err := wire.ParseRows(c.do(ask("SELECT * FROM " + table)).Body)
		if err != nil || uint32(rows.Count) != want {
			t.Errorf("%s has %d rows, not %d: %v", table, rows.Count, want, err)
		}
	}
}

func sum(s string) []byte { h := md5.Sum([]byte(s)); return h[:] }

// TestReplan changes a table under a prepared SELECT *: the next result tells
// of the new columns although the client asks for none, then no more.
func TestReplan(t *testing.T) {
	for _, v := range []wire.Version{wire.V4, wire.V5} {
		e := openMemory(t)
		c := newLocal(t, e, v)
		must(t, newLocal(t, e, wire.V4), simpleKeyspace, "CREATE TABLE k.t (p int PRIMARY KEY, v int)", "INSERT INTO k.t (p, v) VALUES (1, 2)")
		p := prepareOn(t, c, "SELECT * FROM k.t WHERE p = ?")
		skip := func(q *wire.Params) { q.SetSkipMetadata(true) }
		ask := func() wire.Rows {
			resp := c.do(wire.Message{Op: wire.OpExecute, Body: executeBody(v, p, skip, integerValue(1))})
			rows, err := wire.ParseRows(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return rows
		}
		if rows := ask(); rows.Metadata.Flags&wire.MetadataNone == 0 || rows.Metadata.Count != 2 {
			t.Errorf("v%d before: %+v", v, rows.Metadata)
		}
		must(t, newLocal(t, e, wire.V4), "ALTER TABLE k.t ADD w int")
		rows := ask()
		if rows.Metadata.Flags&wire.MetadataNone != 0 || rows.Metadata.Count != 3 {
			t.Errorf("v%d after: %+v", v, rows.Metadata)
		}
		if v < wire.V5 {
			continue
		}
		if rows.Metadata.Flags&wire.MetadataNewID == 0 {
			t.Fatalf("v5: no new id")
		}
		p.MetadataID = rows.Metadata.NewID
		if rows := ask(); rows.Metadata.Flags&wire.MetadataNone == 0 || rows.Metadata.Count != 3 {
			t.Errorf("v5 once known: %+v", rows.Metadata)
		}
	}
}

// TestUnprepared asks for what was never prepared, was given up, or has lost its
// table.
func TestUnprepared(t *testing.T) {
	e := openMemory(t)
	e.plans = newPlanCache(4)
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int PRIMARY KEY, v int)")
	first := prepareOn(t, c, "SELECT * FROM k.t WHERE p = ?")
	if got := execute(t, c, first, nil, integerValue(1)); strings.HasPrefix(got, "error") {
		t.Fatal(got)
	}
	for i := range 20 {
		prepareOn(t, c, fmt.Sprintf("SELECT v FROM k.t WHERE p = %d", i))
	}
	if n := len(e.plans.all); n > 4 {
		t.Errorf("%d statements are kept", n)
	}
	if got := execute(t, c, first, nil, integerValue(1)); !strings.HasPrefix(got, "error 2500") {
		t.Errorf("given up: %s", got)
	}
	p := prepareOn(t, c, "SELECT * FROM k.t WHERE p = ?")
	must(t, c, "DROP TABLE k.t")
	if got := execute(t, c, p, nil, integerValue(1)); !strings.HasPrefix(got, "error 2500") {
		t.Errorf("dropped: %s", got)
	}
}

func TestWrongValues(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int, c int, v text, PRIMARY KEY (p, c))")
	insert := prepareOn(t, c, "INSERT INTO k.t (p, c, v) VALUES (?, ?, ?)")
	for _, test := range []struct {
		name   string
		values [][]byte
		want   string
	}{
		{"too few", [][]byte{integerValue(1)}, "error 2200: there were 3 markers(?) in CQL but 1 bound variables"},
		{"null key", [][]byte{nil, integerValue(1), []byte("x")}, "error 2200: Invalid null value in condition for column p"},
		{"short int", [][]byte{{1, 2}, integerValue(1), []byte("x")}, "error 2200: "},
		{"bad text", [][]byte{integerValue(1), integerValue(1), {0xff}}, "error 2200: "},
	} {
		if got := execute(t, c, insert, nil, test.values...); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s", test.name, got)
		}
	}
	if got := run(t, c, wire.V4, "SELECT count(*) FROM k.t", 0); !strings.Contains(got, "\n0\n") {
		t.Errorf("something was written: %s", got)
	}
}

// TestLongStatementsTakeLittle prepares long statements. A plan takes many times the length of its
// text, so few long plans are kept; a statement whose plan is not kept can still be executed.
func TestLongStatementsTakeLittle(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int PRIMARY KEY, v int)")
	var ids []wire.Prepared
	for i := range 20 {
		ids = append(ids, prepareOn(t, c, fmt.Sprintf("SELECT %s%d + v FROM k.t WHERE p = ?", strings.Repeat("v, ", 60_000), i)))
	}
	plans := func() (n int) {
		for _, p := range e.plans.all {
			if p.plan.Load() != nil {
				n++
			}
		}
		return n
	}
	if n := plans(); n != mostLongTexts/(180<<10) {
		t.Errorf("%d plans are kept", n)
	}
	for _, id := range ids[:2] {
		if got := execute(t, c, id, nil, integerValue(1)); strings.HasPrefix(got, "error") {
			t.Errorf("a statement whose plan was dropped: %.100s", got)
		}
	}
	if n := plans(); n > mostLongTexts/(180<<10) {
		t.Errorf("afterwards %d plans are kept", n)
	}
	if n := len(e.plans.all); n != 20 {
		t.Errorf("%d statements are kept", n)
	}
}

// TestPreparedTextsAreBounded keeps as many statements as their texts allow.
func TestPreparedTextsAreBounded(t *testing.T) {
	c := newPlanCache(1000)
	for i := range 200 {
		p := &prepared{id: [16]byte{byte(i)}, text: strings.Repeat("x", 1<<20)}
		p.plan.Store(&plan{})
		c.add(p)
		if c.texts > mostTexts || len(c.all) != min(i+1, mostTexts>>20) || c.get(p.id[:]) != p {
			t.Fatalf("%d statements of %d bytes", len(c.all), c.texts)
		}
	}
	for id := range c.all {
		c.forget(id)
	}
	if c.texts != 0 {
		t.Errorf("%d bytes of no statements", c.texts)
	}
}
