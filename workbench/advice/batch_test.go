// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/workbench/queries"
)

// workflows draws rows of which most are of one tenant. Each group has about twenty rows.
func workflows() string {
	draw := rand.New(rand.NewPCG(14, 5))
	var data strings.Builder
	data.WriteString("tenant,grp,kind,wf,owner,body\n")
	for i := range 30_000 {
		tenant := "big"
		if draw.IntN(100) >= 85 {
			tenant = fmt.Sprint("t", draw.IntN(400))
		}
		fmt.Fprintf(&data, "%s,g%d,%d,wf-%06x-%d,o%d,some text of a body that is some text\n", tenant, draw.IntN(1500), draw.IntN(3), draw.IntN(1<<24), i, draw.IntN(20))
	}
	return data.String()
}

const fencedBatch = "BEGIN BATCH UPDATE executions SET owner = ? WHERE tenant = ? AND wf = ? IF owner = ?; INSERT INTO executions (tenant, wf, owner, body) VALUES (?, ?, ?, ?); APPLY BATCH"

// TestConditionalBatch checks that the rows of a batch with a condition stay in one partition of one table,
// though its writes are too many for one.
func TestConditionalBatch(t *testing.T) {
	r := advisedOf(t, fencedBatch+"; -- 3000/s\nSELECT * FROM executions WHERE tenant = ?; -- 50/s", workflows())
	v := r.Verdict
	if !slices.Equal(v.PartitionKey, []string{"tenant"}) || v.Shards != 1 || len(v.Extras) > 0 || v.TimeBucket != nil {
		t.Fatalf("%s, further tables %v", v.Design, v.Extras)
	}
	if !strings.Contains(v.Fence, "not for sharding: the batch of line 1") || !strings.Contains(v.Fence, "finer fence") || strings.Contains(v.Summary, "delete old rows") {
		t.Errorf("%q\n%s", v.Fence, v.Summary)
	}
	if all := strings.Join(v.Reasons, "\n"); !strings.Contains(all, "as long as all its statements have the same tenant") {
		t.Error(all)
	}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		plain := c.Shards == 1 && slices.Equal(c.PartitionKey, []string{"tenant"})
		if refused := c.Queries[0].Service == "refused"; refused == plain || refused && (c.Unserved < 0.9 || !strings.Contains(c.WhyLost, "Cassandra refuses the batch of line 1")) {
			t.Errorf("%s: %+v, %g unserved: %s", c.Design, c.Queries[0], c.Unserved, c.WhyLost)
		}
	}
	if len(r.Candidates) < 3 || len(r.Queries) != 2 || r.Queries[0].Text != fencedBatch {
		t.Errorf("%d candidates, %+v", len(r.Candidates), r.Queries)
	}
	s := v.Statements[0]
	if len(v.Statements) != 2 || s.Text != fencedBatch+";" || !slices.Equal(s.Binds, []string{"owner", "tenant", "wf", "owner", "tenant", "wf", "owner", "body"}) || s.Note != "" {
		t.Errorf("%+v", v.Statements)
	}
}

// TestFinerFence checks that a column that all statements of the batch give makes partitions finer, but not
// if they give different literals for it.
func TestFinerFence(t *testing.T) {
	for kinds, want := range map[string][]string{"?,?": {"grp"}, "1,1": {"kind", "tenant"}, "0,1": {"tenant"}} {
		update, insert, _ := strings.Cut(kinds, ",")
		column := "grp"
		if kinds != "?,?" {
			column = "kind"
		}
		r := advisedOf(t, fmt.Sprintf(`BEGIN BATCH UPDATE x.t SET owner = ? WHERE tenant = ? AND %[1]s = %[2]s AND wf = ? IF owner = ?;
  INSERT INTO x.t (tenant, %[1]s, wf, owner, body) VALUES (?, %[3]s, ?, ?, ?); APPLY BATCH -- 3000/s`, column, update, insert), workflows())
		got := slices.Sorted(slices.Values(r.Verdict.PartitionKey))
		if !slices.Equal(got, want) || r.Verdict.Shards != 1 {
			t.Errorf("%s %s: %s\n%s", column, kinds, r.Verdict.Design, show(r))
		}
		if column == "grp" && r.Verdict.Fence != "" {
			t.Errorf("nothing is exceeded, but: %s", r.Verdict.Fence)
		}
	}
}

// TestSharedShard checks that a column chooses the shard if all statements of a batch certainly have the
// same value in it, so that the batch is in one shard. Two markers without a name do not prove that.
func TestSharedShard(t *testing.T) {
	for marker, shards := range map[string]bool{":g": true, "?": false} {
		r := advisedOf(t, fmt.Sprintf(`BEGIN BATCH UPDATE x.t SET owner = ? WHERE tenant = ? AND grp = %[1]s AND wf = ? IF owner = ?; INSERT INTO x.t (tenant, grp, wf, owner, body) VALUES (?, %[1]s, ?, ?, ?); APPLY BATCH -- 3000/s
SELECT * FROM x.t WHERE tenant = ? -- 300/s`, marker), workflows())
		v := r.Verdict
		if !slices.Equal(v.PartitionKey, []string{"tenant"}) || (v.Shards > 1) != shards || shards && !slices.Equal(v.By, []string{"grp"}) || (v.Fence == "") != shards || len(v.Extras) > 0 {
			t.Errorf("%s: %s, further tables %v, %q", marker, v.Design, v.Extras, v.Fence)
		}
	}
}

// TestRefusedBatch checks that a batch that no key holds together is named as unserved, however rare it is.
func TestRefusedBatch(t *testing.T) {
	r := advisedOf(t, `BEGIN BATCH UPDATE x.t SET owner = ? WHERE wf = ? IF owner = ?; INSERT INTO x.t (tenant, wf, owner) VALUES (?, ?, ?); APPLY BATCH -- 1/s
SELECT * FROM x.t WHERE wf = ? -- 3000/s`, workflows())
	v := r.Verdict
	if len(v.Unserved) != 1 || v.Unserved[0].Line != 1 || !strings.Contains(v.Unserved[0].Why, "Cassandra refuses the batch of line 1: its condition and its rows lie in several partitions (nearly every row has another (wf))") {
		t.Errorf("%+v", v.Unserved)
	}
	if x := v.Statements[0]; !strings.HasPrefix(x.Note, "Cassandra refuses the batch") {
		t.Errorf("%+v", x)
	}
	r = advisedOf(t, `BEGIN BATCH UPDATE x.t SET owner = ? WHERE tenant = ? AND wf IN (?, ?) IF owner = ?; INSERT INTO x.t (tenant, wf, owner) VALUES (?, ?, ?); APPLY BATCH -- 100/s
SELECT * FROM x.t WHERE tenant = ? AND wf = ? -- 3000/s`, workflows())
	if v := r.Verdict; len(v.Unserved) != 1 || !strings.Contains(v.Unserved[0].Why, "it has a condition, and IN on wf") {
		t.Errorf("%+v", v.Unserved)
	}
}

// TestBatchesWithFurtherTables checks that a batch also writes the further tables, in the same kind of batch;
// and that one with a condition does not, because Cassandra refuses two tables in it.
func TestBatchesWithFurtherTables(t *testing.T) {
	const asked = "\nSELECT * FROM x.t WHERE tenant = ? -- 300/s\nSELECT * FROM x.t WHERE grp = ? AND wf = ? -- 300/s"
	const update, insert = "UPDATE x.t SET owner = ? WHERE tenant = ? AND wf = ?", "INSERT INTO x.t (tenant, grp, wf, owner, body) VALUES (?, ?, ?, ?, ?)"
	for _, kind := range []string{"", "UNLOGGED "} {
		r := advisedOf(t, "BEGIN "+kind+"BATCH USING TIMESTAMP 5 "+update+"; "+insert+"; APPLY BATCH -- 100/s"+asked, workflows())
		v := r.Verdict
		if len(v.Extras) != 1 {
			t.Fatalf("%s: %d further tables", v.Design, len(v.Extras))
		}
		x := v.Statements[0]
		if !strings.HasPrefix(x.Text, "BEGIN "+kind+"BATCH USING TIMESTAMP 5 UPDATE x.t SET owner = ? WHERE tenant = ? AND wf = ?; INSERT INTO x.t (") || !strings.HasSuffix(x.Text, "; APPLY BATCH;") || strings.Count(x.Text, "x.t_by_") != 2 {
			t.Errorf("%+v", x)
		}
		if want := map[string]string{"": "written to a log on 2 nodes", "UNLOGGED ": "a part of it may be carried out"}[kind]; !strings.Contains(x.Note, want) || !strings.Contains(x.Note, "the same into the further table") {
			t.Errorf("%q: %s", kind, x.Note)
		}
		if len(v.Statements) != 3 || len(x.Binds) < 16 {
			t.Errorf("%d statements, %v", len(v.Statements), x.Binds)
		}
	}
	r := advisedOf(t, "BEGIN BATCH "+update+" IF owner = ?; "+insert+"; APPLY BATCH -- 100/s"+asked, workflows())
	v := r.Verdict
	if len(v.Extras) != 1 || !slices.Equal(v.PartitionKey, []string{"tenant"}) || !strings.Contains(v.Extras[0].Why, "the batch of line 1 cannot keep it up to date") {
		t.Fatalf("%s: %+v", v.Design, v.Extras)
	}
	main, behind := v.Statements[0], v.Statements[1]
	if main.Text != "BEGIN BATCH "+update+" IF owner = ?; "+insert+"; APPLY BATCH;" || main.Note != "" {
		t.Errorf("%+v", main)
	}
	if strings.Contains(behind.Text, " IF ") || strings.Contains(behind.Text, "x.t ") || !strings.HasPrefix(behind.Text, "BEGIN BATCH UPDATE x.t_by_") || !strings.Contains(behind.Note, "once the batch with the condition has been applied") {
		t.Errorf("%+v", behind)
	}
}

// TestLogCost checks that a logged batch of several partitions costs more than an unlogged one, and that it
// costs nothing more if it is in one partition; but where requests are billed, it takes twice the units there, too.
func TestLogCost(t *testing.T) {
	cost := func(kind, key string, o Options) Cost {
		r := advisedFor(t, fmt.Sprintf(`BEGIN %sBATCH UPDATE x.t SET owner = ? WHERE %[2]s; UPDATE x.t SET owner = ? WHERE %[2]s; APPLY BATCH -- 100/s`, kind, key), workflows(), o)
		return r.Candidates[0].Cost
	}
	if logged, unlogged := cost("", "wf = ?", Options{}), cost("UNLOGGED ", "wf = ?", Options{}); logged.CPU-unlogged.CPU < 100*cpuWrite*1.3 || logged.CPU-unlogged.CPU > 100*cpuWrite*1.4 {
		t.Errorf("%g cores, %g unlogged", logged.CPU, unlogged.CPU)
	}
	if logged, unlogged := cost("", "wf = :a", Options{}), cost("UNLOGGED ", "wf = :a", Options{}); logged != unlogged {
		t.Errorf("one row: %g cores, %g unlogged", logged.CPU, unlogged.CPU)
	}
	for _, target := range []Target{Keyspaces, DynamoDB} {
		hot := func(kind string) *Heat {
			r := advisedFor(t, "BEGIN "+kind+"BATCH UPDATE x.t SET owner = ? WHERE tenant = ? AND wf = ?; INSERT INTO x.t (tenant, wf, owner) VALUES (?, ?, ?); APPLY BATCH -- 100/s\nSELECT * FROM x.t WHERE tenant = ? -- 10/s", workflows(), Options{Target: target})
			return &r.Candidates[0].Heat
		}
		if logged, unlogged := hot(""), hot("UNLOGGED "); unlogged.WriteUnits < 100 || logged.WriteUnits != 2*unlogged.WriteUnits || logged.Writes != unlogged.Writes {
			t.Errorf("%s: %g units of %g writes, %g of %g unlogged", target, logged.WriteUnits, logged.Writes, unlogged.WriteUnits, unlogged.Writes)
		}
		if logged, unlogged := cost("", "wf = ?", Options{Target: target}), cost("UNLOGGED ", "wf = ?", Options{Target: target}); logged.WriteUnits != 2*unlogged.WriteUnits || unlogged.WriteUnits == 0 {
			t.Errorf("%s: %g write units, %g unlogged", target, logged.WriteUnits, unlogged.WriteUnits)
		}
	}
}

// TestInsertsWithCondition checks that a batch of inserts gets a key that holds it, although the reads name
// another: a further table can serve these, and nothing can serve the batch.
func TestInsertsWithCondition(t *testing.T) {
	r := advisedOf(t, `BEGIN BATCH INSERT INTO x.t (tenant, wf, body) VALUES (?, ?, ?) IF NOT EXISTS; INSERT INTO x.t (tenant, wf, body) VALUES (?, ?, ?); APPLY BATCH -- 300/s
SELECT * FROM x.t WHERE wf = ? -- 3000/s`, workflows())
	v := r.Verdict
	if !slices.Equal(v.PartitionKey, []string{"tenant"}) || v.Shards != 1 || len(v.Extras) != 1 || v.Extras[0].Key != "wf" || len(v.Unserved) > 0 {
		t.Errorf("%s, further tables %+v, unserved %+v", v.Design, v.Extras, v.Unserved)
	}
}

// TestGiven checks which statements are known, and which may be, of one value.
func TestGiven(t *testing.T) {
	for _, c := range []struct {
		update, insert string
		why            bool
		equal          bool
	}{
		{"a = ?", "?", false, false},
		{"a = ?", "1", false, false},
		{"a = 1", "1", false, true},
		{"a = 'x'", "'y'", true, false},
		{"a = :k", ":k", false, true},
		{"a = :k", ":l", false, false},
		{"a > ?", "?", true, false},
		{"a IN (1, 2)", "1", true, false},
	} {
		qs, err := queries.Parse("BEGIN BATCH UPDATE t SET v = 1 WHERE " + c.update + "; INSERT INTO t (a) VALUES (" + c.insert + "); APPLY BATCH")
		if err != nil {
			t.Fatal(err)
		}
		why, equal := given([]*queries.Query{&qs[0], &qs[1]}, "a")
		if (why != "") != c.why || equal != c.equal {
			t.Errorf("%+v: %q, %t", c, why, equal)
		}
	}
}
