// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

const gatheredTable = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"N"}],
	"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}]}`

// gather returns a Gather of partitions p0, p1, … with the rest of a Query's body.
func gather(t testing.TB, partitions int, rest string) *api.Gather {
	t.Helper()
	q := new(api.Query)
	body := `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"p0"}}` + rest + `}`
	if err := q.Decode(new(api.Decoder), []byte(body)); err != nil {
		t.Fatal(err)
	}
	g := &api.Gather{Query: q}
	for i := range partitions {
		g.Partitions = append(g.Partitions, attribute.String(fmt.Sprintf("p%d", i)))
	}
	return g
}

// put puts an item with the sort key n into a partition.
func (o *opened) put(t testing.TB, partition, n, size int) {
	t.Helper()
	o.must(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"p%d"},"r":{"N":"%d"},"x":{"S":%q}}}`, partition, n, strings.Repeat("x", size)))
}

// TestGather checks a Gather's page against all items in order, however they are spread.
func TestGather(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := start(t)
		s.must(t, "CreateTable", gatheredTable)
		partitions := rapid.IntRange(1, 12).Draw(rt, "partitions")
		size := rapid.SampledFrom([]int{0, 0, 0, 60_000}).Draw(rt, "size")
		spread := rapid.SampledFrom([]string{"drawn", "ascending", "descending", "one"}).Draw(rt, "spread")
		count := rapid.IntRange(0, 120).Draw(rt, "count")
		for n := range count {
			switch p := 0; spread {
			case "drawn":
				s.put(t, rapid.IntRange(0, partitions-1).Draw(rt, "partition"), n, size)
			case "ascending":
				p = n * partitions / count
				s.put(t, p, n, size)
			case "descending":
				p = partitions - 1 - n*partitions/count
				s.put(t, p, n, size)
			default:
				s.put(t, p, n, size)
			}
		}
		limit := rapid.SampledFrom([]int{0, 1, 2, 10, 50, 500}).Draw(rt, "limit")
		rest, backward := "", rapid.Bool().Draw(rt, "backward")
		if limit > 0 {
			rest = fmt.Sprintf(`,"Limit":%d`, limit)
		}
		if backward {
			rest += `,"ScanIndexForward":false`
		}
		inOrder := (spread == "one" || spread == "ascending" && !backward || spread == "descending" && backward) && rapid.Bool().Draw(rt, "in order")
		var all []int
		for start := ""; ; {
			var last attribute.Item
			q := gather(t, partitions, rest+start)
			q.InOrder = inOrder
			err := s.Gather(t.Context(), q, func(a *api.Gathered) error {
				bytes := 0
				for i, text := range a.Items {
					item, err := new(attribute.Decoder).Item(text)
					if err != nil {
						return err
					}
					if item.Size() != a.Sizes[i] {
						rt.Fatalf("size %d of %s", a.Sizes[i], text)
					}
					bytes += item.Size()
					r, _ := item.Get("r")
					var n int
					if _, err := fmt.Sscan(r.Text(), &n); err != nil {
						return err
					}
					all = append(all, n)
				}
				if full := limit > 0 && len(a.Items) == limit || bytes >= pageSize; full != a.More || limit > 0 && len(a.Items) > limit {
					rt.Fatalf("a page of %d items and %d bytes, more: %v", len(a.Items), bytes, a.More)
				}
				portions := math.Sqrt(float64(limit*partitions)) + 2*float64(partitions)
				if inOrder {
					portions = -float64(limit)
				}
				if inOrder && start == "" && !a.More && spread == "one" && len(a.Vain) != partitions-min(1, count) {
					rt.Fatalf("%d of %d partitions have no items", len(a.Vain), partitions)
				}
				if limit > 0 && size == 0 && float64(a.Read) > 2*float64(limit)+portions {
					rt.Fatalf("%d items were read in %d partitions for a page of %d", a.Read, partitions, limit)
				}
				if a.More {
					last = attribute.NewItem(attribute.Attribute{Name: "h", Value: attribute.String("p0")}, attribute.Attribute{Name: "r", Value: attribute.Int(int64(all[len(all)-1]))})
				}
				return nil
			})
			if err != nil {
				rt.Fatal(err)
			}
			if last == nil {
				break
			}
			start = `,"ExclusiveStartKey":` + string(last.Encode())
		}
		if backward {
			slices.Reverse(all)
		}
		for n := range count {
			if len(all) != count || all[n] != n {
				rt.Fatalf("%v of %d items", all, count)
			}
		}
	})
}

// TestGatherStops checks that a Gather ends when nobody waits for it, and that it refuses what it
// does not do.
func TestGatherStops(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", gatheredTable)
	for n := range 100 {
		s.put(t, n%3, n, 10)
	}
	never := func(*api.Gathered) error {
		t.Error("an answer")
		return nil
	}
	for left := range 4 {
		ctx := &patience{Context: context.Background(), left: left}
		if err := s.Gather(ctx, gather(t, 3, ""), never); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d looks: %v", left, err)
		}
	}
	for _, rest := range []string{`,"Select":"COUNT"`, `,"ProjectionExpression":"x"`, `,"FilterExpression":"x = :h"`} {
		if err := s.Gather(t.Context(), gather(t, 3, rest), never); err == nil {
			t.Errorf("%s was taken", rest)
		}
	}
}
