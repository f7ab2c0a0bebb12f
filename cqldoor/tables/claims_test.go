// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// TestClaimsOfTwoChanges begins a change of a plain table, takes it back, and begins another while
// statements that were forwarded before the first are still under way. The wait for these does not
// vouch for statements that were forwarded between the two changes.
func TestClaimsOfTwoChanges(t *testing.T) {
	for name, second := range map[string]int64{"later": 2, "announced at the same time": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				waits := make(chan chan error, 10) // one for each call of passed
				c := newClaims(func(context.Context) error {
					done := make(chan error)
					waits <- done
					return <-done
				})
				run := func(f func()) { go f() }
				under := func(started int64) *plan.Table {
					table := &schema.Table{Keyspace: "ks", Name: "t", ID: [16]byte{7}}
					t, err := plan.NewTable(table, shard.Plain())
					if err != nil {
						panic(err)
					}
					t.Change = &plan.Change{Change: reshard.Change{Started: started}}
					return t
				}
				first, next := under(1), under(second)
				c.Await(t.Context(), first, run)
				of := <-waits
				c.Await(t.Context(), first, run) // it waits only once
				c.keep(NewState())               // the change was taken back: doors forward the table's statements again
				c.Await(t.Context(), next, run)
				ofNext := <-waits
				of <- nil
				synctest.Wait()
				if c.Have(next) {
					t.Error("the wait of the first change vouches for the second")
				}
				ofNext <- context.DeadlineExceeded
				synctest.Wait()
				if c.Have(next) {
					t.Error("a wait that failed vouches for the change")
				}
				c.Await(t.Context(), next, run) // it waits again
				of = <-waits
				of <- nil
				synctest.Wait()
				if !c.Have(next) {
					t.Error("a wait that has ended does not vouch for its change")
				}
				if len(waits) > 0 {
					t.Error("there were more waits than changes")
				}
			})
		})
	}
}
