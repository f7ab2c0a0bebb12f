// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
	"github.com/evenkeel/evenkeel/registry"
)

func TestMain(m *testing.M) { leak.Main(m) }

// recorder is a store that counts its requests and the items that it reads for them.
type recorder struct {
	*dynamodb.Store
	mu       sync.Mutex
	requests map[string]int
	rows     int
}

func (r *recorder) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	r.mu.Lock()
	r.requests[q.Operation()]++
	if q, ok := q.(*api.Query); ok && q.Table == catalog.BucketsTable {
		r.requests["directory"]++
	}
	r.mu.Unlock()
	return r.Store.Answer(ctx, q, func(a api.Response) error {
		if p, ok := a.(*api.ItemsResponse); ok {
			r.mu.Lock()
			r.rows += p.ScannedCount
			r.mu.Unlock()
		}
		return use(a)
	})
}

// Gather counts as one Query.
func (r *recorder) Gather(ctx context.Context, q *api.Gather, use func(*api.Gathered) error) error {
	return r.Store.Gather(ctx, q, func(a *api.Gathered) error {
		r.mu.Lock()
		r.requests["Query"]++
		r.rows += a.Read
		r.mu.Unlock()
		return use(a)
	})
}

// took returns the requests and rows since the last call.
func (r *recorder) took() (requests map[string]int, rows int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests, rows = r.requests, r.rows
	r.requests, r.rows = map[string]int{}, 0
	return requests, rows
}

// Backend lets tests embed backend.Store under this name.
type Backend = backend.Store

// catalogOf returns the catalogue in the store below a Router.
func catalogOf(r *Router) *catalog.Catalog {
	return catalog.New(backend.Door{Store: r.backend}, time.Now)
}

// tested is a router on an engine in memory.
type tested struct {
	*Router
	store *recorder
}

func start(t testing.TB, fanout int) *tested {
	t.Helper()
	store := &recorder{Store: itemstore.Open(t, dynamodb.Options{}), requests: map[string]int{}}
	return &tested{Router: again(t, store, fanout), store: store}
}

// again returns another router on the same store, as after a restart.
func again(t testing.TB, b backend.Store, fanout int) *Router {
	t.Helper()
	r := New(Options{Backend: b, Fanout: fanout})
	drawn := new(atomic.Uint64)
	r.items.Draw = func() uint64 { return drawn.Add(1) }
	if err := r.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r
}

type doer interface {
	Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error)
}

func do(d doer, operation, body string) (map[string]any, error) {
	text, err := d.Do(context.Background(), operation, []byte(body), nil)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	var m map[string]any
	return m, json.Unmarshal(text, &m)
}

func must(t testing.TB, d doer, operation, body string) map[string]any {
	t.Helper()
	m, err := do(d, operation, body)
	if err != nil {
		t.Fatalf("%s %s: %v", operation, body, err)
	}
	return m
}

func fails(t testing.TB, d doer, kind exception.Kind, part, operation, body string) {
	t.Helper()
	_, err := do(d, operation, body)
	var e *exception.Error
	if !errors.As(err, &e) || e.Kind != kind || !strings.Contains(e.Message, part) {
		t.Errorf("%s %s: %v, not %v with %q", operation, body, err, kind, part)
	}
}

func create(shards int) string {
	return fmt.Sprintf(`{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],"Tags":[{"Key":"write-sharding","Value":"strategy=calculated shards=%d"}]}`, shards)
}

// fill puts items of one logical partition.
func fill(t testing.TB, d doer, items int, payload string) {
	t.Helper()
	for n := range items {
		must(t, d, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"h":{"S":"121212"},"r":{"S":"Client%04d"},"x":{"S":"%s"}}}`, n, payload))
	}
}

func sorts(m map[string]any) (rs []string) {
	list, _ := m["Items"].([]any)
	for _, it := range list {
		rs = append(rs, fmt.Sprint(it.(map[string]any)["r"].(map[string]any)["S"]))
	}
	return rs
}

// TestRequestCounts checks that a request on one item is one request, and that a page over many
// shards takes about one request for each and reads little more than it returns.
func TestRequestCounts(t *testing.T) {
	const shards, count = 50, 2000
	s := start(t, 1)
	must(t, s, "CreateTable", create(shards))
	fill(t, s, count, "x")
	const key = `"TableName":"Tab","Key":{"h":{"S":"121212"},"r":{"S":"Client0007"}}`
	for _, c := range [][2]string{
		{"GetItem", `{` + key + `}`},
		{"UpdateItem", `{` + key + `,"UpdateExpression":"SET y = :y","ExpressionAttributeValues":{":y":{"S":"z"}}}`},
		{"Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h AND r = :r","ExpressionAttributeValues":{":h":{"S":"121212"},":r":{"S":"Client0007"}}}`},
		{"PutItem", `{"TableName":"Tab","Item":{"h":{"S":"121212"},"r":{"S":"Client0007"}}}`},
		{"BatchGetItem", `{"RequestItems":{"Tab":{"Keys":[{"h":{"S":"121212"},"r":{"S":"Client0001"}},{"h":{"S":"121212"},"r":{"S":"Client0002"}}]}}}`},
		{"TransactGetItems", `{"TransactItems":[{"Get":{` + key + `}}]}`},
		{"DeleteItem", `{` + key + `}`},
	} {
		s.store.took()
		must(t, s, c[0], c[1])
		if requests, _ := s.store.took(); len(requests) != 1 || requests[c[0]] != 1 {
			t.Errorf("%s took %v", c[0], requests)
		}
	}
	countPages(t, s, shards, 1, 1)
	// A router that sends several requests at a time asks each shard for itself. One page in 250
	// exceeds the second bounds.
	countPages(t, &tested{again(t, s.store, 2), s.store}, shards, shards*3/2, 5*shards/2)
}

// countPages checks how many requests a page over shards takes in the median, and how many in 9 of
// 10 pages, and that it reads few rows that it does not return.
func countPages(t *testing.T, s *tested, shards, median, nineTenths int) {
	t.Helper()
	for _, limit := range []int{1, 10, 100} {
		var asked, read []int // they may depend on the draw of the first shards
		for range 101 {
			s.store.took()
			m := must(t, s, "Query", fmt.Sprintf(`{"TableName":"Tab","Limit":%d,"KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"121212"}}}`, limit))
			requests, rows := s.store.took()
			if got := len(sorts(m)); got != limit {
				t.Errorf("%d items of %d", got, limit)
			}
			asked, read = append(asked, requests["Query"]), append(read, rows)
		}
		slices.Sort(asked)
		slices.Sort(read)
		if asked[50] > median || read[50] > limit+2*shards || asked[90] > nineTenths || read[90] > limit+3*shards {
			t.Errorf("pages of %d took %d requests and %d rows of %d shards in the median, %d and %d in 9 of 10", limit, asked[50], read[50], shards, asked[90], read[90])
		}
		t.Logf("pages of %d: %d requests and %d rows of %d shards in the median", limit, asked[50], read[50], shards)
	}
}

// TestPlacement checks that items are spread evenly, at the places of the documented hash.
func TestPlacement(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", create(5))
	fill(t, s, 500, "x")
	shards := map[string]int{}
	where := map[string]string{}
	for start := ""; ; {
		m := must(t, s.store, "Scan", `{"TableName":"Tab"`+start+`}`) // the physical table
		for _, it := range m["Items"].([]any) {
			pk := fmt.Sprint(it.(map[string]any)["evenkeel.pk"].(map[string]any)["S"])
			shards[pk]++
			where[fmt.Sprint(it.(map[string]any)["r"].(map[string]any)["S"])] = pk
		}
		last, ok := m["LastEvaluatedKey"]
		if !ok {
			break
		}
		b, err := json.Marshal(last)
		if err != nil {
			t.Fatal(err)
		}
		start = `,"ExclusiveStartKey":` + string(b)
	}
	for shard := 1; shard <= 5; shard++ {
		if n := shards[fmt.Sprintf("121212-%d", shard)]; n < 70 || n > 130 {
			t.Errorf("shard %d has %d of 500 items", shard, n)
		}
	}
	e := s.tables.Entry("Tab")
	for r, pk := range where {
		if want := fmt.Sprintf("121212-%d", e.Layout.ShardOf([]byte("121212"), []byte(r))); pk != want {
			t.Errorf("%s is in %s, not %s", r, pk, want)
		}
	}
	if len(shards) != 5 || len(where) != 500 {
		t.Errorf("%d partitions, %d items", len(shards), len(where))
	}
}

// TestLargeItems checks pages of a megabyte with large items: in order, and each item once,
// whatever is read at a time.
func TestLargeItems(t *testing.T) {
	for _, fanout := range []int{1, 8} {
		s := start(t, fanout)
		must(t, s, "CreateTable", create(16))
		fill(t, s, 40, strings.Repeat("x", 100_000))
		for _, direction := range []string{"true", "false"} {
			var all []string
			pages, start := 0, ""
			for {
				m := must(t, s, "Query", `{"TableName":"Tab","ScanIndexForward":`+direction+`,"KeyConditionExpression":"h = :h AND begins_with(r, :c)","ExpressionAttributeValues":{":h":{"S":"121212"},":c":{"S":"Client"}}`+start+`}`)
				all = append(all, sorts(m)...)
				pages++
				last, ok := m["LastEvaluatedKey"]
				if !ok {
					break
				}
				if got := len(sorts(m)); got != 11 {
					t.Errorf("a page of %d items", got)
				}
				b, err := json.Marshal(last)
				if err != nil {
					t.Fatal(err)
				}
				start = `,"ExclusiveStartKey":` + string(b)
			}
			if direction == "false" {
				slices.Reverse(all)
			}
			if len(all) != 40 || !slices.IsSorted(all) || pages != 4 {
				t.Errorf("fan-out %d: %d items in %d pages", fanout, len(all), pages)
			}
		}
		if _, rows := s.store.took(); rows > 40*20 {
			t.Errorf("%d rows were read for 80", rows)
		}
	}
}

func TestCatalogueIsHidden(t *testing.T) {
	s := start(t, 1)
	fails(t, s, exception.Validation, "reserved", "CreateTable", strings.Replace(create(5), `"Tab"`, `"evenkeel"`, 1))
	must(t, s, "CreateTable", create(5))
	must(t, s, "CreateTable", `{"TableName":"zzz","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]}`)
	if m := must(t, s, "ListTables", `{}`); fmt.Sprint(m) != "map[TableNames:[Tab zzz]]" {
		t.Errorf("%v", m)
	}
	if m := must(t, s, "ListTables", `{"Limit":1}`); fmt.Sprint(m) != "map[LastEvaluatedTableName:Tab TableNames:[Tab]]" {
		t.Errorf("%v", m)
	}
	if m := must(t, s, "ListTables", `{"Limit":1,"ExclusiveStartTableName":"Tab"}`); fmt.Sprint(m) != "map[TableNames:[zzz]]" {
		t.Errorf("%v", m)
	}
	for operation, body := range map[string]string{
		"GetItem": `{"TableName":"evenkeel","Key":{"table":{"S":"Tab"}}}`, "Scan": `{"TableName":"evenkeel"}`, "DescribeTable": `{"TableName":"evenkeel"}`, "DeleteTable": `{"TableName":"evenkeel"}`,
		"DeleteItem":       `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/evenkeel","Key":{"table":{"S":"Tab"}}}`,
		"BatchWriteItem":   `{"RequestItems":{"evenkeel":[{"DeleteRequest":{"Key":{"table":{"S":"Tab"}}}}]}}`,
		"UpdateTimeToLive": `{"TableName":"evenkeel","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"x"}}`,
	} {
		fails(t, s, exception.ResourceNotFound, "", operation, body)
	}
	must(t, s, "DeleteTable", `{"TableName":"Tab"}`)
	must(t, s, "DeleteTable", `{"TableName":"zzz"}`)
	if m := must(t, s, "ListTables", `{}`); fmt.Sprint(m) != "map[TableNames:[]]" {
		t.Errorf("%v", m)
	}
}

// TestRestart checks that a table is sharded for the next door, too, and that its name may be used
// again, for a plain table.
func TestRestart(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", create(5))
	fill(t, s, 20, "x")
	const query = `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"121212"}}}`
	want := must(t, s, "Query", query)
	next := again(t, s.store, 1)
	if got := must(t, next, "Query", query); fmt.Sprint(got) != fmt.Sprint(want) || len(sorts(got)) != 20 {
		t.Errorf("after a restart: %v", got)
	}
	fails(t, next, exception.ResourceInUse, "already exists", "CreateTable", create(5))
	must(t, next, "DeleteTable", `{"TableName":"Tab"}`)
	fails(t, next, exception.ResourceNotFound, "", "Query", query)
	must(t, next, "CreateTable", strings.Replace(create(5), `"Tags"`, `"Nothing"`, 1))
	if got := must(t, again(t, s.store, 1), "Query", query); len(sorts(got)) != 0 {
		t.Errorf("a new table has %v", got)
	}
}

// TestSettle checks that an unfinished operation is settled as a whole or not at all.
func TestSettle(t *testing.T) {
	body := func(s *tested) (id string) {
		m := must(t, s.store, "DescribeTable", `{"TableName":"Tab"}`)
		return fmt.Sprint(m["Table"].(map[string]any)["TableId"])
	}
	entry := func(s *tested) *catalog.Entry { return s.tables.Entry("Tab").Entry }
	ctx := context.Background()
	for _, c := range []struct {
		name  string
		spoil func(s *tested)
		there bool
	}{
		{"noted, not created", func(s *tested) {
			must(t, s.store, "DeleteTable", `{"TableName":"Tab"}`)
			set(t, s, registry.Creating)
		}, false},
		{"created, not noted", func(s *tested) { set(t, s, registry.Creating) }, true},
		{"noted, not deleted", func(s *tested) {
			if _, err := catalogOf(s.Router).Drop(ctx, entry(s)); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"deleted, still noted", func(s *tested) {
			if _, err := catalogOf(s.Router).Drop(ctx, entry(s)); err != nil {
				t.Fatal(err)
			}
			must(t, s.store, "DeleteTable", `{"TableName":"Tab"}`)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, 1)
			must(t, s, "CreateTable", create(5))
			fill(t, s, 3, "x")
			c.spoil(s)
			next := again(t, s.store, 1)
			all, err := catalogOf(next).All(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if !c.there {
				if len(all) != 0 {
					t.Errorf("the catalogue has %v", all[0])
				}
				must(t, next, "CreateTable", create(3))
				return
			}
			if len(all) != 1 || all[0].State != registry.Active || all[0].ID != body(s) {
				t.Fatalf("the catalogue has %+v", all)
			}
			if m := must(t, next, "Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"121212"}}}`); len(sorts(m)) != 3 {
				t.Errorf("%v", m)
			}
		})
	}
}

// set puts the table's entry into a state, behind the router.
func set(t *testing.T, s *tested, state registry.State) {
	t.Helper()
	must(t, s.store, "UpdateItem", `{"TableName":"evenkeel","Key":{"table":{"S":"Tab"}},"UpdateExpression":"SET #s = :s","ExpressionAttributeNames":{"#s":"state"},"ExpressionAttributeValues":{":s":{"S":"`+string(state)+`"}}}`)
}

// TestWhatDoesNotBelongTogetherIsRefused checks that a physical table without its entry, and an
// entry with another physical table, are refused, not served.
func TestWhatDoesNotBelongTogetherIsRefused(t *testing.T) {
	const get = `{"TableName":"Tab","Key":{"h":{"S":"121212"},"r":{"S":"Client0000"}}}`
	s := start(t, 1)
	must(t, s, "CreateTable", create(5))
	must(t, s.store, "DeleteItem", `{"TableName":"evenkeel","Key":{"table":{"S":"Tab"}}}`)
	next := again(t, s.store, 1)
	fails(t, next, exception.Validation, "has lost its entry", "GetItem", get)
	fails(t, next, exception.Validation, "has lost its entry", "DescribeTable", `{"TableName":"Tab"}`)
	fails(t, next, exception.Validation, "has lost its entry", "DeleteTable", `{"TableName":"Tab"}`)

	s = start(t, 1)
	must(t, s, "CreateTable", create(5))
	must(t, s.store, "DeleteTable", `{"TableName":"Tab"}`)
	fails(t, again(t, s.store, 1), exception.Validation, "no physical table", "GetItem", get)
	must(t, s.store, "CreateTable", strings.Replace(create(5), `"Tags"`, `"Nothing"`, 1))
	next = again(t, s.store, 1)
	fails(t, next, exception.Validation, "another than it was made with", "GetItem", get)
	fails(t, next, exception.Validation, "another than it was made with", "DeleteTable", `{"TableName":"Tab"}`)
}

// TestNothingIsKeptOfARequest checks that the router keeps nothing of a request, whose memory the
// next one reuses.
func TestNothingIsKeptOfARequest(t *testing.T) {
	s := start(t, 1)
	body := []byte(create(5))
	answer, err := s.Do(context.Background(), "CreateTable", body, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range [][]byte{body, answer} {
		for i := range memory {
			memory[i] = 'x'
		}
	}
	fill(t, s, 20, "payload")
	if m := must(t, s, "Query", `{"TableName":"Tab","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"121212"}}}`); len(sorts(m)) != 20 {
		t.Errorf("%v", m)
	}
	if m := must(t, s, "DescribeTable", `{"TableName":"Tab"}`); strings.Contains(fmt.Sprint(m), "xxx") {
		t.Errorf("%v", m)
	}
}

// TestOneCreates checks that one of many requests that create a table succeeds.
func TestOneCreates(t *testing.T) {
	s := start(t, 1)
	created := make(chan error, 8)
	for range cap(created) {
		go func() {
			_, err := do(s, "CreateTable", create(5))
			created <- err
		}()
	}
	won := 0
	for range cap(created) {
		var e *exception.Error
		switch err := <-created; {
		case err == nil:
			won++
		case !errors.As(err, &e) || e.Kind != exception.ResourceInUse:
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d have created the table", won)
	}
}

// TestIndexOfShardedTable checks that an index that is added to a sharded table can be read once it
// is filled, and not before.
func TestIndexOfShardedTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, 1)
		must(t, s, "CreateTable", create(5))
		fill(t, s, 200, "same")
		must(t, s, "UpdateTable", `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"x","AttributeType":"S"}],
		"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"by-x","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}}]}`)
		const query = `{"TableName":"Tab","IndexName":"by-x","KeyConditionExpression":"x = :x","ExpressionAttributeValues":{":x":{"S":"same"}}}`
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			m, err := do(s, "Query", query)
			if err == nil {
				rs := sorts(m)
				slices.Sort(rs)
				if len(slices.Compact(rs)) != 200 || strings.Contains(fmt.Sprint(m), "evenkeel") || !strings.Contains(fmt.Sprint(m), "121212") {
					t.Errorf("%d entries: %v", len(rs), m)
				}
				break
			}
			if !strings.Contains(err.Error(), "backfilling") || time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
		if m := must(t, s, "DescribeTable", `{"TableName":"Tab"}`); strings.Contains(fmt.Sprint(m), "evenkeel.") || !strings.Contains(fmt.Sprint(m), "KEYS_ONLY") {
			t.Errorf("%v", m)
		}
	})
}

// TestTransactionsWithEmptyKeys checks that an empty key attribute is an error of the whole
// transaction, not a reason for its cancellation.
func TestTransactionsWithEmptyKeys(t *testing.T) {
	for _, shards := range []int{0, 3} {
		s := start(t, 1)
		if shards > 0 {
			must(t, s, "CreateTable", create(shards))
		} else {
			must(t, s, "CreateTable", plainTable+"}")
		}
		const of = `"TableName":"Tab","%s":{"h":{"S":"a"},"r":{"S":""}}`
		for _, action := range []string{`{"Put":{` + fmt.Sprintf(of, "Item") + `}}`, `{"Delete":{` + fmt.Sprintf(of, "Key") + `}}`} {
			fails(t, s, exception.Validation, "cannot contain an empty string value. Key: r", "TransactWriteItems", `{"TransactItems":[`+action+`]}`)
		}
		fails(t, s, exception.Validation, "cannot contain an empty string value. Key: r", "TransactGetItems", `{"TransactItems":[{"Get":{`+fmt.Sprintf(of, "Key")+`}}]}`)
		fails(t, s, exception.TransactionCanceled, "[ValidationError]", "TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"Tab","Key":{"h":{"S":"a"}}}}]}`)
	}
}
