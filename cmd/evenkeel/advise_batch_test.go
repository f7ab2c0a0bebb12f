// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/internal/testkit/drawn"
	"github.com/evenkeel/evenkeel/workbench/advice"
)

// batches is how many batches were tried, fences how many of them have a condition, and behind how many write
// the further tables of such a one. sharedShards is how many sets have batches whose rows share a shard.
var batches, fences, behind, sharedShards int

// jobs is a set of jobs, most of one tenant.
func jobs(what, asked string) *drawn.Set {
	var rows [][]string
	for i := range 20_000 {
		tenant := fmt.Sprint("t", i*7919%401)
		if i%5 < 4 {
			tenant = "big"
		}
		rows = append(rows, []string{tenant, fmt.Sprintf("%x", uint64(i)*0x9e3779b97f4a7c15), fmt.Sprint("g", i%307), fmt.Sprint("o", i%17)})
	}
	return drawn.Given(what, "x.jobs", "cassandra", asked+"INSERT INTO x.jobs (tenant, job, grp, owner) VALUES (?, ?, ?, ?) -- 10/s\n", []string{"tenant", "job", "grp", "owner"}, rows)
}

// inBatches is a set whose rows are written by batches, with a further table.
func inBatches(what, begin, condition string) *drawn.Set {
	return jobs(what, begin+" UPDATE x.jobs SET owner = ? WHERE tenant = ? AND job = ?"+condition+"; INSERT INTO x.jobs (tenant, job, grp, owner) VALUES (?, ?, ?, ?); APPLY BATCH -- 900/s\n"+
		"SELECT * FROM x.jobs WHERE tenant = ? -- 300/s\nSELECT * FROM x.jobs WHERE grp = ? AND job = ? -- 300/s\n")
}

// inOneShard is a set in which the rows of a batch share a column that is not in the partition key, so that
// they share a shard.
func inOneShard() *drawn.Set {
	return jobs("a fence in one shard", "BEGIN BATCH UPDATE x.jobs SET owner = ? WHERE tenant = ? AND grp = :grp AND job = ? IF owner = ?; INSERT INTO x.jobs (tenant, job, grp, owner) VALUES (?, ?, :grp, ?); APPLY BATCH -- 5000/s\n"+
		"SELECT * FROM x.jobs WHERE tenant = ? -- 300/s\n")
}

// marker matches a marker of a statement.
var marker = regexp.MustCompile(`\?|:[a-z]+`)

// tryBatches sends the batches of a report for pairs of rows: one of tried, which is there and which the batch
// changes, and one that it inserts. If the batch has a condition, both are in one partition.
func tryBatches(t *testing.T, session *gocql.Session, s *drawn.Set, r *advice.Report, types map[string]*value.Type, tried [][]string, into func(string) string, stored func(table string, row []string) map[string]any) {
	conditional := strings.Contains(s.Queries, " IF ")
	columns := r.Verdict.PartitionKey
	if conditional && r.Verdict.Shards > 1 {
		sharedShards++
		columns = append(slices.Clone(columns), r.Verdict.By...)
	}
	key := func(row []string) (out []string) {
		for _, c := range columns {
			out = append(out, row[slices.Index(s.Names, c)])
		}
		return out
	}
	next, pairs := 0, 0
	for n, row := range tried {
		if n%10 == 0 || pairs == 3 { // the others are for statements that stand alone
			continue
		}
		other := slices.IndexFunc(s.Rows[next:], func(x []string) bool {
			return !slices.Contains(x, "") && !slices.ContainsFunc(tried, func(y []string) bool { return slices.Equal(x, y) }) && (!conditional || slices.Equal(key(x), key(row)))
		})
		if other < 0 {
			continue
		}
		if !conditional {
			next += other + 1
			other = next - 1
		}
		pairs++
		for i := range r.Verdict.Statements {
			x := &r.Verdict.Statements[i]
			tree, _ := syntax.Parse(strings.TrimSuffix(x.Text, ";"))
			if b, is := tree.(*syntax.Batch); is {
				tryBatch(t, session, s, r, x, b, types, row, s.Rows[other], into, stored)
			}
		}
		if conditional {
			break // the row that was inserted is there now
		}
	}
}

func tryBatch(t *testing.T, session *gocql.Session, s *drawn.Set, r *advice.Report, x *advice.Statement, b *syntax.Batch, types map[string]*value.Type, row, other []string, into func(string) string, stored func(table string, row []string) map[string]any) {
	batches++
	if strings.Contains(x.Note, "once the batch with the condition has been applied") {
		behind++
	}
	at, condition := 0, false
	var bound []any
	check := func() {}
	for _, part := range b.Statements {
		text := syntax.Print(part)
		table, of, set := into("FROM " + tableOf(t, text))[len("FROM "):], other, ""
		after := check
		if u, is := part.(*syntax.Update); is {
			changed := u.Set[0].Column
			of, set = row, changed
			condition = condition || len(u.If) > 0
			check = func() {
				after()
				if got := fmt.Sprint(stored(table, row)[changed]); got != "77" {
					t.Errorf("line %d: %s: %s of %s is %s", x.Line, x.Text, changed, table, got)
				}
			}
		} else {
			check = func() {
				after()
				if stored(table, other) == nil {
					t.Errorf("line %d: %s: %s has no new row", x.Line, x.Text, table)
				}
			}
		}
		columns := columnValues(t, s, r, of, types)
		markers := len(marker.FindAllString(text, -1))
		for _, name := range x.Binds[at : at+markers] {
			v, known := columns[name]
			if !known { // an added column: read the row first, as the note says
				bound = append(bound, stored(table, of)[name])
				continue
			}
			if name == set { // behind IF it is the value that the row has
				v, _ = types[name].FromString("77")
				set = ""
			}
			bound = append(bound, cell(v))
		}
		at += markers
	}
	iter := session.Query(into(strings.TrimSuffix(x.Text, ";")), bound...).Iter()
	answer := make(map[string]any)
	applied := iter.MapScan(answer) && answer["[applied]"] == true
	if err := iter.Close(); err != nil || applied != condition || at != len(x.Binds) {
		t.Errorf("line %d: %s, with the values of %v: %v %v", x.Line, x.Text, x.Binds, answer, err)
		return
	}
	if condition {
		fences++
	}
	check()
}
