// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// testClock is a clock that the test moves.
type testClock struct{ nanos atomic.Int64 }

func (c *testClock) now() time.Time {
	return time.Unix(1_767_225_600, 0).Add(time.Duration(c.nanos.Load()))
}

func (c *testClock) pass(d time.Duration) { c.nanos.Add(int64(d)) }

// limited returns a store with limits and with a clock that the test moves.
func limited(t testing.TB, l throughput.Limits) (*opened, *testClock) {
	t.Helper()
	c := new(testClock)
	return start(t, Options{Capacity: &l, Clock: c.now}), c
}

func onDemand(more string) string {
	return `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}]` + more + `}`
}

// offered is the number of accepted writes of one second, and that of refused ones by throttling
// reason.
type offered struct {
	taken   int
	refused map[string]int
}

// offer puts items at a rate, evenly in time.
func offer(t testing.TB, s *opened, c *testClock, seconds, rate int, body func(i int) string) []offered {
	t.Helper()
	all := make([]offered, seconds)
	for i := range seconds * rate {
		o := &all[i/rate]
		_, err := s.Do(context.Background(), "PutItem", []byte(body(i)), nil)
		if err == nil {
			o.taken++
		} else {
			var e *exception.Error
			if !errors.As(err, &e) || len(e.Throttling) == 0 {
				t.Fatal(err)
			}
			if o.refused == nil {
				o.refused = map[string]int{}
			}
			o.refused[e.Throttling[0].Reason]++
		}
		c.pass(time.Second / time.Duration(rate))
	}
	return all
}

func meanTaken(all []offered) float64 {
	n := 0
	for _, o := range all {
		n += o.taken
	}
	return float64(n) / float64(len(all))
}

func within(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("%s: %.0f, not %.0f ± %.0f%%", what, got, want, tolerance*100)
	}
}

func shardItem(i, shards int) string {
	return fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"121212-%d"},"r":{"S":"Client%06d"}}}`, i%shards+1, i)
}

func partitions(t testing.TB, s *opened, index string) *api.PartitionsResponse {
	t.Helper()
	q := `{"TableName":"Tab"}`
	if index != "" {
		q = `{"TableName":"Tab","IndexName":"` + index + `"}`
	}
	text, err := s.Do(context.Background(), "DescribePartitions", []byte(q), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := new(api.PartitionsResponse)
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Five shard keys, each in its own partition, take 5,000 writes a second. On a fresh table they
// take 1,000 for each partition that has a key, and the map shows which keys share a partition.
func TestShardKeys(t *testing.T) {
	const shards = 5
	for _, c := range []struct {
		name, more string
		own        bool
	}{{"pre-warmed", `,"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":40000}`, true}, {"fresh", "", false}} {
		t.Run(c.name, func(t *testing.T) {
			s, clock := limited(t, throughput.Limits{})
			s.must(t, "CreateTable", onDemand(c.more))
			all := offer(t, s, clock, 8, 8000, func(i int) string { return shardItem(i, shards) })
			occupied, together := 0, 0
			for _, p := range partitions(t, s, "").Partitions {
				if len(p.Keys) != p.KeyCount {
					t.Errorf("partition %d lists %d of %d keys", p.Number, len(p.Keys), p.KeyCount)
				}
				if len(p.Keys) == 0 {
					continue
				}
				occupied++
				if len(p.Keys) > 1 {
					together += len(p.Keys)
				}
				within(t, "units of a partition", p.Write.Units, 1000, 0.02)
				if k := string(p.Keys[0].Key); !strings.HasPrefix(k, `{"h":{"S":"121212-`) || p.Keys[0].Units == 0 {
					t.Errorf("the hottest key is %s, with %v units", k, p.Keys[0].Units)
				}
			}
			if c.own != (occupied == shards) || c.own != (together == 0) {
				t.Fatalf("%d partitions have a key, %d keys are together", occupied, together)
			}
			within(t, "writes a second", meanTaken(all[3:]), float64(occupied)*1000, 0.02)
			if all[7].refused["TableWriteKeyRangeThroughputExceeded"] == 0 || len(all[7].refused) != 1 {
				t.Errorf("refused: %v", all[7].refused)
			}
		})
	}
}

func TestTableSplitsForHeat(t *testing.T) {
	scattered := func(i int) string {
		return fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"121212"},"r":{"S":"%08x"}}}`, uint32(i)*2654435761)
	}
	increasing := func(i int) string {
		return fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"121212"},"r":{"S":"%08x"}}}`, i)
	}
	const local = `,"LocalSecondaryIndexes":[{"IndexName":"loc","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"v","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]`
	withLocal := strings.Replace(onDemand(local), `[{"AttributeName":"h"`, `[{"AttributeName":"v","AttributeType":"S"},{"AttributeName":"h"`, 1)
	for _, c := range []struct {
		name, table string
		body        func(int) string
		gains       bool
	}{{"scattered", onDemand(""), scattered, true}, {"increasing", onDemand(""), increasing, false}, {"local index", withLocal, scattered, false}} {
		t.Run(c.name, func(t *testing.T) {
			s, clock := limited(t, throughput.Limits{SplitAfter: 3 * time.Second})
			s.must(t, "CreateTable", c.table)
			all := offer(t, s, clock, 7, 3000, c.body)
			within(t, "before", meanTaken(all[1:3]), 1000, 0.3) // the units of one second were saved up
			want := 1000.0
			if c.gains {
				want = 2000
			}
			within(t, "after", meanTaken(all[4:6]), want, 0.02)
		})
	}
}

const throttleIndex = `,"GlobalSecondaryIndexes":[{"IndexName":"by-c","KeySchema":[{"AttributeName":"c","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]`

// A hot index throttles the writes to its table, with its own reason and name. An item that is not
// in the index is written.
func TestIndexBackPressure(t *testing.T) {
	s, clock := limited(t, throughput.Limits{})
	table := strings.Replace(onDemand(throttleIndex), `[{"AttributeName":"h"`, `[{"AttributeName":"c","AttributeType":"S"},{"AttributeName":"h"`, 1)
	s.must(t, "CreateTable", table)
	put := func(i int, c string) string {
		return fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"%d"},"r":{"S":"r"},"c":{"S":"%s"}}}`, i, c)
	}
	all := offer(t, s, clock, 4, 3000, func(i int) string { return put(i, "USA") })
	within(t, "writes a second", meanTaken(all[1:]), 1000, 0.02)
	if all[3].refused["IndexWriteKeyRangeThroughputExceeded"] == 0 || len(all[3].refused) != 1 {
		t.Errorf("refused: %v", all[3].refused)
	}
	for i := 100_000; ; i++ {
		if _, err := s.do("PutItem", put(i, "USA")); err != nil {
			break
		}
	}
	e := s.fails(t, exception.Throttling, "PutItem", put(99_999, "USA"))
	if len(e.Throttling) != 1 || !strings.HasSuffix(e.Throttling[0].Resource, ":table/Tab/index/by-c") || e.Message != textOnDemandIndex {
		t.Errorf("%+v", e)
	}
	s.must(t, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"x"},"r":{"S":"r"}}}`)
	s.fails(t, exception.Throttling, "DeleteItem", `{"TableName":"Tab","Key":{"h":{"S":"1"},"r":{"S":"r"}}}`)
	if m := s.must(t, "GetItem", `{"TableName":"Tab","Key":{"h":{"S":"1"},"r":{"S":"r"}}}`); m["Item"] == nil {
		t.Error("a refused deletion has deleted")
	}
	p := partitions(t, s, "by-c")
	hot := 0
	for _, p := range p.Partitions {
		if p.Write.ThrottledTotal > 0 {
			hot++
			if len(p.Keys) != 1 || string(p.Keys[0].Key) != `{"c":{"S":"USA"}}` {
				t.Errorf("%+v", p.Keys)
			}
		}
	}
	if hot != 1 || p.IndexName != "by-c" {
		t.Errorf("%d hot partitions", hot)
	}
}

// empty takes all units of the partition of a key, and more.
func empty(t testing.TB, s *opened, h string) {
	t.Helper()
	big := strings.Repeat("x", 390<<10)
	for {
		_, err := s.do("PutItem", `{"TableName":"Tab","Item":{"h":{"S":"`+h+`"},"r":{"S":"big"},"x":{"S":"`+big+`"}}}`)
		if err != nil {
			if !isThrottled(err) {
				t.Fatal(err)
			}
			return
		}
	}
}

// Each operation reports throttling in its own way.
func TestThrottledOperations(t *testing.T) {
	const hot, cold = "hot", "cold1"
	key := func(h string) string { return `{"h":{"S":"` + h + `"},"r":{"S":"r"}}` }
	begin := func(t *testing.T) (*opened, *testClock) {
		s, clock := limited(t, throughput.Limits{})
		s.must(t, "CreateTable", onDemand(`,"WarmThroughput":{"WriteUnitsPerSecond":40000}`))
		for _, h := range []string{hot, cold} {
			s.must(t, "PutItem", `{"TableName":"Tab","Item":`+key(h)+`}`)
		}
		empty(t, s, hot)
		// Reads of the same partition: 95 units a page of four large items, until no units are
		// left.
		for range 1000 {
			if _, err := s.do("GetItem", `{"TableName":"Tab","ConsistentRead":true,"Key":{"h":{"S":"hot"},"r":{"S":"big"}}}`); err != nil {
				return s, clock
			}
		}
		t.Fatal("reads are never throttled")
		return nil, nil
	}
	s, _ := begin(t)
	for operation, body := range map[string]string{
		"GetItem":        `{"TableName":"Tab","Key":` + key(hot) + `}`,
		"PutItem":        `{"TableName":"Tab","Item":` + key(hot) + `}`,
		"UpdateItem":     `{"TableName":"Tab","Key":` + key(hot) + `}`,
		"DeleteItem":     `{"TableName":"Tab","Key":` + key(hot) + `}`,
		"Query":          `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"hot"}}}`,
		"BatchGetItem":   `{"RequestItems":{"Tab":{"Keys":[` + key(hot) + `]}}}`,
		"BatchWriteItem": `{"RequestItems":{"Tab":[{"PutRequest":{"Item":` + key(hot) + `}},{"DeleteRequest":{"Key":{"h":{"S":"hot"},"r":{"S":"s"}}}}]}}`,
	} {
		e := s.fails(t, exception.Throttling, operation, body)
		op := "Write"
		if operation == "GetItem" || operation == "Query" || operation == "BatchGetItem" {
			op = "Read"
		}
		if len(e.Throttling) != 1 || e.Throttling[0].Reason != "Table"+op+"KeyRangeThroughputExceeded" || !strings.HasSuffix(e.Throttling[0].Resource, ":table/Tab") || e.Message != textOnDemand {
			t.Errorf("%s: %+v", operation, e)
		}
	}
	m := s.must(t, "BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":`+key(hot)+`}},{"PutRequest":{"Item":`+key(cold)+`}},{"DeleteRequest":{"Key":{"h":{"S":"hot"},"r":{"S":"s"}}}}]}}`)
	if got, want := jsonOf(t, m), `{"UnprocessedItems":{"Tab":[{"PutRequest":{"Item":`+key(hot)+`}},{"DeleteRequest":{"Key":{"h":{"S":"hot"},"r":{"S":"s"}}}}]}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	m = s.must(t, "BatchGetItem", `{"RequestItems":{"Tab":{"ConsistentRead":true,"Keys":[`+key(hot)+`,`+key(cold)+`]}}}`)
	if got, want := jsonOf(t, m), `{"Responses":{"Tab":[`+key(cold)+`]},"UnprocessedKeys":{"Tab":{"ConsistentRead":true,"Keys":[`+key(hot)+`]}}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for operation, body := range map[string]string{
		"TransactWriteItems": `{"TransactItems":[{"Put":{"TableName":"Tab","Item":{"h":{"S":"cold1"},"r":{"S":"new"}}}},{"Put":{"TableName":"Tab","Item":` + key(hot) + `}}]}`,
		"TransactGetItems":   `{"TransactItems":[{"Get":{"TableName":"Tab","Key":` + key(cold) + `}},{"Get":{"TableName":"Tab","Key":` + key(hot) + `}}]}`,
	} {
		e := s.fails(t, exception.TransactionCanceled, operation, body)
		if len(e.Reasons) != 2 || e.Reasons[0].Code != "None" || e.Reasons[1].Code != "ThrottlingError" || e.Reasons[1].Message != textOnDemand {
			t.Errorf("%s: %+v", operation, e.Reasons)
		}
	}
	if m := s.must(t, "GetItem", `{"TableName":"Tab","Key":{"h":{"S":"cold1"},"r":{"S":"new"}}}`); m["Item"] != nil {
		t.Error("a cancelled transaction has written")
	}
}

// The units that requests take from the model are those that they report as consumed.
func TestUnitsAreThoseConsumed(t *testing.T) {
	s, _ := limited(t, throughput.Limits{})
	table := strings.Replace(onDemand(throttleIndex+`,"LocalSecondaryIndexes":[{"IndexName":"loc","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"v","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]`),
		`[{"AttributeName":"h"`, `[{"AttributeName":"c","AttributeType":"S"},{"AttributeName":"v","AttributeType":"S"},{"AttributeName":"h"`, 1)
	s.must(t, "CreateTable", table)
	totals := func(index string) (read, write float64) {
		for _, p := range partitions(t, s, index).Partitions {
			read += p.Read.UnitsTotal
			write += p.Write.UnitsTotal
		}
		return read, write
	}
	const (
		at   = `"TableName":"Tab","ReturnConsumedCapacity":"INDEXES"`
		key  = `"Key":{"h":{"S":"a"},"r":{"S":"b"}}`
		many = `"ReturnConsumedCapacity":"INDEXES"`
	)
	big := strings.Repeat("x", 5000)
	for _, c := range []struct{ operation, body string }{
		{"PutItem", `{` + at + `,"Item":{"h":{"S":"a"},"r":{"S":"b"},"c":{"S":"USA"},"v":{"S":"1"},"x":{"S":"` + big + `"}}}`},
		{"PutItem", `{` + at + `,"Item":{"h":{"S":"a"},"r":{"S":"b"},"c":{"S":"USA"},"v":{"S":"1"}}}`}, // the replaced item counts
		{"UpdateItem", `{` + at + `,` + key + `,"UpdateExpression":"SET c = :c, v = :c","ExpressionAttributeValues":{":c":{"S":"CAN"}}}`},
		{"GetItem", `{` + at + `,` + key + `}`},
		{"GetItem", `{` + at + `,"ConsistentRead":true,` + key + `}`},
		{"Query", `{` + at + `,"KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}}`},
		{"Query", `{` + at + `,"IndexName":"by-c","KeyConditionExpression":"c = :h","ExpressionAttributeValues":{":h":{"S":"CAN"}}}`},
		{"Query", `{` + at + `,"IndexName":"loc","Select":"ALL_ATTRIBUTES","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}}`},
		{"Scan", `{` + at + `}`},
		{"BatchGetItem", `{` + many + `,"RequestItems":{"Tab":{"Keys":[{"h":{"S":"a"},"r":{"S":"b"}},{"h":{"S":"none"},"r":{"S":"b"}}]}}}`},
		{"BatchWriteItem", `{` + many + `,"RequestItems":{"Tab":[{"PutRequest":{"Item":{"h":{"S":"z"},"r":{"S":"b"},"c":{"S":"USA"}}}}]}}`},
		{"TransactGetItems", `{` + many + `,"TransactItems":[{"Get":{"TableName":"Tab",` + key + `}}]}`},
		{"TransactWriteItems", `{` + many + `,"TransactItems":[{"Put":{"TableName":"Tab","Item":{"h":{"S":"q"},"r":{"S":"b"},"c":{"S":"USA"}}}},{"ConditionCheck":{"TableName":"Tab",` + key + `,"ConditionExpression":"attribute_exists(h)"}}]}`},
		{"DeleteItem", `{` + at + `,` + key + `}`},
		{"DeleteItem", `{` + at + `,` + key + `}`}, // an item that does not exist takes one unit
	} {
		r0, w0 := totals("")
		ir0, iw0 := totals("by-c")
		m := s.must(t, c.operation, c.body)
		r1, w1 := totals("")
		ir1, iw1 := totals("by-c")
		cc, ok := m["ConsumedCapacity"].(map[string]any)
		if !ok {
			cc = m["ConsumedCapacity"].([]any)[0].(map[string]any)
		}
		sum := r1 - r0 + w1 - w0 + ir1 - ir0 + iw1 - iw0
		if got := cc["CapacityUnits"].(float64); got != sum {
			t.Errorf("%s says that it took %v units, and took %v", c.operation, got, sum)
		}
		of := 0.0
		if global, ok := cc["GlobalSecondaryIndexes"].(map[string]any); ok {
			of = global["by-c"].(map[string]any)["CapacityUnits"].(float64)
		}
		if got := ir1 - ir0 + iw1 - iw0; got != of {
			t.Errorf("%s says that the index took %v units, and it took %v", c.operation, of, got)
		}
	}
	_, w0 := totals("")
	s.fails(t, exception.ConditionalCheckFailed, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"z"},"r":{"S":"b"}},"ConditionExpression":"attribute_not_exists(h)"}`)
	if _, w1 := totals(""); w1-w0 != 1 {
		t.Errorf("a failed condition took %v units", w1-w0)
	}
}

func TestProvisionedAndMaximum(t *testing.T) {
	for _, c := range []struct {
		table string
		kind  exception.Kind
		want  float64
		why   string
		text  string
	}{
		{strings.Replace(onDemand(`,"ProvisionedThroughput":{"ReadCapacityUnits":10,"WriteCapacityUnits":50}`), "PAY_PER_REQUEST", "PROVISIONED", 1),
			exception.ProvisionedThroughputExceeded, 50, "TableWriteProvisionedThroughputExceeded", textProvisioned},
		{onDemand(`,"OnDemandThroughput":{"MaxReadRequestUnits":10,"MaxWriteRequestUnits":60}`), exception.Throttling, 60, "TableWriteMaxOnDemandThroughputExceeded", textMaximum},
	} {
		s, clock := limited(t, throughput.Limits{})
		s.must(t, "CreateTable", c.table)
		all := offer(t, s, clock, 5, 300, func(i int) string { return shardItem(i, 100) })
		within(t, "writes a second", meanTaken(all[2:]), c.want, 0.02)
		e := s.fails(t, c.kind, "PutItem", shardItem(0, 1))
		if e.Throttling[0].Reason != c.why || e.Message != c.text {
			t.Errorf("%+v", e)
		}
	}
	s, clock := limited(t, throughput.Limits{Account: throughput.Rate{Write: 100}})
	s.must(t, "CreateTable", onDemand(""))
	offer(t, s, clock, 2, 300, func(i int) string { return shardItem(i, 100) })
	if e := s.fails(t, exception.RequestLimitExceeded, "PutItem", shardItem(0, 1)); e.Throttling[0].Reason != "TableWriteAccountLimitExceeded" {
		t.Errorf("%+v", e)
	}
}

// UpdateTable raises and warms an existing table.
func TestUpdateTableWarms(t *testing.T) {
	s, _ := limited(t, throughput.Limits{})
	s.must(t, "CreateTable", strings.Replace(onDemand(`,"ProvisionedThroughput":{"ReadCapacityUnits":10,"WriteCapacityUnits":50}`), "PAY_PER_REQUEST", "PROVISIONED", 1))
	for _, c := range []struct {
		change string
		want   int
	}{{"", 1}, {`"BillingMode":"PAY_PER_REQUEST"`, 4}, {`"WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":9000}`, 9}} {
		if c.change != "" {
			s.must(t, "UpdateTable", `{"TableName":"Tab",`+c.change+`}`)
		}
		if got := partitions(t, s, ""); len(got.Partitions) != c.want {
			t.Errorf("%s: %d partitions", c.change, len(got.Partitions))
		}
	}
}

// The size of item collections is bounded in tables with a local index, and not in others.
func TestCollectionLimit(t *testing.T) {
	const local = `,"LocalSecondaryIndexes":[{"IndexName":"loc","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"v","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]`
	withLocal := strings.Replace(onDemand(local), `[{"AttributeName":"h"`, `[{"AttributeName":"v","AttributeType":"S"},{"AttributeName":"h"`, 1)
	s, _ := limited(t, throughput.Limits{CollectionBytes: 100_000})
	s.must(t, "CreateTable", withLocal)
	put := func(h string, r int) string {
		return fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"%s"},"r":{"S":"%d"},"v":{"S":"v"},"x":{"S":"%s"}}}`, h, r, strings.Repeat("x", 4990))
	}
	n := 0
	for ; ; n++ {
		if _, err := s.do("PutItem", put("a", n)); err != nil {
			if e := exception.Of(err); e.Kind != exception.ItemCollectionSizeLimitExceeded || e.Message != textCollection {
				t.Fatal(err)
			}
			break
		}
	}
	if n < 9 || n > 10 { // each item counts twice
		t.Errorf("%d items of 10,000 bytes", n)
	}
	s.must(t, "PutItem", put("b", 1))
	s.must(t, "PutItem", put("a", 0)) // not larger than before
	e := s.fails(t, exception.TransactionCanceled, "TransactWriteItems", `{"TransactItems":[{"Put":`+put("a", 99)+`}]}`)
	if e.Reasons[0].Code != "ItemCollectionSizeLimitExceeded" || e.Reasons[0].Message != textCollection {
		t.Errorf("%+v", e.Reasons)
	}
	s.fails(t, exception.ItemCollectionSizeLimitExceeded, "BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":`+strings.Replace(put("a", 99), `"TableName":"Tab",`, "", 1)+`}]}}`)
	s.must(t, "DeleteItem", `{"TableName":"Tab","Key":{"h":{"S":"a"},"r":{"S":"0"}}}`)
	s.must(t, "PutItem", put("a", 99))
}

func TestPartitionsOfWhatHasNone(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", onDemand(""))
	s.fails(t, exception.Validation, "DescribePartitions", `{"TableName":"Tab"}`)
	l, _ := limited(t, throughput.Limits{})
	l.must(t, "CreateTable", onDemand(""))
	l.fails(t, exception.ResourceNotFound, "DescribePartitions", `{"TableName":"Other"}`)
	l.fails(t, exception.ResourceNotFound, "DescribePartitions", `{"TableName":"Tab","IndexName":"none"}`)
}

func BenchmarkPut(b *testing.B) {
	for name, o := range map[string]Options{"unlimited": {}, "limited": {Capacity: &throughput.Limits{Partition: throughput.Rate{Read: 1e9, Write: 1e9}, Account: throughput.Rate{Read: -1, Write: -1}}}} {
		b.Run(name, func(b *testing.B) {
			s := start(b, o)
			s.must(b, "CreateTable", onDemand(""))
			body := []byte(`{"TableName":"Tab","Item":{"h":{"S":"121212"},"r":{"S":"Client1"},"x":{"S":"` + strings.Repeat("x", 1000) + `"}}}`)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Do(context.Background(), "PutItem", body, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Many concurrent clients take what the limits allow, and no more: all units taken belong to
// acknowledged writes.
func TestLimitsUnderConcurrency(t *testing.T) {
	s := start(t, Options{Capacity: &throughput.Limits{SplitAfter: 100 * time.Millisecond, Partition: throughput.Rate{Read: 100, Write: 100}}})
	s.must(t, "CreateTable", strings.Replace(onDemand(throttleIndex), `[{"AttributeName":"h"`, `[{"AttributeName":"c","AttributeType":"S"},{"AttributeName":"h"`, 1))
	var taken, refused atomic.Int64
	var running sync.WaitGroup
	for w := range 6 {
		running.Go(func() {
			for i := range 700 {
				_, err := s.do("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"121212"},"r":{"S":"%d-%d"},"c":{"S":"%d"}}}`, w, i, i%50))
				switch {
				case err == nil:
					taken.Add(1)
				case isThrottled(err):
					refused.Add(1)
				default:
					t.Error(err)
				}
				if i%100 == 0 {
					partitions(t, s, "")
					partitions(t, s, "by-c")
				}
			}
		})
	}
	running.Wait()
	for _, index := range []string{"", "by-c"} {
		units := 0.0
		for _, p := range partitions(t, s, index).Partitions {
			units += p.Write.UnitsTotal
		}
		if int64(units) != taken.Load() {
			t.Errorf("%q took %v units for %d writes", index, units, taken.Load())
		}
	}
	if taken.Load() < 100 || refused.Load() == 0 {
		t.Errorf("%d were taken, %d refused", taken.Load(), refused.Load())
	}
}

// A write of a batch that an index refuses does not happen, so it is in no stream.
func TestStreamsTellNothingOfThrottledWrites(t *testing.T) {
	s, _ := limited(t, throughput.Limits{})
	table := strings.Replace(onDemand(throttleIndex+`,"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}`),
		`[{"AttributeName":"h"`, `[{"AttributeName":"c","AttributeType":"S"},{"AttributeName":"h"`, 1)
	created := s.must(t, "CreateTable", table)
	arn := created["TableDescription"].(map[string]any)["LatestStreamArn"].(string)
	n := 0
	for ; ; n++ {
		if _, err := s.do("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"%d"},"r":{"S":"r"},"c":{"S":"USA"}}}`, n)); err != nil {
			break
		}
	}
	r := s.must(t, "BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{"h":{"S":"refused"},"r":{"S":"r"},"c":{"S":"USA"}}}},
		{"PutRequest":{"Item":{"h":{"S":"taken"},"r":{"S":"r"}}}},{"DeleteRequest":{"Key":{"h":{"S":"0"},"r":{"S":"r"}}}}]}}`)
	if left := jsonOf(t, r["UnprocessedItems"]); !strings.Contains(left, "refused") || strings.Contains(left, "taken") || !strings.Contains(left, `"S":"0"`) {
		t.Fatal(left)
	}
	all := everything(t, s, arn)
	if len(all) != n+1 || !strings.Contains(jsonOf(t, all[n]), "taken") {
		t.Errorf("%d records, of %d writes; the last: %s", len(all), n+1, jsonOf(t, all[len(all)-1]))
	}
}
