// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// Prepared statements that nobody executes any more, on tables that are dropped or changed, must
// not keep earlier states of the schema in memory.
func TestStatesAreNotKept(t *testing.T) {
	st := embedded(t)
	s := newScene(t, st)
	c := plainClient(t, serveDoor(t, st, s.router))
	execute := func(text string) {
		c.call(wire.OpQuery, wire.AppendQuery(nil, wire.V4, &wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.One}}))
	}
	var states []weak.Pointer[tables.State]
	note := func() { states = append(states, weak.Make(s.router.state.Load())) }
	for i := range 10 {
		table := fmt.Sprintf("%s.kept%d", s.keyspace, i)
		execute("CREATE TABLE " + table + " (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '3'}")
		note()
		for _, text := range []string{"SELECT v FROM " + table + " WHERE p = ?", "INSERT INTO " + table + " (p, c, v) VALUES (?, ?, ?)"} {
			c.call(wire.OpPrepare, wire.AppendPrepare(nil, wire.V4, &wire.Prepare{Text: []byte(text)}))
		}
		execute("SELECT v FROM " + table + " WHERE p = 1")
		execute("ALTER TABLE " + table + " ADD w int")
		note()
		execute("DROP TABLE " + table)
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
	if kept > 3 {
		t.Errorf("%d of %d states of the schema are kept", kept, len(states))
	}
}
