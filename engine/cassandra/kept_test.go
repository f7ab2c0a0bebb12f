// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// Prepared statements that nobody executes any more, on tables that are dropped or changed, must
// not keep earlier states of the schema in memory.
func TestStatesAreNotKept(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V4)
	must := func(op wire.Op, text string) {
		t.Helper()
		body := wire.AppendPrepare(nil, wire.V4, &wire.Prepare{Text: []byte(text)})
		if op == wire.OpQuery {
			body = wire.AppendQuery(nil, wire.V4, &wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.One}})
		}
		if resp := c.do(wire.Message{Op: op, Body: body}); resp.Op != wire.OpResult {
			e, _ := wire.ParseError(wire.V4, resp.Body)
			t.Fatalf("%s: %v", text, e)
		}
	}
	must(wire.OpQuery, "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	var states []weak.Pointer[state]
	note := func() { states = append(states, weak.Make(e.state.Load())) }
	const tables = 20
	for i := range tables {
		must(wire.OpQuery, fmt.Sprintf("CREATE TABLE ks.t%d (p int, c int, v int, s int static, PRIMARY KEY (p, c))", i))
		note()
		must(wire.OpPrepare, fmt.Sprintf("SELECT v FROM ks.t%d WHERE p = ?", i))
		must(wire.OpPrepare, fmt.Sprintf("INSERT INTO ks.t%d (p, c, v) VALUES (?, ?, ?)", i))
		must(wire.OpQuery, fmt.Sprintf("ALTER TABLE ks.t%d ADD w int", i))
		note()
		must(wire.OpQuery, fmt.Sprintf("DROP TABLE ks.t%d", i))
		note()
	}
	for range 3 {
		runtime.GC() // what pools keep goes with the second
	}
	kept := 0
	for _, s := range states {
		if s.Value() != nil {
			kept++
		}
	}
	if kept > 2 {
		t.Errorf("%d of %d states of the schema are kept", kept, len(states))
	}
}
