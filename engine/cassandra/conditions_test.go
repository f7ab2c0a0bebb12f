// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestManyConditionsOnOneRow has many statements of a batch, and many conditions of a statement,
// test elements of one long collection. Twice as many conditions on a collection that is twice as
// long allocate about twice as much.
func TestManyConditionsOnOneRow(t *testing.T) {
	c := newCrowd(t, 0)
	c.must("CREATE TABLE ks.m (p int, c int, v int, m map<int, int>, l list<int>, s map<int, int> static, PRIMARY KEY (p, c))")
	for name, text := range map[string]func(n int) string{
		"one row":           batchOf("UPDATE ks.m SET v = 1 WHERE p = @ AND c = 1 IF m[$] = $"),
		"elements of lists": batchOf("UPDATE ks.m SET v = 1 WHERE p = @ AND c = 1 IF l[$] = $"),
		"the static row":    batchOf("UPDATE ks.m SET v = 1 WHERE p = @ AND c = $ IF s[$] = $"),
		"not applied":       batchOf("UPDATE ks.m SET v = 1 WHERE p = @ AND c = 1 IF s[$] = $ AND m[$] = -1"),
		"one statement": func(n int) string {
			return "UPDATE ks.m SET v = 1 WHERE p = @ AND c = 1 IF " + numbered(n, "m[$] = $ AND l[$] = $ AND s[$] = $", " AND ")
		},
	} {
		t.Run(name, func(t *testing.T) {
			allocated := func(n int) uint64 {
				c.must(fmt.Sprintf("UPDATE ks.m SET s = {%[1]s}, m = {%[1]s}, l = [%[2]s] WHERE p = %[3]d AND c = 1",
					numbered(n, "$: $", ", "), numbered(n, "$", ", "), n))
				return c.allocates(strings.ReplaceAll(text(n), "@", fmt.Sprint(n)))
			}
			allocated(100)
			if one, two := allocated(500), allocated(1000); two > 3*one {
				t.Errorf("%d KiB for 500 conditions on 500 elements, %d KiB for 1000 on 1000", one>>10, two>>10)
			}
		})
	}
}

// TestConditionsAnswerIsBounded has a batch name many rows that each report the same long static
// column.
func TestConditionsAnswerIsBounded(t *testing.T) {
	c := newCrowd(t, 0)
	c.e.longest = 64 << 10
	c.must("CREATE TABLE ks.s (p int, c int, v int, s text static, PRIMARY KEY (p, c))")
	c.must("INSERT INTO ks.s (p, s) VALUES (1, '" + strings.Repeat("x", 10<<10) + "')")
	batch := func(n int) wire.Message {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "UPDATE ks.s SET v = 1 WHERE p = 1 AND c = %d IF v = 1 AND s = ''; ", i)
		}
		return c.do(ask("BEGIN BATCH " + b.String() + "APPLY BATCH"))
	}
	if resp := batch(4); resp.Op != wire.OpResult {
		t.Errorf("4 rows: %s", resp.Op)
	}
	resp := batch(10)
	if e, err := wire.ParseError(wire.V4, resp.Body); resp.Op != wire.OpError || err != nil || !strings.Contains(e.Message, "the result is longer") {
		t.Errorf("10 rows: %s", resp.Op)
	}
}
