// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/partitioner"
	"github.com/evenkeel/evenkeel/workbench/inspection"
)

// inspected counts a table of 400 servers, one of which has a fifth of the rows.
func inspected(t testing.TB, fraction float64, again bool) *inspection.Report {
	t.Helper()
	text := value.Native(value.Text)
	table := &schema.Table{
		Keyspace: "ks", Name: "<i>logs", Options: map[string]any{},
		PartitionKey: []*schema.Column{{Name: "server", Kind: schema.PartitionKey, Type: text}},
		Clustering:   []*schema.Column{{Name: "at", Kind: schema.Clustering, Type: value.Native(value.Timeuuid)}},
		Regulars:     []*schema.Column{{Name: "message", Kind: schema.Regular, Type: text}},
	}
	var nodes []inspection.Node
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 5 {
		node := inspection.Node{Address: fmt.Sprintf("10.0.0.%d", n+1), DataCenter: "dc1", Rack: "r1"}
		for range 8 {
			node.Tokens = append(node.Tokens, int64(rnd.Uint64()))
		}
		nodes = append(nodes, node)
	}
	run := &inspection.Run{Plan: inspection.NewPlan(nodes, inspection.PlanOptions{Fraction: fraction, Pieces: 64, Seed: 1})}
	read := func(rows int) {
		z := inspection.NewSizer(table, nil)
		for _, i := range run.Left() {
			c := inspection.NewCounter(table, z, nil)
			for s := range 400 {
				server := fmt.Sprintf("Secret-%d", s)
				n := rows
				if s == 7 {
					server, n = "Very-Secret", 100*rows
				}
				token := partitioner.Murmur3([]byte(server))
				if r := run.Plan.Ranges[i]; token <= r.After || token > r.UpTo {
					continue
				}
				for i := range n {
					c.Row(token, [][]byte{[]byte(server), make([]byte, 15), fmt.Appendf(nil, "%040d", i)})
				}
			}
			c.End()
			run.Add(i, &c.Tally)
		}
	}
	read(20)
	s := inspection.Summary{Schema: table, At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Top: 12, Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "3"}}
	if again {
		s.Last = run.Last(s.At.Add(-48 * time.Hour))
		run = &inspection.Run{Plan: run.Plan}
		read(30)
	}
	r := inspection.Summarize(run, s)
	r.Store = "Test & Co"
	r.Hidden = []inspection.HiddenAnswer{{What: "the hottest partitions", Command: "nodetool toppartitions"}}
	r.Outside = []inspection.Outside{{What: "reads", From: "a tool", Partitions: []inspection.Counted{{Key: "Very-Secret", Count: 3, Unit: "count"}}}}
	return r
}

// TestInspectionOfDynamoDB checks that the page of a DynamoDB table has its indexes and, if the
// store reports them, its partitions. Keys are hidden there, too.
func TestInspectionOfDynamoDB(t *testing.T) {
	r := inspected(t, 1, false)
	r.DynamoDB = &inspection.DynamoTable{
		Name:    "Invoices",
		Indexes: []inspection.DynamoIndex{{Name: "by-<country>", Kind: "global", Key: []string{"country"}, Partition: 1, Largest: []inspection.Large{{Key: []inspection.KeyValue{{Column: "country", Value: "Secret-land"}}, Share: 0.8}}}},
	}
	r.Maps = []*api.PartitionsResponse{
		{TableName: "Invoices", PartitionWriteUnits: 1000, PartitionReadUnits: 3000, Partitions: []api.Partition{
			{Number: 1, Share: 0.5, KeyCount: 9, Keys: []api.PartitionKeyUse{{Key: []byte(`{"InvoiceNumber":{"S":"Secret-1"}}`), Shard: 2}, {Key: []byte(`{"InvoiceNumber":{"S":"Secret-2"}}`)}}, Write: api.PartitionUse{Units: 1000, Throttled: 12, ThrottledTotal: 12, ThrottledOwnTotal: 3}},
			{Number: 2, Share: 0.5},
		}}, {TableName: "Invoices", IndexName: "by-<country>", Partitions: []api.Partition{{Number: 1, Share: 1}}},
	}
	r.Maps[1].Partitions = append(r.Maps[1].Partitions, make([]api.Partition, 1999)...)
	for _, show := range []bool{false, true} {
		var b bytes.Buffer
		if err := InspectionHTML(&b, r, show); err != nil {
			t.Fatal(err)
		}
		_, words := parse(t, b.String())
		if strings.Contains(words, "Secret") != show || strings.Contains(words, "Nodes") {
			t.Errorf("keys are shown: %v", !show)
		}
		for _, want := range []string{"10 GB", "by-<country> (global)", "2 partitions, 1 with keys; each takes", "Throttled with several keys in one: 1. Requests throttled for a limit of the whole table or the account: 9.", ", shard 2", "7 more", "Partitions of index by-<country>", "2,000 more have no keys and took nothing."} {
			if !strings.Contains(words, want) {
				t.Errorf("no %q", want)
			}
		}
	}
}

func TestInspectionHTML(t *testing.T) {
	for _, c := range []struct {
		fraction float64
		again    bool
		words    []string
	}{
		{1, false, []string{"The whole table was read", "first inspection", "10 MB", "Bytes by partition"}},
		{0.5, false, []string{"A sample was read", "99% confidence", "larger ones may not be among them"}},
		{1, true, []string{"Since 2026-02-27", "2.0 days", "rows, "}},
	} {
		r := inspected(t, c.fraction, c.again)
		for _, show := range []bool{false, true} {
			var b bytes.Buffer
			if err := InspectionHTML(&b, r, show); err != nil {
				t.Fatal(err)
			}
			elements, words := parse(t, b.String())
			count := map[string]int{}
			for _, e := range elements {
				count[e.name]++
			}
			if count["script"]+count["i"]+count["link"] > 0 || count["figure"] != 4 || strings.Contains(b.String(), "://") {
				t.Errorf("%v: %v", c.fraction, count)
			}
			if bad := numbersOfNothing.FindString(b.String()); bad != "" {
				at := strings.Index(b.String(), bad)
				t.Errorf("%v: %s in …%s…", c.fraction, bad, b.String()[max(0, at-80):at+80])
			}
			if strings.Contains(strings.ToLower(b.String()), "secret") != show {
				at := strings.Index(strings.ToLower(b.String()), "secret")
				t.Errorf("%v: keys are shown: %v …%s", c.fraction, !show, b.String()[max(0, at-80):min(b.Len(), at+80)])
			}
			for _, want := range append(c.words, "Partitions of ks.", "Test & Co", "PRIMARY KEY (server, at)", "unbounded partition", "toppartitions", "10.0.0.5") {
				if !strings.Contains(strings.ToLower(words), strings.ToLower(want)) {
					t.Errorf("%v: no %q", c.fraction, want)
				}
			}
			if strings.Contains(b.String(), `class="band`) != (c.fraction < 1) {
				t.Errorf("%v: an interval is drawn: %v", c.fraction, c.fraction == 1)
			}
			if strings.Index(words, "Verdict") > strings.Index(words, "Sizes") {
				t.Error("the verdict is not first")
			}
		}
	}
}
