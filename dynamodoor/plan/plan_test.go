// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

func outcome(err error) string {
	e := exception.Of(err)
	s := e.Kind.String() + ": " + e.Message
	for _, r := range e.Reasons {
		s += "\n  " + r.Code + " " + r.Message
	}
	return s
}

// declare returns the sharded table that a CreateTable declares.
func declare(t *testing.T, body string) (*plan.Table, *plan.Declaration, error) {
	t.Helper()
	var q api.CreateTable
	if err := q.Decode(new(api.Decoder), []byte(body)); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	d, err := plan.Sharded(&q.Declaration)
	if err != nil || d == nil {
		return nil, d, err
	}
	physical, err := schema.Create(d.Physical)
	if err != nil {
		t.Fatalf("the physical table of %s: %v", body, err)
	}
	table, err := plan.Open(plan.Spec{Name: q.Name, Physical: physical, Hash: d.Hash, Layout: d.Layout, Indexes: d.Indexes})
	if err != nil {
		t.Fatal(err)
	}
	return table, d, nil
}

func describe(t *schema.Table) string { return string((&api.TableResponse{Table: t}).AppendJSON(nil)) }

// adopt adopts the table of a CreateTable with a tag, each on one line.
func adopt(t testing.TB, body, tag string) (*plan.Table, *plan.Adoption, error) {
	t.Helper()
	var q api.CreateTable
	if err := q.Decode(new(api.Decoder), []byte(body)); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	physical, err := schema.Create(&q.Declaration)
	if err != nil {
		t.Fatal(err)
	}
	a, err := plan.ParseAdoption(q.Name, tag)
	if err != nil {
		return nil, nil, err
	}
	table, err := a.Table(physical)
	return table, a, err
}

// TestPlans runs the scripts of plans. Command create declares tables. Command adopt adopts the
// table of its first line with the tags of the other lines. Command check reports whether items are
// at their places in an adopted table. The other commands are operations: each line is a request,
// and the result is its plan.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		tables := map[string]*plan.Table{}
		lookup := func(name string) *plan.Table { return tables[name] }
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			declared := ""
			for line := range strings.Lines(d.Input) {
				line = strings.TrimSpace(line)
				switch {
				case d.Cmd == "adopt" && declared == "":
					declared = line
					continue
				case d.Cmd == "adopt":
					table, a, err := adopt(t, declared, line)
					if err != nil {
						fmt.Fprintln(&out, outcome(err))
						continue
					}
					tables[table.Logical.Name] = table
					fmt.Fprintf(&out, "%s\n%s\n", a, describe(table.Logical))
					continue
				case d.Cmd == "check":
					item, err := new(attribute.Decoder).Item(attribute.Encoded(line))
					if err != nil {
						t.Fatal(err)
					}
					if err := tables[d.CmdArgs[0].Key].CheckAdopted(item); err != nil {
						fmt.Fprintln(&out, outcome(err))
					} else {
						fmt.Fprintln(&out, "fits")
					}
					continue
				}
				if d.Cmd == "create" {
					table, declaration, err := declare(t, line)
					switch {
					case err != nil:
						fmt.Fprintln(&out, outcome(err))
					case table == nil:
						fmt.Fprintln(&out, "plain")
					default:
						tables[table.Logical.Name] = table
						physical, _ := schema.Create(declaration.Physical)
						fmt.Fprintf(&out, "%s\nphysical %s\nlogical  %s\n", table.Layout, describe(physical), describe(table.Logical))
					}
					continue
				}
				q, ok := api.New(d.Cmd)
				if !ok {
					t.Fatal(d.Cmd)
				}
				if err := q.Decode(new(api.Decoder), []byte(line)); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				if u, ok := q.(*api.UpdateTable); ok {
					change, err := tables[u.Table].Change(&u.Change)
					if err != nil {
						fmt.Fprintln(&out, outcome(err))
						continue
					}
					for _, ix := range change.Indexes {
						fmt.Fprintf(&out, "definitions %v index %+v\n", change.Definitions, *ix.Create.Projection)
					}
					continue
				}
				p, err := plan.Make(q, lookup)
				switch {
				case err != nil:
					fmt.Fprintln(&out, outcome(err))
				case p == nil:
					fmt.Fprintln(&out, "forwarded")
				default:
					fmt.Fprintln(&out, p)
				}
			}
			return out.String()
		})
	})
}

func TestStrip(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                          `{}`,
		`{"a":{"S":"b"}}`:             `{"a":{"S":"b"}}`,
		`{"evenkeel.pk":{"S":"a-1"}}`: `{}`,
		`{"evenkeel.pk":{"S":"a-1"},"z":{"S":"b"}}`:                                                            `{"z":{"S":"b"}}`,
		`{"a":{"S":"b"},"evenkeel.pk":{"S":"a-1"}}`:                                                            `{"a":{"S":"b"}}`,
		`{"a":{"S":"b"},"evenkeel.pk":{"S":"a-1"},"evenkeel.s":{"N":"1"},"z":{"M":{"evenkeel.pk":{"S":"x"}}}}`: `{"a":{"S":"b"},"z":{"M":{"evenkeel.pk":{"S":"x"}}}}`,
		`{"a":{"S":"\"evenkeel.pk"}}`:                                                                          `{"a":{"S":"\"evenkeel.pk"}}`,
		`{"evenkeel.pk":`:                                                                                      `{"evenkeel.pk":`,
	} {
		if got := string(plan.Strip(attribute.Encoded(in))); got != want {
			t.Errorf("%s is stripped to %s, want %s", in, got, want)
		}
	}
}

// TestAnswersAndErrorsAreStripped checks that no answer and no error contains what the client must
// not see.
func TestAnswersAndErrorsAreStripped(t *testing.T) {
	table, _, err := declare(t, `{"TableName":"inv","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"N"},{"AttributeName":"sk","AttributeType":"S"}],`+
		`"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"BillingMode":"PAY_PER_REQUEST","Tags":[{"Key":"write-sharding","Value":"shards=7"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/inv"
	lookup := func(name string) *plan.Table {
		if name == "inv" || name == arn {
			return table
		}
		return nil
	}
	took := func() []api.ConsumedCapacity { return []api.ConsumedCapacity{{Table: "inv", Units: 2}} }
	collection := func(shard string) api.ItemCollectionMetrics {
		return api.ItemCollectionMetrics{Key: attribute.NewItem(attribute.Attribute{Name: plan.PartitionKey, Value: attribute.String(shard)}), Size: 700 << 20}
	}
	stored := attribute.Encoded(`{"evenkeel.pk":{"S":"5-3"},"pk":{"N":"5"},"sk":{"S":"x"}}`)
	physicalKey := attribute.NewItem(attribute.Attribute{Name: plan.PartitionKey, Value: attribute.String("5-3")}, attribute.Attribute{Name: "sk", Value: attribute.String("x")})
	for _, c := range []struct {
		op, body string
		r        api.Response
		want     string
	}{
		{"GetItem", `{"TableName":"inv","Key":{"pk":{"N":"5"},"sk":{"S":"x"}}}`, &api.ItemResponse{Item: slices.Clone(stored), Capacity: &api.ConsumedCapacity{Table: "inv", Units: 1}},
			`{"Item":{"pk":{"N":"5"},"sk":{"S":"x"}},"ConsumedCapacity":{"TableName":"inv","CapacityUnits":0.5}}`},
		{"GetItem", `{"TableName":"inv","Key":{"pk":{"N":"5"},"sk":{"S":"x"}}}`, &api.ItemResponse{}, `{}`},
		{"PutItem", `{"TableName":"inv","Item":{"pk":{"N":"5"},"sk":{"S":"x"}},"ReturnValues":"ALL_OLD"}`, &api.ItemResponse{Attributes: slices.Clone(stored)}, `{"Attributes":{"pk":{"N":"5"},"sk":{"S":"x"}}}`},
		{"UpdateItem", `{"TableName":"inv","Key":{"pk":{"N":"5"},"sk":{"S":"x"}},"ReturnValues":"UPDATED_NEW"}`, &api.ItemResponse{Attributes: attribute.Encoded(`{"pk":{"N":"5"}}`)}, `{}`},
		{"UpdateItem", `{"TableName":"inv","Key":{"pk":{"N":"5"},"sk":{"S":"x"}},"ReturnValues":"ALL_NEW"}`, &api.ItemResponse{Attributes: slices.Clone(stored)}, `{"Attributes":{"pk":{"N":"5"},"sk":{"S":"x"}}}`},
		{"Scan", `{"TableName":"inv"}`, &api.ItemsResponse{Items: []attribute.Encoded{slices.Clone(stored)}, Count: 1, ScannedCount: 1, LastKey: physicalKey},
			`{"Items":[{"pk":{"N":"5"},"sk":{"S":"x"}}],"Count":1,"ScannedCount":1,"LastEvaluatedKey":{"pk":{"N":"5"},"sk":{"S":"x"}}}`},
		{"BatchGetItem", `{"RequestItems":{"inv":{"Keys":[{"pk":{"N":"5"},"sk":{"S":"x"}}]},"plain":{"Keys":[{"a":{"S":"b"}}]}}}`,
			&api.BatchGetResponse{Tables: []api.BatchGetItems{{Table: "inv", Items: []attribute.Encoded{slices.Clone(stored)}}, {Table: "plain", Items: []attribute.Encoded{attribute.Encoded(`{"a":{"S":"b"}}`)}}},
				Unprocessed: []api.BatchGetTable{{Table: "inv", Keys: []attribute.Item{physicalKey}, Raw: []byte(`{"Keys":[],"ConsistentRead":true}`)}}},
			`{"Responses":{"inv":[{"pk":{"N":"5"},"sk":{"S":"x"}}],"plain":[{"a":{"S":"b"}}]},"UnprocessedKeys":{"inv":{"Keys":[{"pk":{"N":"5"},"sk":{"S":"x"}}],"ConsistentRead":true}}}`},
		{"BatchWriteItem", `{"RequestItems":{"inv":[{"PutRequest":{"Item":{"pk":{"N":"5"},"sk":{"S":"x"}}}}]}}`,
			&api.BatchWriteResponse{Unprocessed: []api.BatchWriteTable{{Table: "inv", Writes: []api.BatchWrite{{Key: physicalKey}, {Item: physicalKey.With("pk", attribute.Int(5)).With("evenkeel.s.i", attribute.Int(2))}}}}},
			`{"UnprocessedItems":{"inv":[{"DeleteRequest":{"Key":{"pk":{"N":"5"},"sk":{"S":"x"}}}},{"PutRequest":{"Item":{"pk":{"N":"5"},"sk":{"S":"x"}}}}]}}`},
		{"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"inv","Key":{"pk":{"N":"5"},"sk":{"S":"x"}}}},{"Get":{"TableName":"inv","Key":{"pk":{"N":"6"},"sk":{"S":"x"}}}}]}`,
			&api.TransactGetResponse{Items: []attribute.Encoded{slices.Clone(stored), nil}}, `{"Responses":[{"Item":{"pk":{"N":"5"},"sk":{"S":"x"}}},{}]}`},
		// The shards of a key form one item collection.
		{"BatchWriteItem", `{"RequestItems":{"inv":[{"DeleteRequest":{"Key":{"pk":{"N":"5"},"sk":{"S":"x"}}}}]}}`,
			&api.BatchWriteResponse{Metrics: []api.TableMetrics{{Table: "inv", Collections: []api.ItemCollectionMetrics{collection("5-3"), collection("6-1"), collection("5-4")}}}},
			`{"UnprocessedItems":{},"ItemCollectionMetrics":{"inv":[{"ItemCollectionKey":{"pk":{"N":"5"}},"SizeEstimateRangeGB":[1.0,2.0]},{"ItemCollectionKey":{"pk":{"N":"6"}},"SizeEstimateRangeGB":[0.0,1.0]}]}}`},
		// A client that names a table by its ARN gets the ARN in the answer.
		{"GetItem", `{"TableName":"` + arn + `","Key":{"pk":{"N":"5"},"sk":{"S":"x"}}}`, &api.ItemResponse{Capacity: &took()[0]},
			`{"ConsumedCapacity":{"TableName":"` + arn + `","CapacityUnits":1.0}}`},
		{"Scan", `{"TableName":"` + arn + `"}`, &api.ItemsResponse{CountOnly: true, Capacity: &took()[0]}, `{"Count":0,"ScannedCount":0,"ConsumedCapacity":{"TableName":"` + arn + `","CapacityUnits":1.0}}`},
		{"BatchGetItem", `{"RequestItems":{"` + arn + `":{"Keys":[{"pk":{"N":"5"},"sk":{"S":"x"}}]}}}`,
			&api.BatchGetResponse{Tables: []api.BatchGetItems{{Table: "inv"}}, Unprocessed: []api.BatchGetTable{{Table: "inv", Keys: []attribute.Item{physicalKey}, Raw: []byte(`{"Keys":[]}`)}}, Capacity: took()},
			`{"Responses":{"` + arn + `":[]},"UnprocessedKeys":{"` + arn + `":{"Keys":[{"pk":{"N":"5"},"sk":{"S":"x"}}]}},"ConsumedCapacity":[{"TableName":"` + arn + `","CapacityUnits":1.0}]}`},
		{"BatchWriteItem", `{"RequestItems":{"` + arn + `":[{"DeleteRequest":{"Key":{"pk":{"N":"5"},"sk":{"S":"x"}}}}]}}`,
			&api.BatchWriteResponse{Unprocessed: []api.BatchWriteTable{{Table: "inv", Writes: []api.BatchWrite{{Key: physicalKey}}}}, Capacity: took()},
			`{"UnprocessedItems":{"` + arn + `":[{"DeleteRequest":{"Key":{"pk":{"N":"5"},"sk":{"S":"x"}}}}]},"ConsumedCapacity":[{"TableName":"` + arn + `","CapacityUnits":1.0}]}`},
		{"TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"` + arn + `","Key":{"pk":{"N":"5"},"sk":{"S":"x"}}}},{"Delete":{"TableName":"` + arn + `","Key":{"pk":{"N":"5"},"sk":{"S":"y"}}}}]}`,
			&api.TransactWriteResponse{Capacity: took(), Metrics: []api.TableMetrics{{Table: "inv", Collections: []api.ItemCollectionMetrics{collection("5-3"), collection("5-4")}}}},
			`{"ItemCollectionMetrics":{"` + arn + `":[{"ItemCollectionKey":{"pk":{"N":"5"}},"SizeEstimateRangeGB":[1.0,2.0]}]},"ConsumedCapacity":[{"TableName":"` + arn + `","CapacityUnits":1.0}]}`},
	} {
		q, _ := api.New(c.op)
		if err := q.Decode(new(api.Decoder), []byte(c.body)); err != nil {
			t.Fatal(err)
		}
		p, err := plan.Make(q, lookup)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.(*plan.Direct).Answer(c.r)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(r.AppendJSON(nil)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.op, got, c.want)
		}
		failed := &exception.Error{Kind: exception.ConditionalCheckFailed, Item: stored, Reasons: []exception.CancellationReason{{Code: "None"}, {Item: stored}}}
		if text := string(exception.Of(p.Err(failed)).AppendJSON(nil)); strings.Contains(text, "evenkeel") {
			t.Errorf("%s: %s", c.op, text)
		}
	}
}

// TestPartitionsComeBack checks that a key can be read back from its hidden partition, for every
// type.
func TestPartitionsComeBack(t *testing.T) {
	n, _ := attribute.Number("-12.50")
	for _, v := range []attribute.Value{attribute.String("a-b-1"), attribute.String("-"), n, attribute.Int(0), attribute.Binary("\xff-\x00")} {
		back, err := attribute.ParseKeyText(attribute.KeyText(v), v.Kind())
		if err != nil || !back.Equal(v) {
			t.Errorf("%s came back as %s, %v", v, back, err)
		}
	}
}
