// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// longNames returns a client of a table ks.w whose column v has a type with a name of 50,000 bytes.
func longNames(t *testing.T) *crowd {
	c := newCrowd(t, 0)
	c.must(`CREATE TYPE ks.long ("` + strings.Repeat("x", 50_000) + `" int)`)
	c.must("CREATE TABLE ks.w (p int, c frozen<long>, v frozen<long>, s tuple<vector<frozen<long>, 2>>, PRIMARY KEY (p, c))")
	return c
}

// TestLongDescriptions names a type with a long name again and again, in columns of results and in markers.
// The description in the response is bounded.
func TestLongDescriptions(t *testing.T) {
	c := longNames(t)
	many := func(text string, n int) string { return strings.TrimPrefix(strings.Repeat(", "+text, n), ", ") }
	for _, s := range []struct {
		text    string
		refused bool
	}{
		{"SELECT " + many("v", 100) + " FROM ks.w", false},
		{"SELECT " + many("v", 400) + " FROM ks.w", true},
		{"SELECT " + many("s", 200) + " FROM ks.w", true},
		{"SELECT JSON " + many("v", 400) + " FROM ks.w", false},
		{"SELECT p FROM ks.w WHERE p = 1 AND c IN (" + many("?", 100) + ")", false},
		{"SELECT p FROM ks.w WHERE p = 1 AND c IN (" + many("?", 400) + ")", true},
		{"BEGIN BATCH " + strings.Repeat("INSERT INTO ks.w (p, c) VALUES (1, ?);", 400) + " APPLY BATCH", true},
	} {
		resp := c.do(wire.Message{Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, wire.V4, &wire.Prepare{Text: []byte(s.text)})})
		if len(resp.Body) > 17<<20 {
			t.Errorf("%.60s: an answer of %d bytes", s.text, len(resp.Body))
		}
		if refused := resp.Op == wire.OpError; refused != s.refused || refused && !strings.Contains(string(resp.Body), "name fewer columns") {
			t.Errorf("%.60s: %.200q", s.text, resp.Body)
		}
	}
}

// TestKeptDescriptions prepares statements with descriptions of 2 MB. The cache of plans keeps a bounded
// number of them.
func TestKeptDescriptions(t *testing.T) {
	c := longNames(t)
	for i := range 60 {
		text := fmt.Sprintf("SELECT p AS a%d%s FROM ks.w", i, strings.Repeat(", v", 40))
		if resp := c.do(wire.Message{Op: wire.OpPrepare, Body: wire.AppendPrepare(nil, wire.V4, &wire.Prepare{Text: []byte(text)})}); resp.Op != wire.OpResult {
			t.Fatalf("%.200q", resp.Body)
		}
	}
	kept := 0
	for _, p := range c.e.plans.all {
		if plan := p.plan.Load(); plan != nil {
			kept += len(plan.sel.metadata(wire.V4).Specs)
		}
	}
	if most := mostLongTexts * timesAsLong; kept < most/2 || kept > most+(4<<20) {
		t.Errorf("%d bytes of descriptions are kept", kept)
	}
}
