// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// A read of a global index returns a past state. Reads of the table and its local indexes return
// the current state.
func TestIndexLag(t *testing.T) {
	c := new(testClock)
	s := start(t, Options{IndexLag: time.Hour, Clock: c.now}) // the test itself takes the views
	s.must(t, "CreateTable", strings.Replace(onDemand(throttleIndex+`,"LocalSecondaryIndexes":[{"IndexName":"loc","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"c","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]`),
		`[{"AttributeName":"h"`, `[{"AttributeName":"c","AttributeType":"S"},{"AttributeName":"h"`, 1))
	half := func() {
		c.pass(30 * time.Minute)
		s.lag.take(s.space.Pebble)
	}
	count := func(index string) int {
		q := `{"TableName":"Tab","IndexName":"by-c","KeyConditionExpression":"c = :v","ExpressionAttributeValues":{":v":{"S":"USA"}}}`
		switch index {
		case "":
			q = `{"TableName":"Tab","KeyConditionExpression":"h = :v","ExpressionAttributeValues":{":v":{"S":"a"}}}`
		case "loc":
			q = `{"TableName":"Tab","IndexName":"loc","KeyConditionExpression":"h = :v","ExpressionAttributeValues":{":v":{"S":"a"}}}`
		case "scan":
			q = `{"TableName":"Tab","IndexName":"by-c"}`
			return len(s.must(t, "Scan", q)["Items"].([]any))
		}
		return len(s.must(t, "Query", q)["Items"].([]any))
	}
	half()
	half()
	for i := 1; i <= 5; i++ {
		s.must(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"%d"},"c":{"S":"USA"}}}`, i))
		// An item becomes visible with the third view of the index that is taken after it.
		if table, local, global, scan := count(""), count("loc"), count("by-c"), count("scan"); table != i || local != i || global != max(0, i-3) || scan != global {
			t.Errorf("after %d items the table has %d, the local index %d, the global one %d and %d", i, table, local, global, scan)
		}
		half()
	}
	for range 3 {
		half()
	}
	if got := count("by-c"); got != 5 {
		t.Errorf("in the end the index has %d", got)
	}
	if n := len(s.lag.views); n > 4 {
		t.Errorf("%d views are kept", n)
	}
}

// With the clock of the machine: a read soon after the write is stale, and a read after the lag is
// not. Close releases everything even if others have read.
func TestIndexLagPasses(t *testing.T) {
	const by = 100 * time.Millisecond
	s := start(t, Options{IndexLag: by})
	s.must(t, "CreateTable", strings.Replace(onDemand(throttleIndex), `[{"AttributeName":"h"`, `[{"AttributeName":"c","AttributeType":"S"},{"AttributeName":"h"`, 1))
	const query = `{"TableName":"Tab","IndexName":"by-c","KeyConditionExpression":"c = :v","ExpressionAttributeValues":{":v":{"S":"USA"}}}`
	var running sync.WaitGroup
	for range 3 {
		running.Go(func() {
			for range 200 {
				s.try(t, "Query", query)
				time.Sleep(time.Millisecond)
			}
		})
	}
	before := time.Now()
	s.must(t, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"b"},"c":{"S":"USA"}}}`)
	await(t, "the index has the item", func() bool {
		there := len(s.must(t, "Query", query)["Items"].([]any)) == 1
		at := time.Since(before)
		if there && at < by {
			t.Fatalf("it has it after %s", at)
		}
		return there
	})
	running.Wait()
}
