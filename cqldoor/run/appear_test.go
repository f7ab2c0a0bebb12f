// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// TestAppears uses tables at one door from before another creates them, sharded, sharded again
// and then plain: a statement is carried out, or there is no such table, and nothing in between.
func TestAppears(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		const lease = time.Second // a loaded machine holds a door up for longer than a tenth of it
		a := newSceneOf(t, st, startRouterOf(t, st, lease))
		b := serveDoor(t, st, startRouterOf(t, st, lease))
		const columns = " (k int, c int, PRIMARY KEY (k, c))"
		for n := range 2 {
			table := fmt.Sprintf("%s.t%d", a.keyspace, n)
			done := make(chan struct{})
			var users sync.WaitGroup
			for _, v := range []primitive.ProtocolVersion{primitive.ProtocolVersion4, primitive.ProtocolVersion5} {
				for _, text := range []string{"INSERT INTO " + table + " (k, c) VALUES (1, 1)", "SELECT * FROM " + table + " WHERE k = 1", "PREPARE"} {
					conn := dial(t, b, v)
					users.Go(func() {
						for i := 0; ; i++ {
							select {
							case <-done:
								return
							default:
							}
							var answer *difftest.Answer
							var err error
							if text == "PREPARE" { // each time another text
								answer, err = conn.Prepare(fmt.Sprintf("INSERT INTO %s (k, c) VALUES (%d, ?)", table, i))
							} else {
								answer, err = conn.Query(difftest.Request{Query: text})
							}
							if err != nil {
								t.Error(err)
								return
							}
							// The second is what Cassandra says of a table that is dropped meanwhile, the third
							// what a door says of a write that was under way then.
							may := []string{"does not exist", "Unknown CF", "it may have been applied"}
							if answer.Kind == difftest.Error && !slices.ContainsFunc(may, func(text string) bool { return strings.Contains(answer.Text, text) }) {
								t.Errorf("%s: %s", text, show(answer))
								return
							}
						}
					})
				}
			}
			for _, ddl := range []string{"CREATE TABLE " + table + columns + shardedByFour, "DROP TABLE " + table, "CREATE TABLE " + table + columns + shardedByFour, "DROP TABLE " + table, "CREATE TABLE " + table + columns} {
				a.must(a.v5, ddl)
			}
			close(done)
			users.Wait()
			if t.Failed() {
				return
			}
		}
	})
}
