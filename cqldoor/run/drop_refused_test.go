// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/registry"
)

// TestDropRefused has a client that may not drop a table try to, again and again. No store has
// a statement that asks for this right and does nothing, so the table's entry says "dropping"
// in between. The table is used and its layout is changed meanwhile, at both of two doors,
// and nobody notices.
func TestDropRefused(t *testing.T) {
	st := &picky{Store: embedded(t), refuse: func(m wire.Message) *wire.Error {
		if m.Op == wire.OpQuery && bytes.Contains(m.Body, []byte("DROP TABLE")) {
			return &wire.Error{Code: wire.CodeUnauthorized, Message: "User ada has no DROP permission"}
		}
		return nil
	}}
	const lease = time.Second
	a := newSceneOf(t, st, startRouterOf(t, st, lease))
	b := serveDoor(t, st, startRouterOf(t, st, lease))
	table := a.keyspace + ".t"
	a.must(a.v5, "CREATE TABLE "+table+" (day date, c int, v int, PRIMARY KEY (day, c))"+shardedByFour)
	before, err := a.router.schema.Catalog.Entry(t.Context(), a.keyspace, "t")
	if err != nil {
		t.Fatal(err)
	}
	// repeat sends statements until the function that it returns is called.
	repeat := func(c *difftest.Conn, text func(i int) string, ok func(*difftest.Answer) bool) (end func()) {
		done := make(chan struct{})
		var user sync.WaitGroup
		user.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				answer, err := c.Query(difftest.Request{Query: text(i)})
				if err != nil {
					t.Errorf("%s: %v", text(i), err)
					return
				}
				if !ok(answer) {
					t.Errorf("%s: %s", text(i), show(answer))
					return
				}
			}
		})
		return sync.OnceFunc(func() { close(done); user.Wait() })
	}
	refusals := func(n int64) {
		for n += st.refused.Load(); st.refused.Load() < n && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
	dropper := repeat(dial(t, b, primitive.ProtocolVersion4), func(int) string { return "DROP TABLE " + table },
		func(a *difftest.Answer) bool {
			return a.Kind == difftest.Error && strings.Contains(a.Text, "no DROP permission")
		})
	defer dropper()
	var end []func()
	for _, c := range []*difftest.Conn{a.v4, dial(t, b, primitive.ProtocolVersion5)} {
		end = append(end, repeat(c, func(i int) string {
			if i%2 == 0 {
				return fmt.Sprintf("INSERT INTO %s (day, c, v) VALUES ('2020-07-09', %d, 1)", table, i%50)
			}
			return "SELECT c, v FROM " + table + " WHERE day = '2020-07-09'"
		}, func(a *difftest.Answer) bool { return a.Kind != difftest.Error }))
	}
	refusals(10)
	for _, end := range end {
		end()
	}
	for i := range 5 {
		a.must(a.v5, fmt.Sprintf("ALTER TABLE %s WITH write_sharding = {'shards': '%d', 'from': '%d-01-01'}", table, 5+i, 2200+i))
		refusals(2)
	}
	dropper()
	after, err := a.router.schema.Catalog.Entry(t.Context(), a.keyspace, "t")
	if err != nil || after == nil || after.State != registry.Active || after.ID != before.ID || len(after.Layout.Epochs) != 5 || !reflect.DeepEqual(after.Layout.By, before.Layout.By) {
		t.Errorf("the entry is %+v, %v", after, err)
		t.Log(after.State, after.Layout)
	}
}
