// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

const (
	declareIndex = `{"ResourceArn":"` + tabARN + `","Tags":[{"Key":"write-sharding.index.by-x","Value":"shards=4"}]}`
	createIndex  = `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"x","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"by-x","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}}]}`
	deleteIndex  = `{"TableName":"Tab","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"by-x"}}]}`
	queryIndex   = `{"TableName":"Tab","IndexName":"by-x","KeyConditionExpression":"x = :x","ExpressionAttributeValues":{":x":{"S":"y"}}%s}`
)

// indexed returns the number of items in a query of the index, read in pages. It fails if an answer
// shows a hidden attribute.
func indexed(t testing.TB, d doer) int {
	t.Helper()
	n, start := 0, `,"Limit":60`
	for {
		m := must(t, d, "Query", fmt.Sprintf(queryIndex, start))
		if shown := jsonOf(t, m); strings.Contains(shown, "evenkeel.") {
			t.Fatal(shown)
		}
		n += len(m["Items"].([]any))
		if m["LastEvaluatedKey"] == nil {
			return n
		}
		start = `,"Limit":60,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"])
	}
}

// whenActive waits until the store has filled the index.
func whenActive(t testing.TB, d doer) {
	t.Helper()
	for {
		if shown := jsonOf(t, must(t, d, "DescribeTable", `{"TableName":"Tab"}`)); !strings.Contains(shown, `"IndexStatus":"CREATING"`) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// TestShardsOfATableWithAShardedIndex refuses to shard a plain table in use by its tag, also where
// the door has an entry for it because its indexes are sharded.
func TestShardsOfATableWithAShardedIndex(t *testing.T) {
	s := start(t, 4)
	must(t, s, "CreateTable", plainTable+"}")
	must(t, s, "TagResource", declareIndex)
	for value, why := range map[string]string{"shards=3": "it is a plain table", "": "it is a plain table", "adopt=suffix shards=3": "has sharded indexes", "shards=x": "shards"} {
		fails(t, s, exception.Validation, why, "TagResource", tagWith(value))
	}
}

// TestShardedIndexOfATableWithItems adds a sharded index to a table with items, plain or sharded,
// by its tag and then an UpdateTable, and creates it again after it was deleted.
func TestShardedIndexOfATableWithItems(t *testing.T) {
	for name, create := range map[string]string{"plain": plainTable + "}", "sharded": shardedTable} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, 4)
				must(t, s, "CreateTable", create)
				for i := range 300 {
					must(t, s, "PutItem", putTab(fmt.Sprint("k", i%7), fmt.Sprint(i)))
				}
				must(t, s, "TagResource", declareIndex)
				must(t, s, "TagResource", declareIndex) // as a client that retries
				if m := jsonOf(t, must(t, s, "Scan", `{"TableName":"Tab"}`)); strings.Contains(m, "evenkeel.") {
					t.Fatal(m)
				}
				for range 2 {
					must(t, s, "UpdateTable", createIndex)
					whenActive(t, s)
					physical := jsonOf(t, must(t, s.store, "DescribeTable", `{"TableName":"Tab"}`))
					if !strings.Contains(physical, `"KeySchema":[{"AttributeName":"evenkeel.s.by-x","KeyType":"HASH"},{"AttributeName":"x","KeyType":"HASH"}]`) {
						t.Errorf("the physical table is %s", physical)
					}
					if shown := jsonOf(t, must(t, s, "DescribeTable", `{"TableName":"Tab"}`)); strings.Contains(shown, "evenkeel.") {
						t.Error(shown)
					}
					for who, r := range map[string]doer{"the door": s, "after a restart": again(t, s.store, 4)} {
						if n := indexed(t, r); n != 300 {
							t.Errorf("%s: the index has %d of 300 items", who, n)
						}
					}
					s.store.took()
					must(t, s, "Query", fmt.Sprintf(queryIndex, ""))
					if asked, _ := s.store.took(); asked["Query"] < 4 {
						t.Errorf("a query of 4 shards took %v", asked)
					}
					must(t, s, "TagResource", declareIndex)
					fails(t, s, exception.Validation, "index by-x exists", "TagResource", strings.ReplaceAll(declareIndex, "=4", "=5"))
					must(t, s, "UpdateTable", deleteIndex)
				}
				fails(t, s, exception.Validation, "declared with another layout, of 4 shards", "TagResource", strings.ReplaceAll(declareIndex, "=4", "=5"))
				fails(t, s, exception.Validation, "is kept", "UntagResource", `{"ResourceArn":"`+tabARN+`","TagKeys":["write-sharding.index.by-x"]}`)
				fails(t, s, exception.Validation, "is not known", "TagResource", strings.ReplaceAll(declareIndex, ".index.", ".indices."))
				fails(t, s, exception.Validation, "strategy 'random'", "TagResource", strings.ReplaceAll(strings.ReplaceAll(declareIndex, "by-x", "other"), "shards", "strategy=random shards"))
			})
		})
	}
}

// TestDeclaringAnIndexThatExists checks that a plain index whose name is declared later stays
// unchanged.
func TestDeclaringAnIndexThatExists(t *testing.T) {
	s := start(t, 4)
	must(t, s, "CreateTable", plainTable+"}")
	must(t, s, "UpdateTable", createIndex)
	whenActive(t, s)
	fails(t, s, exception.Validation, "index by-x exists", "TagResource", declareIndex)
	must(t, s, "PutItem", putTab("k", "a"))
	if n := indexed(t, s); n != 1 {
		t.Errorf("the index has %d items", n)
	}
	fails(t, s, exception.ResourceNotFound, "not found", "TagResource", strings.ReplaceAll(declareIndex, "/Tab", "/None"))
}

// halting fails after it has filled a number of items.
type halting struct {
	*recorder
	left atomic.Int64
}

func (h *halting) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	if _, ok := q.(*api.UpdateItem); ok && h.left.Add(-1) < 0 {
		return exception.New(exception.InternalServerError, "it is halted")
	}
	return h.recorder.Answer(ctx, q, use)
}

// TestFillingAnIndexGoesOn checks that an index cannot be created while some items lack their
// shards, and that another attempt, by another door, continues.
func TestFillingAnIndexGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, 1)
		must(t, s, "CreateTable", shardedTable)
		for i := range 50 {
			must(t, s, "PutItem", putTab("k", fmt.Sprint(i)))
		}
		store := &halting{recorder: s.store}
		store.left.Store(20)
		r := again(t, store, 1)
		fails(t, r, exception.InternalServerError, "", "TagResource", declareIndex)
		fails(t, r, exception.Validation, "do not all have their shards", "UpdateTable", createIndex)
		store.left.Store(1_000_000)
		next := again(t, store, 1)
		fails(t, next, exception.Validation, "do not all have their shards", "UpdateTable", createIndex)
		s.store.took()
		must(t, next, "TagResource", declareIndex)
		if asked, _ := s.store.took(); asked["UpdateItem"] != 30 {
			t.Errorf("the second attempt filled %d items", asked["UpdateItem"])
		}
		must(t, next, "UpdateTable", createIndex)
		whenActive(t, next)
		if n := indexed(t, next); n != 50 {
			t.Errorf("the index has %d of 50 items", n)
		}
	})
}

// TestWritersWhileAnIndexIsDeclared checks that no item is missing in an index that is declared
// through one door while other clients write. The clock advances when all goroutines wait, so that
// no write takes longer than a lease.
func TestWritersWhileAnIndexIsDeclared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pause = 20 * time.Millisecond
		var filled atomic.Int64
		store := &altered{Backend: start(t, 1).store}
		store.answer = func(_ context.Context, q api.Request) (error, bool) {
			if _, fills := q.(*api.UpdateItem); fills {
				if filled.Add(1)%50 == 0 {
					time.Sleep(pause) // gives the others time to write
				}
			}
			return nil, false
		}
		doors := []*Router{doorOn(t, store, 4*short), doorOn(t, store, 4*short)}
		must(t, doors[0], "CreateTable", plainTable+"}")
		stop := make(chan struct{})
		var wrote atomic.Int64
		var all sync.WaitGroup
		for w := range 4 {
			all.Go(func() {
				for i := 1; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					if _, err := do(doors[w%2], "PutItem", putTab(fmt.Sprint("w", w), fmt.Sprint(i))); err != nil {
						t.Error(err)
						return
					}
					wrote.Add(1)
					if i%50 == 0 {
						time.Sleep(pause)
					}
				}
			})
		}
		time.Sleep(pause)
		must(t, doors[0], "TagResource", declareIndex)
		must(t, doors[0], "UpdateTable", createIndex)
		whenActive(t, doors[0])
		time.Sleep(pause)
		close(stop)
		all.Wait()
		// The other door describes a table again a second after it last did.
		time.Sleep(tables.Glance + pause)
		for i, r := range doors {
			if n := indexed(t, r); n != int(wrote.Load()) {
				t.Errorf("door %d: the index has %d of %d items", i, n, wrote.Load())
			}
		}
		t.Logf("%d writes, %d items filled", wrote.Load(), filled.Load())
	})
}

// TestIndexesThatAreNotSpread checks that the door warns once, at creation, of an unsharded index
// of a sharded table.
func TestIndexesThatAreNotSpread(t *testing.T) {
	var log bytes.Buffer
	r := New(Options{Backend: start(t, 1).store, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(t, r, "CreateTable", shardedTable)
	must(t, r, "UpdateTable", `{"TableName":"Tab","DeletionProtectionEnabled":false}`)
	if log.Len() > 0 {
		t.Errorf("a table without an index is warned of: %s", &log)
	}
	must(t, r, "UpdateTable", createIndex)
	must(t, r, "UpdateTable", `{"TableName":"Tab","DeletionProtectionEnabled":false}`)
	if n := strings.Count(log.String(), "index=by-x"); n != 1 || !strings.Contains(log.String(), "write-sharding.index.by-x") {
		t.Errorf("%d warnings: %s", n, &log)
	}
	log.Reset()
	must(t, r, "CreateTable", strings.ReplaceAll(plainTable, `"Tab"`, `"Plain"`)+"}")
	must(t, r, "UpdateTable", strings.ReplaceAll(createIndex, `"Tab"`, `"Plain"`))
	if log.Len() > 0 {
		t.Errorf("a plain table is warned of: %s", &log)
	}
}

// TestItemsTooLargeForAnIndex checks that an item that is too large for its shard in a new index is
// named as the client knows it, and that the error says what to do.
func TestItemsTooLargeForAnIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, 1)
		must(t, s, "CreateTable", shardedTable)
		const hidden = len("evenkeel.pk") + len("k-1")
		must(t, s, "PutItem", strings.Replace(putTab("k", "large"), `"y"`, `"`+strings.Repeat("y", attribute.MaxItemSize-len("hkrlargex")-hidden)+`"`, 1))
		_, err := do(s, "TagResource", declareIndex)
		e := exception.Of(err)
		if err == nil || e.Kind != exception.Validation || strings.Contains(e.Message, "evenkeel.") ||
			!strings.Contains(e.Message, `{"h":{"S":"k"},"r":{"S":"large"}}`) || !strings.Contains(e.Message, "can be sent again") {
			t.Error(err)
		}
	})
}

// TestTagsOfIndexesStay checks that the tag of an index stays, whatever else a request removes with
// it.
func TestTagsOfIndexesStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, 1)
		must(t, s, "CreateTable", plainTable+"}")
		must(t, s, "TagResource", declareIndex)
		fails(t, s, exception.Validation, "is kept", "UntagResource", `{"ResourceArn":"`+tabARN+`","TagKeys":["write-sharding.index.none","write-sharding.index.by-x"]}`)
	})
}

// replaced is a store whose table is deleted and created again after it was scanned.
type replaced struct {
	*recorder
	scans atomic.Int64
	by    func()
}

func (r *replaced) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	err := r.recorder.Answer(ctx, q, use)
	if _, ok := q.(*api.Scan); ok && r.scans.Add(1) == 1 {
		r.by()
	}
	return err
}

// TestATableThatIsReplacedWhileAnIndexIsFilled checks that only the items of the index's own table
// get their shards, not those of a table that is created under its name meanwhile.
func TestATableThatIsReplacedWhileAnIndexIsFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, 1)
		store := &replaced{recorder: s.store}
		r := again(t, store, 1)
		fillTab := func() {
			must(t, r, "CreateTable", plainTable+"}")
			for i := range 40 {
				must(t, r, "PutItem", putTab(fmt.Sprint("k", i), "a"))
			}
		}
		fillTab()
		store.by = func() {
			must(t, r, "DeleteTable", `{"TableName":"Tab"}`)
			fillTab()
		}
		fails(t, r, exception.ResourceNotFound, "Tab not found", "TagResource", declareIndex)
		if m := jsonOf(t, must(t, r, "Scan", `{"TableName":"Tab"}`)); strings.Contains(m, "evenkeel.") {
			t.Errorf("%d items of another table show %.200s", strings.Count(m, "evenkeel."), m)
		}
	})
}

// TestItemsWithAnotherShard checks that a wrong shard in an item, for example from an earlier
// catalogue, is not taken for the right one.
func TestItemsWithAnotherShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, 4)
		must(t, s, "CreateTable", plainTable+"}")
		for i, shard := range []string{`{"N":"9"}`, `{"S":"z"}`, `{"N":"1"}`, `{"N":"2"}`, `{"N":"3"}`, `{"N":"4"}`} {
			must(t, s.store, "PutItem", strings.Replace(putTab("k", fmt.Sprint(i)), `"Item":{`, `"Item":{"evenkeel.s.by-x":`+shard+`,`, 1))
		}
		must(t, s, "TagResource", declareIndex)
		must(t, s, "UpdateTable", createIndex)
		whenActive(t, s)
		var all []string
		for start, pages := "", 0; pages < 10; pages++ {
			m := must(t, s, "Query", fmt.Sprintf(queryIndex, `,"Limit":1`+start))
			all = append(all, sorts(m)...)
			if m["LastEvaluatedKey"] == nil {
				break
			}
			start = `,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"])
		}
		if slices.Sort(all); !slices.Equal(all, []string{"0", "1", "2", "3", "4", "5"}) {
			t.Errorf("the index has %v", all)
		}
	})
}
