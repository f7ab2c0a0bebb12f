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
