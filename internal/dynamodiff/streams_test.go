// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/remote"
	"github.com/evenkeel/evenkeel/dynamodoor/run"
	"github.com/evenkeel/evenkeel/internal/testkit/endpoint"
)

// TestStreamsLaw is the law of streams: after one history of writes, the stream of
// a sharded table tells what that of a plain one does: the same changes in the same
// order, with the same keys, images and sizes.
func TestStreamsLaw(t *testing.T) {
	for _, c := range []struct {
		shards int
		front  bool // the engine is behind another door
	}{{1, false}, {3, false}, {16, false}, {3, true}} {
		shards := c.shards
		t.Run(fmt.Sprintf("shards=%d,front=%v", shards, c.front), func(t *testing.T) {
			plain, sharded := engineDoor(t, 1), engineDoor(t, 1)
			if c.front {
				sharded = frontOf(t, bareDoor(t), 1)
			}
			tags := fmt.Sprintf(`,"Tags":[{"Key":"write-sharding","Value":"strategy=calculated shards=%d"}`, shards)
			rapid.Check(t, func(t *rapid.T) {
				view := rapid.SampledFrom([]string{"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"}).Draw(t, "view")
				draw(t, false, func(h *history, operation, body string) Answer {
					other := body
					switch operation {
					case "CreateTable":
						body = strings.TrimSuffix(body, "}") + `,"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"` + view + `"}`
						other = body + tags
						if h.glob {
							other += fmt.Sprintf(`,{"Key":"write-sharding.index.global","Value":"shards=%d"}`, shards)
						}
						body, other = body+"}", other+"]}"
					case "DeleteTable":
						if diff := cmp.Diff(stream(t, plain, h.table), stream(t, sharded, h.table)); diff != "" {
							t.Fatalf("the stream of %s\n(- plain, + %d shards)\n%s", h.table, shards, diff)
						}
					}
					a, err := plain.Do(operation, body)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := sharded.Do(operation, other); err != nil {
						t.Fatal(err)
					}
					return a
				})
			})
		})
	}
}

// limit is the number of records of a page. A page that has none is the last: it is larger than the
// number of moves that follow each other in a history.
const limit = 100

// stream reads all records of a table's stream, and how it is described.
func stream(t *rapid.T, from Target, table string) (all []any) {
	ask := func(operation string, request any) map[string]any {
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		a, err := from.Do(operation, string(body))
		if err != nil || a.Status != 200 {
			t.Fatalf("%s %s: %v %v", operation, body, a, err)
		}
		if text := fmt.Sprint(a.Body); strings.Contains(text, "evenkeel.") {
			t.Fatalf("%s shows what is hidden: %s", operation, text)
		}
		return a.Body.(map[string]any)
	}
	listed := ask("ListStreams", map[string]any{"TableName": table})["Streams"].([]any)
	if len(listed) != 1 {
		t.Fatalf("streams of %s: %v", table, listed)
	}
	arn := listed[0].(map[string]any)["StreamArn"]
	d := ask("DescribeStream", map[string]any{"StreamArn": arn})["StreamDescription"].(map[string]any)
	all = append(all, d["KeySchema"], d["StreamViewType"], d["TableName"])
	shard := d["Shards"].([]any)[0].(map[string]any)["ShardId"]
	at := ask("GetShardIterator", map[string]any{"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"})["ShardIterator"]
	for {
		m := ask("GetRecords", map[string]any{"ShardIterator": at, "Limit": limit})
		some := m["Records"].([]any)
		for _, r := range some {
			record := r.(map[string]any)
			delete(record, "eventID")
			change := record["dynamodb"].(map[string]any)
			delete(change, "SequenceNumber")
			delete(change, "ApproximateCreationDateTime")
			all = append(all, record)
		}
		if at = m["NextShardIterator"]; len(some) == 0 {
			return all
		}
	}
}

// TestStreamsLawAcrossChanges is the law of streams where the table gets other layouts meanwhile: of
// each item, the stream tells what that of a plain table does, and nothing of moves. As in DynamoDB,
// changes of different items have no order.
func TestStreamsLawAcrossChanges(t *testing.T) {
	for name, backend := range map[string]func(*testing.T) (*run.Router, Target){
		"embedded": func(t *testing.T) (*run.Router, Target) {
			router, url := endpoint.Start(t, run.Options{Fanout: 4, Caution: time.Nanosecond})
			return router, Target{Name: "sharded", URL: url}
		},
		"in front": func(t *testing.T) (*run.Router, Target) {
			at, err := remote.ParseEndpoint(bareDoor(t).URL)
			if err != nil {
				t.Fatal(err)
			}
			store, err := remote.New(remote.Options{Endpoint: at, Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", "")})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(store.Close)
			router := run.New(run.Options{Backend: store, Fanout: 4, Lease: 20 * time.Millisecond, Caution: time.Nanosecond})
			if err := router.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			return router, Target{Name: "in front", URL: endpoint.Serve(t, dynamodoor.Options{Store: router})}
		},
	} {
		t.Run(name, func(t *testing.T) {
			router, sharded := backend(t)
			plain := engineDoor(t, 1)
			moves := 0
			rapid.Check(t, func(t *rapid.T) {
				began := false
				draw(t, false, func(h *history, operation, body string) Answer {
					other := body
					switch operation {
					case "CreateTable":
						body = strings.TrimSuffix(body, "}") + `,"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}`
						body, other = body+"}", body+`,"Tags":[{"Key":"write-sharding","Value":"shards=2"}]}`
					case "DeleteTable":
						if diff := cmp.Diff(byItem(stream(t, plain, h.table)), byItem(stream(t, sharded, h.table))); diff != "" {
							t.Fatalf("the stream of %s\n(- plain, + changed)\n%s", h.table, diff)
						}
					default:
						if began && rapid.Bool().Draw(t, "change") {
							more, err := router.StepChange(t.Context(), h.table)
							if err != nil {
								t.Fatal(err)
							}
							if more {
								moves++
							} else {
								order := fmt.Sprintf(`{"TableName":"%s","Action":"start","Shards":%d}`, h.table, rapid.IntRange(0, 7).Draw(t, "shards"))
								if _, err := router.Do(t.Context(), "Reshard", []byte(order), nil); err != nil && !strings.Contains(err.Error(), "already") {
									t.Fatal(err)
								}
							}
						}
					}
					a, err := plain.Do(operation, body)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := sharded.Do(operation, other); err != nil {
						t.Fatal(err)
					}
					began = true
					return a
				})
			})
			if moves == 0 {
				t.Error("no layout was changed")
			}
		})
	}
}

// byItem is a stream's description and its records by the items' keys.
func byItem(all []any) map[string][]any {
	of := make(map[string][]any)
	for _, x := range all {
		key := ""
		if record, ok := x.(map[string]any); ok && record["dynamodb"] != nil {
			key = fmt.Sprint(record["dynamodb"].(map[string]any)["Keys"])
		}
		of[key] = append(of[key], x)
	}
	return of
}
