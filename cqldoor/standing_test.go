// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// stand is a Standing whose terms the test begins.
type stand struct {
	term     atomic.Uint32
	reviewed atomic.Int32
	refuses  bool // Review returns an error
}

func (s *stand) Term() uint32 { return s.term.Load() }

func (s *stand) Stands(term uint32, _ *wire.Arrival) bool {
	return s.term.Load()&cqldoor.TermMask == term
}

func (s *stand) Review(_ context.Context, term uint32, _ wire.Message) error {
	s.reviewed.Add(1)
	if s.refuses {
		return wire.Errorf(wire.CodeWriteTimeout, "nobody knows about term %d", term)
	}
	return nil
}

// TestForwardedAnswersStand forwards requests. A new term begins before the store answers. The door must
// then review the answers. It must not review answers from the store's own tables.
func TestForwardedAnswersStand(t *testing.T) {
	for _, v := range []wire.Version{wire.V4, wire.V5} {
		for _, c := range []struct {
			name    string
			op      wire.Op
			body    []byte
			ends    bool // the term ends while the request is under way
			refuses bool
			system  bool
		}{
			{name: "QUERY", op: wire.OpQuery, body: query(v, "INSERT INTO theirs")},
			{name: "QUERY in another term", op: wire.OpQuery, body: query(v, "INSERT INTO theirs"), ends: true},
			{name: "refused QUERY", op: wire.OpQuery, body: query(v, "INSERT INTO theirs"), ends: true, refuses: true},
			{name: "refused EXECUTE", op: wire.OpExecute, body: execute(v, "theirs7890abcdef"), ends: true, refuses: true},
			{name: "refused BATCH", op: wire.OpBatch, body: batch(v, wire.BatchStatement{Text: []byte("INSERT INTO theirs")}), ends: true, refuses: true},
			{name: "of the store's tables", op: wire.OpQuery, body: query(v, "SELECT x FROM system_schema.keyspaces"), ends: true, refuses: true, system: true},
		} {
			s := &stand{refuses: c.refuses}
			s.term.Store(cqldoor.TermMask) // the next one has other low bits
			m := &memory{answer: func(*memoryLink, wire.Message) (wire.Message, bool) {
				if c.ends {
					s.term.Add(1)
				}
				return void, false
			}}
			router := &picky{standing: s, serve: func(_ context.Context, r *cqldoor.Request) { t.Error("claimed") }}
			d, addr := door(t, m, cqldoor.Options{Router: router})
			client := connect(t, addr, v)
			for n := range int32(3) { // the same stream again
				client.send(1, c.op, 0, c.body)
				h, answer := client.next()
				if c.refuses && !c.system {
					asError(t, v, h, answer, wire.CodeWriteTimeout)
				} else if h.Op != wire.OpResult {
					t.Errorf("v%d %s: %s", v, c.name, h.Op)
				}
				want := int32(0)
				if c.ends && !c.system {
					want = n + 1
				}
				if got := s.reviewed.Load(); got != want {
					t.Errorf("v%d %s: reviewed %d times, not %d", v, c.name, got, want)
				}
				eventually(t, "it has ended", func() bool { return d.Stats().InFlight == 0 })
			}
		}
	}
}
