// SPDX-License-Identifier: Apache-2.0

package main

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// queries compares reads of the first items of an invoice through the SDK: from one partition, from
// shards by hand, and from evenkeel's shards.
func (b *bench) queries(ctx context.Context) error {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 2 * layouts[len(layouts)-1] // shards by hand are read concurrently
	client := dynamodb.New(dynamodb.Options{
		HTTPClient: &http.Client{Transport: bodies{transport}},
		Region:     "us-east-1", BaseEndpoint: aws.String("http://" + b.embedded.Addr), Credentials: credentials.NewStaticCredentialsProvider("bench", "bench", ""),
	})
	for _, limit := range []int{10, 100} {
		ways := []way{{"one partition", func(i int) (int, error) { return first(ctx, client, tableOf(0), hot, start(i), limit) }}}
		for _, n := range layouts[2:] {
			hand := &byHand{client, byHandOf(n), n}
			ways = append(ways,
				way{fmt.Sprintf("by hand, N = %d", n), func(i int) (int, error) { return hand.first(ctx, start(i), limit) }},
				way{fmt.Sprintf("evenkeel, N = %d", n), func(i int) (int, error) { return first(ctx, client, tableOf(n), hot, start(i), limit) }})
		}
		if err := b.ways(ctx, limit, ways); err != nil {
			return err
		}
	}
	return nil
}

// bodies hides that the SDK's request bodies have a WriteTo. Once the answer is there, the SDK
// closes the body. When the transport then checks that it has sent everything, WriteTo returns an
// end that the transport takes for a failure. The transport closes the connection, and the SDK
// retries after a second. With a server as close as this one, that happens for one request in
// fifty.
type bodies struct{ http.RoundTripper }

func (b bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return b.RoundTripper.RoundTrip(r)
}

// way is one way to read the first items from the i-th place on. It returns their number.
type way struct {
	name string
	read func(i int) (int, error)
}

func start(i int) string { return fmt.Sprintf("Client%03d", i*7919%250) }

// ways measures each way in interleaved rounds, one read at a time.
func (b *bench) ways(ctx context.Context, limit int, ways []way) error {
	what := fmt.Sprintf("Query of %d items through the SDK, one at a time", limit)
	measure.Progress("%s", what)
	samples, err := measure.Rounds(ctx, b.rounds, len(ways), func(i int) (s measure.Sample, err error) {
		w := ways[i]
		server, own, begin := measure.CPU(b.embedded.PID), measure.CPU(os.Getpid()), time.Now()
		for time.Since(begin) < b.length {
			began := time.Now()
			n, err := w.read(s.Requests)
			if err != nil {
				return s, fmt.Errorf("%s: %w", w.name, err)
			}
			if n != limit {
				return s, fmt.Errorf("%s: %d items came, not %d", w.name, n, limit)
			}
			s.Requests++
			s.Latencies = append(s.Latencies, time.Since(began))
		}
		s.Wall = time.Since(begin)
		s.CPU, s.Client = measure.CPU(b.embedded.PID)-server, measure.CPU(os.Getpid())-own
		return s, nil
	})
	if err != nil {
		return err
	}
	for i, w := range ways {
		b.report.add(what, w.name, samples[i])
	}
	return nil
}

// first reads the first items of a key as an application does.
func first(ctx context.Context, client *dynamodb.Client, table, key, from string, limit int) (int, error) {
	items, err := read(ctx, client, table, key, from, limit)
	return len(items), err
}

func read(ctx context.Context, client *dynamodb.Client, table, key, from string, limit int) ([]map[string]types.AttributeValue, error) {
	out, err := client.Query(ctx, &dynamodb.QueryInput{
		TableName: &table, Limit: aws.Int32(int32(limit)), KeyConditionExpression: aws.String("InvoiceNumber = :k AND ClientTransactionid >= :c"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":k": &types.AttributeValueMemberS{Value: key}, ":c": &types.AttributeValueMemberS{Value: from},
		},
	})
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}

// byHand is the scatter-gather that the documentation tells applications to write, in a good
// version: it reads all suffixes concurrently, at most as many items of each as the answer has, and
// merges them with a heap.
type byHand struct {
	client *dynamodb.Client
	table  string
	shards int
}

func (h *byHand) first(ctx context.Context, from string, limit int) (int, error) {
	parts := make(queue, h.shards)
	errs := make([]error, h.shards)
	var wg sync.WaitGroup
	for i := range h.shards {
		wg.Go(func() {
			parts[i], errs[i] = read(ctx, h.client, h.table, fmt.Sprintf("%s-%d", hot, i+1), from, limit)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	var merged []map[string]types.AttributeValue
	heap.Init(&parts)
	for len(merged) < limit && len(parts[0]) > 0 {
		merged = append(merged, parts[0][0])
		parts[0] = parts[0][1:]
		heap.Fix(&parts, 0)
	}
	return len(merged), nil
}

// queue orders runs of items by their first item, with empty runs last.
type queue [][]map[string]types.AttributeValue

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return len(q[i]) > 0 && (len(q[j]) == 0 || sortOf(q[i][0]) < sortOf(q[j][0]))
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(any)     {}
func (q *queue) Pop() any     { return nil }

func sortOf(item map[string]types.AttributeValue) string {
	return item["ClientTransactionid"].(*types.AttributeValueMemberS).Value
}
