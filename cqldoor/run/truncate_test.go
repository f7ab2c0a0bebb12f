// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/internal/difftest"
	"github.com/evenkeel/evenkeel/reshard"
)

// TestChangeOvertakesATruncate lets a door stop while it empties a sharded table. Another door copies the rows to a
// second table meanwhile. When the first door goes on, it empties the first table, and does not acknowledge that:
// the second table has all rows.
func TestChangeOvertakesATruncate(t *testing.T) {
	st := embedded(t)
	hints := func(o *Options) { o.Hints = time.Hour } // the change stays at settled
	bed := &sleeper{Store: st}
	l := livedAt(t, st, session(t, serveDoor(t, st, startDoorWith(t, st, "a:1", hints)), 4))
	exec(t, l.doors[0], "CREATE TABLE lived.t (p int, c int, v text, n int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '2'}")
	exec(t, l.doors[0], "INSERT INTO lived.t (p, c, v) VALUES (1, 0, 'x')")
	c := dial(t, serveDoor(t, bed, startDoorWith(t, bed, "b:1", hints)), primitive.ProtocolVersion5)
	if a, err := c.Prepare("TRUNCATE lived.t"); err != nil || a.Kind != difftest.Error || !strings.Contains(a.Text, "cannot be prepared") {
		t.Errorf("TRUNCATE is prepared: %v %s", err, show(a))
	}
	wake := bed.sleep()
	var answered sync.WaitGroup
	answered.Go(func() {
		a, err := c.Query(difftest.Request{Query: "TRUNCATE lived.t"})
		if err != nil || a.Code != primitive.ErrorCodeWriteTimeout || !strings.Contains(a.Text, "while the TRUNCATE was under way") {
			t.Errorf("TRUNCATE is answered %v %s", err, show(a))
		}
	})
	time.Sleep(200 * time.Millisecond) // it is on the way
	exec(t, l.doors[0], "ALTER TABLE lived.t WITH write_sharding = {}")
	for deadline := time.Now().Add(patience); l.status().Phase != reshard.Settled.String(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the change does not come to settled: %+v", l.status())
		}
	}
	wake()
	answered.Wait()
	if got, err := rowsOf(l.doors[0], 10, "SELECT v FROM lived.t"); err != nil || joined(got) != "v=x" {
		t.Errorf("after the TRUNCATE that was not acknowledged: %v %v", got, err)
	}
}
