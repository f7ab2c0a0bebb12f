// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestLongResults reads results that are longer than a message may be. With paging, the engine
// sends more pages. Without paging, it refuses the read.
func TestLongResults(t *testing.T) {
	const rows = 60
	c := newCrowd(t, 0)
	c.e.longest = 2000
	for i := range rows {
		c.must(fmt.Sprintf("INSERT INTO ks.t (k, c, v) VALUES (%d, %d, '%s')", i%2, i, strings.Repeat("x", 100)))
	}
	for text, want := range map[string]int{
		"SELECT c, v FROM ks.t":                        rows,
		"SELECT c, v FROM ks.t LIMIT 40":               40,
		"SELECT c, v FROM ks.t WHERE k = 1":            rows / 2,
		"SELECT c, v FROM ks.t WHERE k IN (1, 0)":      rows,
		"SELECT JSON c, v FROM ks.t WHERE k IN (0, 1)": rows,
	} {
		got, pages := 0, 0
		q := wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.One}}
		q.Params.SetPageSize(50)
		for {
			resp := c.do(wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, wire.V4, &q)})
			r, err := wire.ParseRows(resp.Body)
			if err != nil || len(r.Raw) > c.e.longest {
				t.Fatalf("%s: %s with %d bytes, %v", text, resp.Op, len(r.Raw), err)
			}
			got += r.Count
			if pages++; r.Metadata.PagingState == nil {
				break
			}
			q.Params.SetPagingState(r.Metadata.PagingState)
		}
		if got != want || pages < 2 {
			t.Errorf("%s: %d rows in %d pages", text, got, pages)
		}
		resp := c.do(ask(text))
		if e, err := wire.ParseError(wire.V4, resp.Body); resp.Op != wire.OpError || err != nil || !strings.Contains(e.Message, "read it in pages") {
			t.Errorf("%s, not in pages: %s", text, resp.Op)
		}
	}
	resp := c.do(ask("SELECT c, v FROM ks.t WHERE k IN (0, 1) ORDER BY c"))
	if resp.Op != wire.OpError {
		t.Errorf("sorted: %s", resp.Op)
	}
}
