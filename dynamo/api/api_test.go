// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// The command is an operation. Each line is a body. The output is the decoded request or the error.
func TestRequests(t *testing.T) {
	datadriven.RunTest(t, "testdata/requests", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			q, ok := api.New(d.Cmd)
			if !ok {
				t.Fatal(d.Cmd)
			}
			var dec api.Decoder
			if err := q.Decode(&dec, []byte(line)); err != nil {
				e := exception.Of(err)
				fmt.Fprintf(&out, "%s: %s\n", e.Kind, e.Message)
				continue
			}
			if q.Operation() != d.Cmd {
				t.Errorf("%T says it is %s", q, q.Operation())
			}
			fmt.Fprintln(&out, show(q))
		}
		return out.String()
	})
}

// show returns a request as one line.
func show(q api.Request) string {
	switch q := q.(type) {
	case *api.CreateTable, *api.UpdateTable: // these contain pointers
		b, err := json.Marshal(q)
		if err != nil {
			return err.Error()
		}
		return string(b)
	case *api.BatchGetItem:
		for i := range q.Tables {
			q.Tables[i].Raw = nil
		}
	}
	return strings.TrimPrefix(fmt.Sprintf("%+v", q), "&")
}

func TestEveryOperationRefusesWhatIsNoObject(t *testing.T) {
	for _, op := range operations {
		for _, body := range []string{``, `[]`, `"x"`, `5`, `{`, `{"TableName":"abc"} x`} {
			err := refuse(op, []byte(body))
			if e := exception.Of(err); err == nil || e.Kind != exception.Serialization {
				t.Errorf("%s %q: %v", op, body, err)
			}
		}
	}
	if _, ok := api.New("Nothing"); ok {
		t.Error("an operation that does not exist is known")
	}
}

var operations = []string{
	"BatchGetItem", "BatchWriteItem", "CreateTable", "DeleteItem", "DeleteTable", "DescribeEndpoints", "DescribeLimits", "DescribeTable",
	"DescribeTimeToLive", "GetItem", "ListTables", "ListTagsOfResource", "PutItem", "Query", "Scan", "TagResource", "TransactGetItems",
	"TransactWriteItems", "UntagResource", "UpdateItem", "UpdateTable", "UpdateTimeToLive",
	"ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction", "ListStreams", "DescribeStream", "GetShardIterator", "GetRecords",
}

func FuzzDecode(f *testing.F) {
	for i := range operations {
		f.Add(i, []byte(`{"TableName":"abc","Key":{"a":{"S":"x"}}}`))
		f.Add(i, []byte(`{"TransactItems":[{"Put":{"TableName":"abc","Item":{"a":{"N":"1"}}}},{"Update":{"Key":{}}}]}`))
		f.Add(i, []byte(`{"RequestItems":{"abc":[{"PutRequest":{"Item":{"a":{"S":"x"}}}}],"abd":{"Keys":[{}]}}}`))
		f.Add(i, []byte(`{"TableName":"abc","AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`))
		f.Add(i, []byte(`{"TableName":"abc","KeyConditions":{"a":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"x"}]}},"QueryFilter":{"b":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"1"},{"N":"2"}]}}}`))
		f.Add(i, []byte(`{"Statement":"x","Parameters":[{"S":"a"}],"Statements":[{"Statement":"y"}],"TransactStatements":[{"Statement":"z"}],"StreamArn":"s","ShardIterator":"i"}`))
		f.Add(i, []byte(`{"ResourceArn":"arn:aws:dynamodb:x:1:table/abc","Tags":[{"Key":"a","Value":"b"}],"TagKeys":["a"]}`))
	}
	f.Fuzz(func(t *testing.T, i int, body []byte) {
		op := operations[uint(i)%uint(len(operations))]
		if err := refuse(op, body); err != nil && exception.Of(err).Kind == exception.InternalServerError {
			t.Errorf("%s %q: %v", op, body, err)
		}
	})
}

var invoice = `{"InvoiceNumber":{"S":"121212"},"amount":{"N":"25.5"}}`

// The full bodies of answers.
func TestResponses(t *testing.T) {
	e := attribute.Encoded(invoice)
	key := attribute.NewItem(attribute.Attribute{Name: "pk", Value: attribute.String("a")})
	capacity := &api.ConsumedCapacity{Table: "t", Units: 3, Detail: true, Base: 2, Global: []api.IndexCapacity{{Index: "i", Units: 1}}}
	table := &schema.Table{
		Name: "t", ID: "id", ARN: "arn:t", Created: time.UnixMilli(1234567890123).UTC(), Status: schema.Active,
		Definitions: []schema.Definition{{Name: "pk", Type: attribute.S}, {Name: "n", Type: attribute.N}},
		Key:         schema.Key{Hash: []string{"pk"}, Range: []string{"n"}},
		Local: []schema.Index{{Name: "local", ARN: "arn:t/index/local", Key: schema.Key{Hash: []string{"pk"}, Range: []string{"n"}},
			Projection: schema.Projection{Type: schema.ProjectKeysOnly}}},
		Global: []schema.Index{{Name: "i", ARN: "arn:t/index/i", Status: schema.Creating, Key: schema.Key{Hash: []string{"n", "pk"}},
			Projection: schema.Projection{Type: schema.ProjectInclude, NonKey: []string{"x"}}, OnDemand: schema.Throughput{Read: 5, Write: -1}}},
		Billing: schema.PayPerRequest, BillingChanged: time.Unix(1, 0), Class: "STANDARD",
		Stream: schema.Stream{Enabled: true, View: "KEYS_ONLY"}, StreamLabel: "label", Encryption: schema.Encryption{Enabled: true},
		Warm: schema.Throughput{Read: 12000, Write: 4000}, DeletionProtection: true,
	}
	size := api.TableSize{Items: 3, Bytes: 100, Indexes: map[string]api.TableSize{"i": {Items: 1, Bytes: 10}}}
	for _, c := range []struct {
		r    api.Response
		want string
	}{
		{&api.ItemResponse{}, `{}`},
		{&api.ItemResponse{Item: e}, `{"Item":` + invoice + `}`},
		{&api.ItemResponse{Attributes: e, Capacity: capacity, Metrics: &api.ItemCollectionMetrics{Key: key, Size: 1 << 31}},
			`{"Attributes":` + invoice + `,"ConsumedCapacity":{"TableName":"t","CapacityUnits":1.5,"Table":{"CapacityUnits":1.0},"GlobalSecondaryIndexes":{"i":{"CapacityUnits":0.5}}},` +
				`"ItemCollectionMetrics":{"ItemCollectionKey":{"pk":{"S":"a"}},"SizeEstimateRangeGB":[2.0,3.0]}}`},
		{&api.ItemsResponse{}, `{"Items":[],"Count":0,"ScannedCount":0}`},
		{&api.ItemsResponse{Items: []attribute.Encoded{e, e}, Count: 2, ScannedCount: 5, LastKey: key},
			`{"Items":[` + invoice + `,` + invoice + `],"Count":2,"ScannedCount":5,"LastEvaluatedKey":{"pk":{"S":"a"}}}`},
		{&api.ItemsResponse{CountOnly: true, Count: 2, ScannedCount: 2}, `{"Count":2,"ScannedCount":2}`},
		{&api.BatchGetResponse{Tables: []api.BatchGetItems{{Table: "t", Items: []attribute.Encoded{e}}, {Table: "u"}}}, `{"Responses":{"t":[` + invoice + `],"u":[]},"UnprocessedKeys":{}}`},
		{&api.BatchGetResponse{Unprocessed: []api.BatchGetTable{{Table: "t", Keys: []attribute.Item{key}, Raw: []byte(`{"Keys":[],"ConsistentRead":true}`)}}, Capacity: []api.ConsumedCapacity{{Table: "t", Units: 2}}},
			`{"Responses":{},"UnprocessedKeys":{"t":{"Keys":[{"pk":{"S":"a"}}],"ConsistentRead":true}},"ConsumedCapacity":[{"TableName":"t","CapacityUnits":1.0}]}`},
		{&api.BatchWriteResponse{}, `{"UnprocessedItems":{}}`},
		{&api.BatchWriteResponse{Unprocessed: []api.BatchWriteTable{{Table: "t", Writes: []api.BatchWrite{{Item: key}, {Key: key}}}}, Metrics: []api.TableMetrics{{Table: "t", Collections: []api.ItemCollectionMetrics{{Key: key}}}}},
			`{"UnprocessedItems":{"t":[{"PutRequest":{"Item":{"pk":{"S":"a"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"a"}}}}]},` +
				`"ItemCollectionMetrics":{"t":[{"ItemCollectionKey":{"pk":{"S":"a"}},"SizeEstimateRangeGB":[0.0,1.0]}]}}`},
		{&api.TransactGetResponse{Items: []attribute.Encoded{e, nil}}, `{"Responses":[{"Item":` + invoice + `},{}]}`},
		{&api.TransactWriteResponse{Capacity: []api.ConsumedCapacity{{Table: "t", Units: 4, Display: api.DisplayWrite}}},
			`{"ConsumedCapacity":[{"TableName":"t","CapacityUnits":2.0,"WriteCapacityUnits":2.0}]}`},
		{&api.TablesResponse{Names: []string{"a", "b"}, Last: "b"}, `{"TableNames":["a","b"],"LastEvaluatedTableName":"b"}`},
		{&api.TablesResponse{}, `{"TableNames":[]}`},
		{&api.TagsResponse{Tags: []schema.Tag{{Key: "k", Value: `v"`}}, Next: "n"}, `{"Tags":[{"Key":"k","Value":"v\""}],"NextToken":"n"}`},
		{&api.TimeToLiveResponse{TimeToLive: schema.TimeToLive{Enabled: true, Attribute: "ttl"}}, `{"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"ttl"}}`},
		{&api.TimeToLiveResponse{}, `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`},
		{&api.TimeToLiveResponse{Updated: true, TimeToLive: schema.TimeToLive{Attribute: "ttl"}}, `{"TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":false}}`},
		{&api.LimitsResponse{AccountRead: 1, AccountWrite: 2, TableRead: 3, TableWrite: 4},
			`{"AccountMaxReadCapacityUnits":1,"AccountMaxWriteCapacityUnits":2,"TableMaxReadCapacityUnits":3,"TableMaxWriteCapacityUnits":4}`},
		{&api.EndpointsResponse{Address: "localhost:8000"}, `{"Endpoints":[{"Address":"localhost:8000","CachePeriodInMinutes":1440}]}`},
		{api.Empty{}, ``},
		{&api.TableResponse{Table: table, Size: size}, `{"TableDescription":{"TableName":"t","TableStatus":"ACTIVE","TableArn":"arn:t","TableId":"id","CreationDateTime":1234567890.123,` +
			`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}],` +
			`"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],` +
			`"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0},` +
			`"BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":1.000},` +
			`"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000,"Status":"ACTIVE"},"TableSizeBytes":100,"ItemCount":3,` +
			`"LocalSecondaryIndexes":[{"IndexName":"local","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}],` +
			`"Projection":{"ProjectionType":"KEYS_ONLY"},"IndexArn":"arn:t/index/local","IndexSizeBytes":0,"ItemCount":0}],` +
			`"GlobalSecondaryIndexes":[{"IndexName":"i","KeySchema":[{"AttributeName":"n","KeyType":"HASH"},{"AttributeName":"pk","KeyType":"HASH"}],` +
			`"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x"]},"IndexArn":"arn:t/index/i","IndexSizeBytes":10,"ItemCount":1,` +
			`"IndexStatus":"CREATING","Backfilling":false,"ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0},` +
			`"OnDemandThroughput":{"MaxReadRequestUnits":5,"MaxWriteRequestUnits":-1}}],` +
			`"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},"LatestStreamLabel":"label","LatestStreamArn":"arn:t/stream/label",` +
			`"SSEDescription":{"Status":"ENABLED","SSEType":"KMS"},"TableClassSummary":{"TableClass":"STANDARD"},"DeletionProtectionEnabled":true}}`},
	} {
		got := string(c.r.AppendJSON(nil))
		if got != c.want {
			t.Errorf("%T:\n got %s\nwant %s", c.r, got, c.want)
		}
		if got != "" && !json.Valid([]byte(got)) {
			t.Errorf("%T: %s is no JSON", c.r, got)
		}
	}
}

func TestCapacityUnits(t *testing.T) {
	for _, c := range []struct {
		got  api.Units
		want float64
	}{
		{api.ReadUnits(0, true), 1}, {api.ReadUnits(0, false), 0.5}, {api.ReadUnits(4096, true), 1}, {api.ReadUnits(4097, true), 2}, {api.ReadUnits(4097, false), 1},
		{api.WriteUnits(0, 1), 1}, {api.WriteUnits(0, 1024), 1}, {api.WriteUnits(0, 1025), 2}, {api.WriteUnits(5000, 10), 5}, {api.WriteUnits(0, 0), 1},
		{api.WriteUnits(0, 10).Transactional(), 2}, {api.ReadUnits(10, true).Transactional(), 2},
	} {
		if c.got.Float() != c.want {
			t.Errorf("%v units, want %v", c.got.Float(), c.want)
		}
	}
	sum := api.ConsumedCapacity{Units: 2, Base: 2}
	sum.Add(&api.ConsumedCapacity{Units: 3, Base: 1, Global: []api.IndexCapacity{{Index: "i", Units: 2}}})
	sum.Add(&api.ConsumedCapacity{Units: 1, Global: []api.IndexCapacity{{Index: "j", Units: 1}, {Index: "i", Units: 1}}})
	if got := fmt.Sprint(sum.Units, sum.Base, sum.Global); got != "6 3 [{i 3} {j 1}]" {
		t.Error(got)
	}
}

func BenchmarkPutItem(b *testing.B) {
	body := []byte(`{"TableName":"InvoiceTransaction","Item":{"InvoiceNumber":{"S":"121212"},"ClientTransactionid":{"S":"Client1_1"},"amount":{"N":"25.5"},"note":{"S":"` +
		strings.Repeat("x", 900) + `"}},"ConditionExpression":"attribute_not_exists(InvoiceNumber)","ReturnConsumedCapacity":"TOTAL"}`)
	var d api.Decoder
	b.ReportAllocs()
	for b.Loop() {
		d.Reset()
		var q api.PutItem
		if err := q.Decode(&d, body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGetItem(b *testing.B) {
	body := []byte(`{"TableName":"InvoiceTransaction","Key":{"InvoiceNumber":{"S":"121212"},"ClientTransactionid":{"S":"Client1_1"}},"ConsistentRead":true}`)
	var d api.Decoder
	b.ReportAllocs()
	for b.Loop() {
		d.Reset()
		var q api.GetItem
		if err := q.Decode(&d, body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkItemsResponse(b *testing.B) {
	r := api.ItemsResponse{Count: 100, ScannedCount: 100}
	for range 100 {
		r.Items = append(r.Items, attribute.Encoded(invoice))
	}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = r.AppendJSON(dst[:0])
	}
}

// Decoding a GetItem and a PutItem allocates nothing but the parsed expression.
func TestDecodingDoesNotAllocate(t *testing.T) {
	var d api.Decoder
	var get api.GetItem
	var put api.PutItem
	for body, q := range map[string]api.Request{
		`{"TableName":"abc","Key":{"a":{"S":"x"},"b":{"N":"5"}},"ConsistentRead":true,"ReturnConsumedCapacity":"TOTAL"}`: &get,
		`{"TableName":"abc","Item":{"a":{"S":"x"},"b":{"N":"5"},"m":{"M":{"x":{"L":[{"S":"y"}]}}}}}`:                     &put,
	} {
		src := []byte(body)
		step := func() {
			d.Reset()
			if err := q.Decode(&d, src); err != nil {
				t.Fatal(err)
			}
		}
		step()
		if n := testing.AllocsPerRun(100, step); n > 1 {
			t.Errorf("%v allocations to decode %s", n, body)
		}
	}
}
