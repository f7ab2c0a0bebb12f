// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestManyConditionsOnOneRow has many statements of a batch, and many conditions of a statement,
// test elements of one long collection. Twice as many conditions on a collection that is twice as
// long allocate about twice as much.
func TestManyConditionsOnOneRow(t *testing.T) {
	c := newLocal(t, openMemory(t), wire.V4)
	must := func(text string) {
		t.Helper()
		if resp := c.do(ask(text)); resp.Op != wire.OpResult {
			e, _ := wire.ParseError(wire.V4, resp.Body)
			t.Fatalf("%.100s: %v", text, e)
		}
	}
	must("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	must("CREATE TABLE ks.t (p int, c int, v int, m map<int, int>, l list<int>, s map<int, int> static, PRIMARY KEY (p, c))")
	joined := func(n int, each, sep string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strings.ReplaceAll(each, "$", fmt.Sprint(i))
		}
		return strings.Join(all, sep)
	}
	batch := func(each string) func(n int) string {
		return func(n int) string { return "BEGIN BATCH " + joined(n, each, "; ") + "; APPLY BATCH" }
	}
	for name, text := range map[string]func(n int) string{
		"one row":           batch("UPDATE ks.t SET v = 1 WHERE p = @ AND c = 1 IF m[$] = $"),
		"elements of lists": batch("UPDATE ks.t SET v = 1 WHERE p = @ AND c = 1 IF l[$] = $"),
		"the static row":    batch("UPDATE ks.t SET v = 1 WHERE p = @ AND c = $ IF s[$] = $"),
		"not applied":       batch("UPDATE ks.t SET v = 1 WHERE p = @ AND c = 1 IF s[$] = $ AND m[$] = -1"),
		"one statement": func(n int) string {
			return "UPDATE ks.t SET v = 1 WHERE p = @ AND c = 1 IF " + joined(n, "m[$] = $ AND l[$] = $ AND s[$] = $", " AND ")
		},
	} {
		t.Run(name, func(t *testing.T) {
			allocated := func(n int) uint64 {
				must(fmt.Sprintf("UPDATE ks.t SET s = {%[1]s}, m = {%[1]s}, l = [%[2]s] WHERE p = %[3]d AND c = 1",
					joined(n, "$: $", ", "), joined(n, "$", ", "), n))
				text := strings.ReplaceAll(text(n), "@", fmt.Sprint(n))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				must(text)
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
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
