// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/result"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestPagingState takes a paging state to places where it does not belong.
func TestPagingState(t *testing.T) {
	e := openMemory(t)
	c := newLocal(t, e, wire.V4)
	must(t, c, simpleKeyspace, "CREATE TABLE k.t (p int, c int, PRIMARY KEY (p, c))")
	for i := range 9 {
		must(t, c, fmt.Sprintf("INSERT INTO k.t (p, c) VALUES (%d, %d)", i%3, i))
	}
	const stmt = "SELECT * FROM k.t"
	ask := func(c *local, text string, state []byte) (string, []byte) {
		var b strings.Builder
		_, next := printResponse(t, &b, c, wire.V4, c.do(wire.Message{Op: wire.OpQuery, Body: queryBody(wire.V4, text, 2, state)}), true)
		return b.String(), next
	}
	_, state := ask(c, stmt, nil)
	if len(state) == 0 || len(state) > 32 {
		t.Fatalf("a state of %d bytes", len(state))
	}
	if got, _ := ask(c, stmt, state); strings.HasPrefix(got, "error") {
		t.Errorf("the state itself: %s", got)
	}
	const refused = "error 000a: Invalid value for the paging state"
	for i := range state {
		bad := bytes.Clone(state)
		bad[i] ^= 1
		if got, _ := ask(c, stmt, bad); !strings.HasPrefix(got, refused) {
			t.Errorf("byte %d changed: %s", i, got)
		}
	}
	for _, bad := range [][]byte{{}, {1}, state[:len(state)-1], append(bytes.Clone(state), 0)} {
		if got, _ := ask(c, stmt, bad); !strings.HasPrefix(got, refused) {
			t.Errorf("state %x: %s", bad, got)
		}
	}
	want, _ := ask(c, stmt, state)
	if got, _ := ask(c, "SELECT * FROM k.t WHERE c >= 0 ALLOW FILTERING", state); got != want {
		t.Errorf("another statement on the table: %s, want %s", got, want)
	}
	must(t, c, "CREATE TABLE k.u (p int, c int, PRIMARY KEY (p, c))")
	for _, other := range []string{"SELECT * FROM k.u", "SELECT * FROM k.t WHERE p = 77", "SELECT count(*) FROM k.t", "DESCRIBE TABLES"} {
		if got, _ := ask(c, other, state); !strings.Contains(got, refused) {
			t.Errorf("%s: %s", other, got)
		}
	}
	if got, _ := ask(newLocal(t, openMemory(t), wire.V4), "SELECT * FROM system_schema.columns", state); !strings.HasPrefix(got, refused) {
		t.Errorf("another engine: %s", got)
	}
}

func FuzzPosition(f *testing.F) {
	p := position{inside: true, left: 7, inPartition: result.Unbound, key: []byte("key"), after: [][]byte{[]byte("a"), {}}}
	f.Add(p.append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parsePosition(b, 2)
		if err != nil {
			return
		}
		q, err := parsePosition(p.append(nil), 2)
		if err != nil || !bytes.Equal(q.key, p.key) || q.left != p.left || q.inPartition != p.inPartition || len(q.after) != len(p.after) {
			t.Errorf("%+v became %+v (%v)", p, q, err)
		}
	})
}
