// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// If a table has a local index, each partition key of the table stays in one partition, however hot
// it is. This does not hold for the partition keys of a global index of the same table.
func TestLocalIndexesKeepKeysTogether(t *testing.T) {
	s, clock := limited(t, throughput.Limits{SplitAfter: 5 * time.Second})
	table := strings.Replace(onDemand(`,"LocalSecondaryIndexes":[{"IndexName":"loc","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"c","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
		"GlobalSecondaryIndexes":[{"IndexName":"by-c","KeySchema":[{"AttributeName":"c","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]`),
		`[{"AttributeName":"h"`, `[{"AttributeName":"c","AttributeType":"S"},{"AttributeName":"h"`, 1)
	scattered := func(i int) string { return fmt.Sprintf("%05d", i*7919%100_003) }
	shape := func() (table, index int) {
		return len(partitions(t, s, "").Partitions), len(partitions(t, s, "by-c").Partitions)
	}

	s.must(t, "CreateTable", table)
	before, _ := shape()
	offer(t, s, clock, 8, 2000, func(i int) string {
		return fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"hot"},"r":{"S":"%s"},"c":{"S":"c%d"}}}`, scattered(i), i)
	})
	if after, _ := shape(); after > before+2 { // splits on both sides of the key, but not within it
		t.Errorf("one hot partition key has split %d partitions to %d", before, after)
	}
	last := offer(t, s, clock, 1, 2000, func(i int) string {
		return fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"hot"},"r":{"S":"%s"},"c":{"S":"c%d"}}}`, scattered(50_000+i), i)
	})
	if last[0].taken > 600 { // each write takes two units: the item's and the local entry's
		t.Errorf("one partition key takes %d writes a second", last[0].taken)
	}

	s.must(t, "DeleteTable", `{"TableName":"Tab"}`)
	s.must(t, "CreateTable", table)
	_, before = shape()
	offer(t, s, clock, 8, 1500, func(i int) string {
		return fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"h%d"},"r":{"S":"%s"},"c":{"S":"USA"}}}`, i, scattered(i))
	})
	if _, after := shape(); after == before {
		t.Errorf("a hot key of a global index, whose sort keys are scattered, has split nothing: %d partitions", after)
	}
}

// The size of a partition key is bounded only in a table with a local index.
func TestCollectionsWithoutLocalIndexesGrow(t *testing.T) {
	s, _ := limited(t, throughput.Limits{CollectionBytes: 10_000})
	s.must(t, "CreateTable", onDemand(""))
	for i := range 5 {
		s.must(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%d"},"x":{"S":"%s"}}}`, i, strings.Repeat("x", 12_000)))
	}
}

// A throttled action of a transaction on a provisioned table has its own code. The transaction
// writes nothing.
func TestThrottledTransactionsOfProvisionedTables(t *testing.T) {
	s, _ := limited(t, throughput.Limits{})
	s.must(t, "CreateTable", strings.Replace(onDemand(""), `"BillingMode":"PAY_PER_REQUEST"`, `"ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5}`, 1))
	s.must(t, "CreateTable", strings.Replace(onDemand(""), `"Tab"`, `"Other"`, 1))
	for i := 0; ; i++ {
		if _, err := s.do("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%d"}}}`, i)); err != nil {
			break
		}
	}
	e := s.fails(t, exception.TransactionCanceled, "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Other","Item":{"h":{"S":"b"},"r":{"S":"1"}}}},{"Put":{"TableName":"Tab","Item":{"h":{"S":"b"},"r":{"S":"1"}}}}]}`)
	if !strings.HasSuffix(e.Message, "[None, ProvisionedThroughputExceeded]") || e.Reasons[1].Message != textProvisioned {
		t.Errorf("%s %+v", e.Message, e.Reasons)
	}
	if m := s.must(t, "GetItem", `{"TableName":"Other","Key":{"h":{"S":"b"},"r":{"S":"1"}}}`); m["Item"] != nil {
		t.Error("half of the transaction is there")
	}
}

// A page that reads from several partitions is charged to each of them.
func TestPagesAreDividedAmongPartitions(t *testing.T) {
	s, _ := limited(t, throughput.Limits{})
	s.must(t, "CreateTable", onDemand(""))
	for i := range 64 {
		s.must(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"%d"},"r":{"S":"r"},"x":{"S":"%s"}}}`, i, strings.Repeat("x", 4000)))
	}
	c := s.must(t, "Scan", `{"TableName":"Tab","Select":"COUNT","ReturnConsumedCapacity":"TOTAL"}`)["ConsumedCapacity"].(map[string]any)
	sum := 0.0
	all := partitions(t, s, "").Partitions
	for _, p := range all {
		if sum += p.Read.UnitsTotal; p.Read.UnitsTotal == 0 {
			t.Errorf("partition %d has paid nothing", p.Number)
		}
	}
	if took := c["CapacityUnits"].(float64); len(all) != 4 || sum < took-0.01 || sum > took+0.01 {
		t.Errorf("%d partitions have paid %.2f of %.2f units", len(all), sum, took)
	}
}

// The read units of a partition (3,000 a second; here a tenth) allow as many strongly consistent
// reads of one key with 4 KB, twice as many eventually consistent reads, and half as many reads in
// transactions.
func TestReadsOfOneKey(t *testing.T) {
	const (
		item  = `{"TableName":"Tab","Key":{"h":{"S":"hot"},"r":{"S":"1"}}`
		query = `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"hot"}}`
	)
	for _, c := range []struct {
		operation, body string
		want            float64
	}{
		{"GetItem", item + `}`, 600},
		{"GetItem", item + `,"ConsistentRead":true}`, 300},
		{"Query", query + `}`, 600},
		{"Query", query + `,"ConsistentRead":true}`, 300},
		{"TransactGetItems", `{"TransactItems":[{"Get":` + item + `}}]}`, 150},
	} {
		s, clock := limited(t, throughput.Limits{Partition: throughput.Rate{Read: 300}, SplitAfter: -1})
		s.must(t, "CreateTable", onDemand(""))
		s.must(t, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"hot"},"r":{"S":"1"},"v":{"S":"`+strings.Repeat("x", 4000)+`"}}}`)
		const rate, stock, seconds = 1200, 1, 2
		taken := 0
		for i := range (stock + seconds) * rate { // the units of one second are saved up
			if _, err := s.do(c.operation, c.body); err == nil && i >= stock*rate {
				taken++
			}
			clock.pass(time.Second / rate)
		}
		within(t, c.operation+" "+c.body, float64(taken)/seconds, c.want, 0.01)
	}
}
