// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/evenkeel/evenkeel/dynamodoor"
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

// BenchmarkNewest reads the newest 100 items of a partition key from three tables in turn. The plain table
// has only these 100 items. The other two tables have 10,000 buckets of time. In one, the newest bucket has
// the 100 items. In the other, each of the newest ten buckets has ten. The benchmark divides the median time
// of each table by that of the plain table, and reports the ratio: once for calls within the process, and once for
// the AWS SDK for Go over a connection, as clients read.
//
//	go test ./dynamodoor/run -run '^$' -bench Newest
func BenchmarkNewest(b *testing.B) {
	const buckets, newest = 10_000, 100
	s := start(b, 1)
	tables := []string{"plain", "one", "ten"}
	for _, table := range tables {
		text := strings.Replace(timedTable("S", "bucket=1h"), `"Tab"`, `"`+table+`"`, 1)
		if table == "plain" {
			text = strings.Replace(text, `"Tags"`, `"Nothing"`, 1)
		}
		must(b, s, "CreateTable", text)
	}
	put := func(table string, bucket, item int) string {
		return fmt.Sprintf(`{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"%s#%03d"},"x":{"S":"a line of a log"}}}}`, at(bucket), item)
	}
	puts := map[string][]string{}
	for i := range buckets {
		for _, table := range tables[1:] {
			puts[table] = append(puts[table], put(table, i, 0))
		}
	}
	for i := range newest {
		puts["plain"] = append(puts["plain"], put("plain", buckets, i))
		puts["one"] = append(puts["one"], put("one", buckets, i))
		puts["ten"] = append(puts["ten"], put("ten", buckets+i/10, i))
	}
	for _, table := range tables {
		for some := range slices.Chunk(puts[table], 25) {
			must(b, s, "BatchWriteItem", `{"RequestItems":{"`+table+`":[`+strings.Join(some, ",")+`]}}`)
		}
	}
	var dst []byte
	inside := func(b *testing.B, table string) {
		body := []byte(strings.Replace(strings.TrimSuffix(wholeKey, "}")+`,"ScanIndexForward":false,"Limit":100}`, `"Tab"`, `"`+table+`"`, 1))
		var err error
		if dst, err = s.Do(context.Background(), "Query", body, dst[:0]); err != nil {
			b.Fatal(err)
		}
	}
	for _, table := range tables {
		b.Run(table, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				inside(b, table)
			}
		})
	}
	client := sdkClient(b, s)
	bySDK := func(b *testing.B, table string) {
		out, err := client.Query(context.Background(), &awsdynamodb.QueryInput{TableName: &table, KeyConditionExpression: aws.String("h = :h"), ScanIndexForward: aws.Bool(false), Limit: aws.Int32(newest),
			ExpressionAttributeValues: map[string]types.AttributeValue{":h": &types.AttributeValueMemberS{Value: "a"}}})
		if err != nil || len(out.Items) != newest {
			b.Fatal(out, err)
		}
	}
	for name, read := range map[string]func(*testing.B, string){"in turn": inside, "in turn by the SDK": bySDK} {
		b.Run(name, func(b *testing.B) {
			took := map[string][]time.Duration{}
			for b.Loop() {
				for _, table := range tables {
					from := time.Now()
					read(b, table)
					took[table] = append(took[table], time.Since(from))
				}
			}
			median := func(table string) float64 {
				slices.Sort(took[table])
				return float64(took[table][len(took[table])/2])
			}
			for _, table := range tables[1:] {
				b.ReportMetric(median(table)/median("plain"), table+"/plain")
			}
		})
	}
}

// sdkClient returns a client of a door on a port of this machine.
func sdkClient(b *testing.B, s dynamodoor.Store) *awsdynamodb.Client {
	door, err := dynamodoor.New(dynamodoor.Options{Store: s})
	if err != nil {
		b.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- door.Serve(ln) }()
	b.Cleanup(func() {
		if err := errors.Join(door.Shutdown(context.Background()), <-ended); err != nil {
			b.Error(err)
		}
	})
	url := "http://" + ln.Addr().String()
	return awsdynamodb.New(awsdynamodb.Options{BaseEndpoint: &url, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", "")})
}
