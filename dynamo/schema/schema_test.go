// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	e := exception.Of(err)
	return e.Kind.String() + ": " + e.Message
}

func decode(t *testing.T, q api.Request, body string) {
	t.Helper()
	if err := q.Decode(new(api.Decoder), []byte(body)); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
}

func describe(t *schema.Table) string {
	return string((&api.TableResponse{Table: t}).AppendJSON(nil))
}

// A story of one table: create and change make it, the other commands ask it. Each
// line is one request, item, key or expression.
func TestTables(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var table *schema.Table
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				line = strings.TrimSpace(line)
				switch d.Cmd {
				case "create":
					var q api.CreateTable
					decode(t, &q, line)
					made, err := schema.Create(&q.Declaration)
					if err != nil {
						fmt.Fprintln(&out, outcome(err))
						continue
					}
					table = made
					fmt.Fprintln(&out, describe(table))
				case "change":
					var q api.UpdateTable
					decode(t, &q, line)
					before := describe(table)
					changed, err := table.Apply(&q.Change)
					if describe(table) != before {
						t.Fatalf("%s changed the table it was applied to", line)
					}
					if err != nil {
						fmt.Fprintln(&out, outcome(err))
						continue
					}
					table = changed
					fmt.Fprintln(&out, describe(table))
				default:
					fmt.Fprintln(&out, outcome(ask(t, table, d.Cmd, line)))
				}
			}
			return out.String()
		})
	})
}

func ask(t *testing.T, table *schema.Table, what, line string) error {
	t.Helper()
	if what == "update" || what == "filter" {
		p, err := expression.NewPlaceholders(nil, attribute.NewItem(attribute.Attribute{Name: ":v", Value: attribute.String("x")}))
		if err != nil {
			t.Fatal(err)
		}
		if what == "update" {
			u, err := p.Update(line)
			if err != nil {
				t.Fatal(err)
			}
			return table.CheckUpdate(u)
		}
		c, err := p.Condition(expression.FilterExpression, line)
		if err != nil {
			t.Fatal(err)
		}
		return table.CheckFilter(nil, c, "Filter Expression")
	}
	line = strings.ReplaceAll(line, "LONG", strings.Repeat("x", 1025))
	line = strings.ReplaceAll(line, "HUGE", strings.Repeat("x", 400*1024))
	var d attribute.Decoder
	item, err := d.Item([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	switch what {
	case "item":
		return table.CheckItem(item)
	case "updated":
		return table.CheckUpdated(nil, item)
	case "key":
		return table.CheckKey(item)
	}
	t.Fatal(what)
	return nil
}

func TestTags(t *testing.T) {
	table := &schema.Table{}
	with, err := table.WithTags([]schema.Tag{{Key: "b", Value: "1"}, {Key: "a", Value: "2"}})
	if err != nil || len(table.Tags) != 0 {
		t.Fatal(table.Tags, err)
	}
	again, err := with.WithTags([]schema.Tag{{Key: "b", Value: "3"}})
	if err != nil || !slices.Equal(again.Tags, []schema.Tag{{Key: "a", Value: "2"}, {Key: "b", Value: "3"}}) || with.Tags[1].Value != "1" {
		t.Error(with.Tags, again.Tags, err)
	}
	without := again.WithoutTags([]string{"a", "zz"})
	if _, ok := without.Tag("a"); ok || len(again.Tags) != 2 {
		t.Error(without.Tags, again.Tags)
	}
	if v, ok := without.Tag("b"); !ok || v != "3" {
		t.Error(v, ok)
	}
	var many []schema.Tag
	for i := range schema.MaxTags + 1 {
		many = append(many, schema.Tag{Key: fmt.Sprint(i)})
	}
	if _, err := table.WithTags(many); err == nil {
		t.Error("51 tags are accepted")
	}
	for _, tag := range []schema.Tag{{Key: ""}, {Key: strings.Repeat("x", 129)}, {Key: "a", Value: strings.Repeat("x", 257)}, {Key: "aws:x"}, {Key: "a,b"}, {Key: "a", Value: "{}"}} {
		if schema.CheckTags([]schema.Tag{tag}) == nil {
			t.Errorf("%.20q is accepted", tag)
		}
	}
	if err := schema.CheckTags([]schema.Tag{{Key: "write-sharding", Value: "strategy=calculated shards=5"}, {Key: "écrit", Value: "a+b=c._:/@"}}); err != nil {
		t.Error(err)
	}
	if schema.CheckTags([]schema.Tag{{Key: "a"}, {Key: "a"}}) == nil {
		t.Error("a key twice is accepted")
	}
}

func TestChecksDoNotAllocate(t *testing.T) {
	table := &schema.Table{
		Definitions: []schema.Definition{{Name: "pk", Type: attribute.S}, {Name: "sk", Type: attribute.N}, {Name: "g", Type: attribute.S}},
		Key:         schema.Key{Hash: []string{"pk"}, Range: []string{"sk"}},
		Global:      []schema.Index{{Name: "i", Key: schema.Key{Hash: []string{"g"}}}},
	}
	key := attribute.NewItem(attribute.Attribute{Name: "pk", Value: attribute.String("a")}, attribute.Attribute{Name: "sk", Value: attribute.Int(1)})
	item := key.With("g", attribute.String("x"))
	if n := testing.AllocsPerRun(100, func() {
		if table.CheckItem(item) != nil || table.CheckKey(key) != nil {
			t.Fatal("refused")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
