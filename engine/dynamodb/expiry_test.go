// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"fmt"
	"testing"
	"time"
)

func TestExpiry(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := start(t, Options{Clock: func() time.Time { return now }})
	s.must(t, "CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}],
		"GlobalSecondaryIndexes":[{"IndexName":"byg","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`)
	at := func(d time.Duration) string { return fmt.Sprintf(`{"N":"%d"}`, now.Add(d).Unix()) }
	put := func(k, until string) {
		s.must(t, "PutItem", `{"TableName":"Tab","Item":{"k":{"S":"`+k+`"},"g":{"S":"x"},"expires":`+until+`}}`)
	}
	put("before", at(time.Hour)) // exists when Time to Live is enabled
	s.must(t, "UpdateTimeToLive", `{"TableName":"Tab","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"expires"}}`)
	if m := s.must(t, "DescribeTimeToLive", `{"TableName":"Tab"}`); fmt.Sprint(dig(m, "TimeToLiveDescription", "TimeToLiveStatus")) != "ENABLED" {
		t.Errorf("%v", m)
	}
	await(t, "the expiry times are known", func() bool { return !s.tables.lookup("Tab").shape.Load().filling() })
	put("soon", at(time.Minute))
	put("later", at(3*time.Hour))
	put("moved", at(time.Minute))
	s.must(t, "UpdateItem", `{"TableName":"Tab","Key":{"k":{"S":"moved"}},"UpdateExpression":"SET expires = :u","ExpressionAttributeValues":{":u":`+at(3*time.Hour)+`}}`)
	put("unset", at(time.Minute))
	s.must(t, "UpdateItem", `{"TableName":"Tab","Key":{"k":{"S":"unset"}},"UpdateExpression":"REMOVE expires"}`)
	put("text", `{"S":"1"}`)
	put("ancient", at(-6*365*24*time.Hour)) // too old: the number may be in another unit
	put("fraction", fmt.Sprintf(`{"N":"%d.5"}`, now.Add(time.Minute).Unix()))
	all := func() map[string]bool {
		found := map[string]bool{}
		for _, from := range []string{`{"TableName":"Tab"}`, `{"TableName":"Tab","IndexName":"byg"}`} {
			n := 0
			for _, it := range s.must(t, "Scan", from)["Items"].([]any) {
				found[fmt.Sprint(dig(it, "k", "S"))] = true
				n++
			}
			if n != len(found) {
				t.Errorf("the index has %d of %v", n, found)
			}
		}
		return found
	}
	now = now.Add(2 * time.Hour)
	if got := all(); len(got) != 8 {
		t.Errorf("before the sweep expired items are readable, but there are %v", got)
	}
	if err := s.sweeper.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(all()); got != "map[ancient:true later:true moved:true text:true unset:true]" {
		t.Errorf("after the sweep there are %v", got)
	}
	s.must(t, "UpdateTimeToLive", `{"TableName":"Tab","TimeToLiveSpecification":{"Enabled":false,"AttributeName":"expires"}}`)
	now = now.Add(2 * time.Hour)
	if err := s.sweeper.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := all(); len(got) != 5 {
		t.Errorf("without Time to Live there are %v", got)
	}
}
