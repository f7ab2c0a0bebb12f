// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"sync"
)

// Tally counts, for each target, the accepted statements of each class. It reveals a class that is
// refused everywhere, or that no script has any more.
type Tally struct {
	mu     sync.Mutex
	counts map[string]map[string]int // target → class → statements
}

// class is a class of statements, with the number of them that a whole run of the scripts must have
// accepted on every target.
type class struct {
	name  string
	re    *regexp.Regexp
	floor int
	share float64 // the same for each drawn history; 0: histories have none. Deal in turn
	// those classes that chance would leave below it once in 10^9 runs.
}

func classOf(name, re string, floor int, share float64) class {
	return class{name, regexp.MustCompile(`(?is)` + re), floor, share}
}

// classes lists the classes. A statement belongs to every class whose pattern it matches.
var classes = []class{
	classOf("create table", `^\s*CREATE TABLE`, 20, 0.9),
	classOf("alter table", `^\s*ALTER TABLE`, 5, 0),
	classOf("drop table", `^\s*DROP TABLE`, 2, 0),
	classOf("truncate", `^\s*TRUNCATE`, 2, 0),
	classOf("insert", `^\s*INSERT`, 100, 0.8),
	classOf("insert json", `^\s*INSERT.*\bJSON\b`, 3, 0),
	classOf("update", `^\s*UPDATE`, 30, 0.4),
	classOf("delete", `^\s*DELETE`, 20, 0.2),
	classOf("batch", `^\s*BEGIN`, 5, 0.2),
	classOf("conditional", `^\s*(INSERT|UPDATE|DELETE).*\bIF\b`, 15, 0.04),
	classOf("with timestamp", `\bUSING TIMESTAMP|AND TIMESTAMP\b`, 20, 0.4),
	classOf("with ttl", `^\s*(INSERT|UPDATE).*\bTTL\b`, 8, 0.04),
	classOf("select", `^\s*SELECT`, 200, 1.2),
	classOf("order by", `^\s*SELECT.*ORDER BY`, 20, 0.2),
	classOf("limit", `^\s*SELECT.*\bLIMIT\b`, 15, 0.2),
	classOf("in", `^\s*SELECT.*WHERE.*\bIN\b`, 20, 0.12),
	classOf("tuple relation", `^\s*SELECT.*WHERE.*\(\w+\s*,[^)]*\)\s*(=|<|>|IN)`, 10, 0.08),
	classOf("aggregate", `^\s*SELECT.*\b(count|min|max|sum|avg)\s*\(`, 15, 0.2),
	classOf("group by", `^\s*SELECT.*GROUP BY`, 5, 0.04),
	classOf("distinct", `^\s*SELECT\s+DISTINCT`, 3, 0.04),
	classOf("json", `^\s*SELECT\s+JSON`, 3, 0.08),
	classOf("token", `\btoken\s*\(`, 5, 0),
	classOf("filtering", `ALLOW FILTERING`, 5, 0.04),
	classOf("writetime, ttl()", `\b(writetime|ttl)\s*\(`, 8, 0.08),
}

func (t *Tally) count(target, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts = map[string]map[string]int{}
	}
	if t.counts[target] == nil {
		t.counts[target] = map[string]int{}
	}
	for _, c := range classes {
		if c.re.MatchString(text) {
			t.counts[target][c.name]++
		}
	}
}

// Below returns the classes of which the target has accepted too few statements.
func (t *Tally) Below(target string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, c := range classes {
		if n := t.counts[target][c.name]; n < c.floor {
			out = append(out, fmt.Sprintf("%s: %d of at least %d", c.name, n, c.floor))
		}
	}
	return out
}

// BelowShare returns the classes of which the target has accepted too few statements in a number of
// drawn histories.
func (t *Tally) BelowShare(target string, histories int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, c := range classes {
		if n, floor := t.counts[target][c.name], int(c.share*float64(histories)); n < floor {
			out = append(out, fmt.Sprintf("%s: %d of at least %d", c.name, n, floor))
		}
	}
	return out
}

// String lists the counts.
func (t *Tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var names []string
	for name := range t.counts {
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s:", name)
		for _, c := range classes {
			fmt.Fprintf(&b, " %s %d;", c.name, t.counts[name][c.name])
		}
		b.WriteString("\n")
	}
	return b.String()
}
