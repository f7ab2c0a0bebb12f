// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
)

// TestAllocations keeps the budget of point operations: none.
func TestAllocations(t *testing.T) {
	c := benchEngine(t, storage.Options{Periodic: true})
	write := executeBodies(prepareOn(t, c, "INSERT INTO k.t (p, v) VALUES (?, ?)"), 1, []byte("value"))[0]
	read := executeBodies(prepareOn(t, c, "SELECT v FROM k.t WHERE p = ?"), 1)[0]
	s := &sink{t: t}
	l := c.link.(store.Forwarder)
	for _, test := range []struct {
		name string
		body []byte
	}{{"write", write}, {"read", read}} {
		n := allocs.PerRun(200, func() {
			s.left.Add(1)
			l.Forward(context.Background(), wire.Message{Op: wire.OpExecute, Body: test.body}, s, 0)
			l.Flush()
			s.left.Wait()
		})
		if n > allocationBudget {
			t.Errorf("%s: %.1f allocations", test.name, n)
		}
	}
}
