// SPDX-License-Identifier: Apache-2.0

package cqldoor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
)

// TestUnpreparedNamesTheClientsID answers EXECUTEs, the router's and others', with
// an UNPREPARED of the backend's: the client must hear of its own id.
func TestUnpreparedNamesTheClientsID(t *testing.T) {
	const theirs, other = "backend890abcdef", "0123456789abcdef"
	for _, v := range []wire.Version{wire.V4, wire.V5} {
		p := &picky{serve: func(_ context.Context, r *cqldoor.Request) {
			r.Pass(wire.Message{Op: wire.OpExecute, Body: execute(r.Version, theirs)})
		}}
		m := &memory{answer: func(l *memoryLink, req wire.Message) (wire.Message, bool) {
			id, err := wire.ExecuteID(req.Body)
			if err != nil {
				t.Error(err)
			}
			e := wire.Error{Code: wire.CodeUnprepared, ID: id, Message: fmt.Sprintf("Prepared query with ID %x not found", id)}
			return wire.Message{Op: wire.OpError, Flags: wire.FlagWarning,
				Body: e.Append(wire.AppendStringList(nil, []string{"a warning"}), l.o.Version)}, false
		}}
		_, addr := door(t, m, cqldoor.Options{Router: p})
		c := connect(t, addr, v)
		// One stream after the other, the same stream for both kinds.
		for _, stream := range []int16{1, 1, 600, 32767, 1} {
			for _, id := range []string{"mine456789abcdef", other, "mine00000000000b"} {
				c.send(stream, wire.OpExecute, 0, execute(v, id))
				h, body := c.next()
				prefix, rest, err := wire.SplitPrefix(h.Op, h.Flags, body)
				if err != nil {
					t.Fatal(err)
				}
				e := asError(t, v, h, rest, wire.CodeUnprepared)
				if string(e.ID) != id || !strings.Contains(e.Message, fmt.Sprintf("%x", id)) {
					t.Errorf("v%d: UNPREPARED of %q, want %q: %s", v, e.ID, id, e.Message)
				}
				if w := prefix.WarningList(); h.Stream != stream || len(w) != 1 {
					t.Errorf("stream %d, warnings %q", h.Stream, w)
				}
			}
		}
	}
}
