// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkQuery reads pages of a partition key with items of 1 KB: from a plain table, and from 1,
// 5 and 50 shards.
func BenchmarkQuery(b *testing.B) {
	for _, n := range []int{0, 1, 5, 50} {
		s := start(b, 1)
		text := create(n)
		if n == 0 {
			text = strings.Replace(create(1), `"Tags"`, `"Nothing"`, 1)
		}
		must(b, s, "CreateTable", text)
		fill(b, s, 2000, strings.Repeat("A line of an invoice. ", 43))
		for _, limit := range []int{10, 100} {
			b.Run(fmt.Sprintf("shards=%d/limit=%d", n, limit), func(b *testing.B) {
				body := fmt.Appendf(nil, `{"TableName":"Tab","Limit":%d,"KeyConditionExpression":"h = :h AND r >= :r","ExpressionAttributeValues":{":h":{"S":"121212"},":r":{"S":"Client0100"}}}`, limit)
				var dst []byte
				b.ReportAllocs()
				for b.Loop() {
					var err error
					if dst, err = s.Do(context.Background(), "Query", body, dst[:0]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkNewest reads the newest hundred items of a partition key: from a plain table that has no
// others, and from one of 10,000 buckets of time with ten items or a hundred each.
func BenchmarkNewest(b *testing.B) {
	for _, c := range []struct{ buckets, items int }{{0, 100}, {10_000, 10}, {10_000, 100}} {
		s := start(b, 1)
		text := strings.Replace(timedTable("S", "bucket=1h"), `"Tags"`, `"Nothing"`, 1)
		if c.buckets > 0 {
			text = timedTable("S", "bucket=1h")
		}
		must(b, s, "CreateTable", text)
		for bucket := range max(1, c.buckets) {
			var puts []string
			for i := range c.items {
				puts = append(puts, fmt.Sprintf(`{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"%s#%03d"},"x":{"S":"a line of a log"}}}}`, at(bucket), i))
				if len(puts) == 25 || i == c.items-1 {
					must(b, s, "BatchWriteItem", `{"RequestItems":{"Tab":[`+strings.Join(puts, ",")+`]}}`)
					puts = nil
				}
			}
		}
		b.Run(fmt.Sprintf("buckets=%d/items=%d", c.buckets, c.items), func(b *testing.B) {
			body := []byte(strings.TrimSuffix(wholeKey, "}") + `,"ScanIndexForward":false,"Limit":100}`)
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if dst, err = s.Do(context.Background(), "Query", body, dst[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
