// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cachefence"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// engine is a store that counts its requests, and that a test can make wait and fail.
type engine struct {
	*dynamodb.Store
	mu       sync.Mutex
	asked    map[string]int
	last     map[string]string // the last body of each operation
	before   func(ctx context.Context, operation, body string) error
	after    func(ctx context.Context, operation, body string) error
	override func(operation, body string) (answer string, ok bool)
}

func (e *engine) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	e.mu.Lock()
	e.asked[operation]++
	e.last[operation] = string(body)
	before, after, override := e.before, e.after, e.override
	e.mu.Unlock()
	if before != nil {
		if err := before(ctx, operation, string(body)); err != nil {
			return dst, err
		}
	}
	if override != nil {
		if answer, ok := override(operation, string(body)); ok {
			return append(dst, answer...), nil
		}
	}
	dst, err := e.Store.Do(ctx, operation, body, dst)
	if after != nil && err == nil {
		err = after(ctx, operation, string(body))
	}
	return dst, err
}

// took returns how many requests of an operation came since the last call.
func (e *engine) took(operation string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.asked[operation]
	delete(e.asked, operation)
	return n
}

func (e *engine) hook(before, after func(ctx context.Context, operation, body string) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.before, e.after = before, after
}

// clock is a clock that the test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// tested is a cache on an engine in memory, with a table Tab of key (k S, n N).
type tested struct {
	*Cache
	t     testing.TB
	store *engine
	clock *clock
}

func open(t testing.TB) *engine {
	t.Helper()
	return &engine{Store: itemstore.Open(t, dynamodb.Options{}), asked: map[string]int{}, last: map[string]string{}}
}

const createT = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}],` +
	`"KeySchema":[{"AttributeName":"k","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}]}`

func start(t testing.TB, change ...func(o *Options)) *tested {
	t.Helper()
	x := &tested{t: t, store: open(t), clock: &clock{at: time.Unix(1_800_000_000, 0)}}
	o := Options{Store: x.store, Size: MinSize, Now: x.clock.now}
	for _, c := range change {
		c(&o)
	}
	var err error
	for {
		if x.Cache, err = New(o); err != nil {
			t.Fatal(err)
		}
		if x.apart() {
			break
		}
	}
	x.do("CreateTable", createT)
	return x
}

// apart reports whether the tests' tables, and the items of table Tab, have different counts.
// Hashes with a random seed distinguish at most 256 tables and 4,096 items.
func (x *tested) apart() bool {
	tables, slots := make(map[*cachefence.TableEpoch]bool), make(map[*cachefence.Slot]bool)
	for _, name := range []string{"Tab", "Uab", "Other"} {
		tables[x.fence.Table(name)] = true
	}
	const items = 8
	for n := range items {
		key, err := new(attribute.Decoder).Item([]byte(keyOf(n)))
		if err != nil {
			x.t.Fatal(err)
		}
		var a asked
		a.item(x.fence, "a", "Tab", key, nil)
		slots[x.fence.Slot(a.hash)] = true
	}
	return len(tables) == 3 && len(slots) == items
}

func (x *tested) as(who, operation, body string) (string, error) {
	ctx := principal.With(context.Background(), principal.Principal{ID: who})
	answer, err := x.Do(ctx, operation, []byte(body), nil)
	return string(answer), err
}

func (x *tested) do(operation, body string) string {
	x.t.Helper()
	answer, err := x.as("a", operation, body)
	if err != nil {
		x.t.Fatalf("%s %s: %v", operation, body, err)
	}
	return answer
}

// get reads item (a, 1) and reports whether the store was asked for it.
func (x *tested) get(more ...string) (answer string, asked bool) {
	x.t.Helper()
	x.store.took("GetItem")
	answer = x.do("GetItem", getBody(more...))
	return answer, x.store.took("GetItem") > 0
}

func getBody(more ...string) string {
	return `{"TableName":"Tab","Key":{"k":{"S":"a"},"n":{"N":"1"}}` + strings.Join(more, "") + `}`
}

func putBody(v string) string {
	return `{"TableName":"Tab","Item":{"k":{"S":"a"},"n":{"N":"1"},"v":{"S":"` + v + `"}}}`
}

func itemAnswer(v string) string {
	return `{"Item":{"k":{"S":"a"},"n":{"N":"1"},"v":{"S":"` + v + `"}}}`
}

// want reads item (a, 1). It fails if the answer is wrong, or if the store was asked, or not asked,
// unexpectedly.
func (x *tested) want(what, answer string, asked bool) {
	x.t.Helper()
	got, was := x.get()
	if got != answer || was != asked {
		x.t.Errorf("%s: %s, store asked: %v; want %s, %v", what, got, was, answer, asked)
	}
}

func TestItemsAreKept(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	x.want("first", itemAnswer("1"), true)
	x.want("again", itemAnswer("1"), false)
	if s := x.Stats(); s.Hits != 1 || s.Misses != 1 || s.HitRatio() != 0.5 || s.Entries != 1 || s.Bytes <= 0 {
		t.Errorf("%+v", s)
	}
}

// TestAnswersAreAppended checks that bytes already in the memory to which an answer is appended
// stay, and are not part of the answer.
func TestAnswersAreAppended(t *testing.T) {
	x := start(t, func(o *Options) { o.QueryTTL = time.Minute })
	x.do("PutItem", putBody("1"))
	for _, r := range reads {
		for range 2 {
			answer, err := x.Do(as("a"), r.operation, []byte(r.body), []byte("before:"))
			if string(answer) != "before:"+r.answer || err != nil {
				t.Errorf("%s: %s %v", r.operation, answer, err)
			}
		}
		if s := x.Stats(); s.Hits+s.QueryHits == 0 {
			t.Errorf("%s is not kept: %+v", r.operation, s)
		}
		x.do("PutItem", putBody("1"))
		x.hits.Store(0)
		x.queryHits.Store(0)
	}
}

func TestThatThereIsNoneIsKept(t *testing.T) {
	x := start(t)
	x.want("first", `{}`, true)
	x.want("again", `{}`, false)
	x.do("PutItem", putBody("1"))
	x.want("after a put", itemAnswer("1"), true)
}

func TestEqualKeysAreOne(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	x.get()
	x.store.took("GetItem")
	for _, key := range []string{`{"n":{"N":"1.0"},"k":{"S":"a"}}`, ` { "k" : {"S":"\u0061"}, "n": {"N":"10e-1"} } `} {
		if got := x.do("GetItem", `{"Key":`+key+`,"TableName":"Tab"}`); got != itemAnswer("1") || x.store.took("GetItem") != 0 {
			t.Errorf("%s: %s, or the store was asked", key, got)
		}
	}
	x.do("DeleteItem", `{"TableName":"Tab","Key":{"n":{"N":"1.00"},"k":{"S":"a"}}}`)
	x.want("after a deletion by another text of the key", `{}`, true)
	if got := x.do("GetItem", `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab","Key":{"k":{"S":"a"},"n":{"N":"1"}}}`); got != `{}` {
		t.Error(got)
	}
	x.do("PutItem", putBody("2"))
	if got := x.do("GetItem", `{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab","Key":{"k":{"S":"a"},"n":{"N":"1"}}}`); got != itemAnswer("2") {
		t.Errorf("by its ARN the table is another: %s", got)
	}
}

func TestPrincipalsAreApart(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	x.get()
	x.store.hook(func(context.Context, string, string) error { return exception.New(exception.AccessDenied, "no") }, nil)
	for _, operation := range []string{"GetItem", "BatchGetItem"} {
		body := getBody()
		if operation == "BatchGetItem" {
			body = `{"RequestItems":{"Tab":{"Keys":[{"k":{"S":"a"},"n":{"N":"1"}}]}}}`
		}
		if _, err := x.as("a", operation, body); err != nil {
			t.Errorf("%s of who has filled it: %v", operation, err)
		}
		if got, err := x.as("b", operation, body); exception.Of(err).Kind != exception.AccessDenied {
			t.Errorf("%s of another: %s %v", operation, got, err)
		}
	}
}

func TestProjectionsAreApart(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	x.get()
	for more, want := range map[string]string{
		`,"ProjectionExpression":"v"`:                                           `{"Item":{"v":{"S":"1"}}}`,
		`,"ProjectionExpression":"k"`:                                           `{"Item":{"k":{"S":"a"}}}`,
		`,"ProjectionExpression":"#v","ExpressionAttributeNames":{"#v":"v[0]"}`: `{"Item":{}}`,
		`,"ProjectionExpression":"v[0]"`:                                        `{"Item":{}}`,
		`,"ProjectionExpression":"v[1]"`:                                        `{"Item":{}}`,
		`,"ProjectionExpression":"v.a"`:                                         `{"Item":{}}`,
		`,"ProjectionExpression":"v.b"`:                                         `{"Item":{}}`,
	} {
		if got, asked := x.get(more); got != want || !asked {
			t.Errorf("%s: %s, store asked: %v", more, got, asked)
		}
		if got, asked := x.get(more); got != want || asked {
			t.Errorf("%s, again: %s, store asked: %v", more, got, asked)
		}
	}
	if got, asked := x.get(`,"AttributesToGet":["v"]`); got != `{"Item":{"v":{"S":"1"}}}` || asked {
		t.Errorf("the same projection by another parameter: %s, store asked: %v", got, asked)
	}
	x.do("PutItem", putBody("2"))
	if got, _ := x.get(`,"ProjectionExpression":"v"`); got != `{"Item":{"v":{"S":"2"}}}` {
		t.Errorf("after a put: %s", got)
	}
}

func TestManyVariantsAreBounded(t *testing.T) {
	x := start(t, func(o *Options) { o.Size = 16 << 20 })
	x.do("PutItem", putBody("1"))
	for i := range 3 * maxVariants {
		x.get(fmt.Sprintf(`,"ProjectionExpression":"v,a%d"`, i))
	}
	x.entries.CleanUp()
	for e := range x.entries.Values() {
		if len(e.variants) != maxVariants {
			t.Errorf("%d variants", len(e.variants))
		}
	}
	if _, asked := x.get(fmt.Sprintf(`,"ProjectionExpression":"v,a%d"`, 3*maxVariants-1)); asked {
		t.Error("the last is not kept")
	}
}

func TestConsistentReadsAskTheStore(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	x.get()
	for range 2 {
		if _, asked := x.get(`,"ConsistentRead":true`); !asked {
			t.Error("the store was not asked")
		}
	}
	batch := `{"RequestItems":{"Tab":{"ConsistentRead":true,"Keys":[{"k":{"S":"a"},"n":{"N":"1"}}]}}}`
	transact := `{"TransactItems":[{"Get":{"TableName":"Tab","Key":{"k":{"S":"a"},"n":{"N":"1"}}}}]}`
	for range 2 {
		x.do("BatchGetItem", batch)
		x.do("TransactGetItems", transact)
	}
	if b, g := x.store.took("BatchGetItem"), x.store.took("TransactGetItems"); b != 2 || g != 2 {
		t.Errorf("asked %d and %d times of 2", b, g)
	}
	// Consistent reads do not fill the cache.
	x.do("PutItem", putBody("2"))
	x.get(`,"ConsistentRead":true`)
	x.want("after a consistent read", itemAnswer("2"), true)
}

// TestWrongRequestsAskTheStore checks that errors in a request are reported even if the cache has
// the requested item.
func TestWrongRequestsAskTheStore(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	x.get()
	for _, more := range []string{`,"ReturnConsumedCapacity":"SOME"`, `,"ConsistentRead":{}`, `,"ProjectionExpression":"v,"`, `,"ExpressionAttributeNames":{"#v":"v"}`} {
		_, err := x.as("a", "GetItem", getBody(more))
		_, direct := x.store.Store.Do(t.Context(), "GetItem", []byte(getBody(more)), nil)
		if err == nil || direct == nil || err.Error() != direct.Error() {
			t.Errorf("%s: %v, the store says %v", more, err, direct)
		}
	}
}

func TestHitsTakeNoCapacity(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	for level, want := range map[string]string{
		"TOTAL":   `,"ConsumedCapacity":{"TableName":"Tab","CapacityUnits":0.0}}`,
		"INDEXES": `,"ConsumedCapacity":{"TableName":"Tab","CapacityUnits":0.0,"Table":{"CapacityUnits":0.0}}}`,
		"NONE":    `}`,
	} {
		x.do("PutItem", putBody("1"))
		first, _ := x.get(`,"ReturnConsumedCapacity":"` + level + `"`)
		if want := strings.ReplaceAll(want, "0.0", "0.5"); first != strings.TrimSuffix(itemAnswer("1"), "}")+want {
			t.Errorf("%s, of the store: %s", level, first)
		}
		if got, asked := x.get(`,"ReturnConsumedCapacity":"` + level + `"`); got != strings.TrimSuffix(itemAnswer("1"), "}")+want || asked {
			t.Errorf("%s: %s, store asked: %v", level, got, asked)
		}
	}
	x.do("DeleteItem", getBody())
	x.get()
	if got, asked := x.get(`,"ReturnConsumedCapacity":"TOTAL"`); got != `{"ConsumedCapacity":{"TableName":"Tab","CapacityUnits":0.0}}` || asked {
		t.Errorf("of nothing: %s, store asked: %v", got, asked)
	}
}

func TestItemsHaveATimeToLive(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	x.get()
	// Write behind the door.
	if _, err := x.store.Store.Do(t.Context(), "PutItem", []byte(putBody("2")), nil); err != nil {
		t.Fatal(err)
	}
	x.clock.add(5*time.Minute - 1)
	x.want("before its end", itemAnswer("1"), false)
	x.clock.add(1)
	x.want("at its end", itemAnswer("2"), true)
	x.want("after it", itemAnswer("2"), false)
}

// TestItemsThatExpire checks that an item that has expired is not shown, because the store may have
// removed it.
func TestItemsThatExpire(t *testing.T) {
	x := start(t)
	x.do("UpdateTimeToLive", `{"TableName":"Tab","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"until"}}`)
	item := func(until string) string { return `{"k":{"S":"a"},"n":{"N":"1"},"until":` + until + `}` }
	put := func(until string) {
		t.Helper()
		x.do("PutItem", `{"TableName":"Tab","Item":`+item(until)+`}`)
		x.get()
	}
	now := x.clock.now().Unix()
	number := func(n int64) string { return fmt.Sprintf(`{"N":"%d"}`, n) }

	put(number(now + 60))
	x.clock.add(59 * time.Second)
	x.want("before it expires", `{"Item":`+item(number(now+60))+`}`, false)
	x.clock.add(time.Second)
	if _, err := x.store.Store.Do(t.Context(), "DeleteItem", []byte(getBody()), nil); err != nil {
		t.Fatal(err)
	}
	x.want("when it has expired", `{}`, true)

	for name, until := range map[string]string{"an hour from now": number(now + 3600), "never": `{"S":"never"}`, "ten years ago": number(now - 10*365*24*3600)} {
		put(until)
		x.want(name, `{"Item":`+item(until)+`}`, false)
	}
	put(number(now - 10))
	x.want("ten seconds ago", `{"Item":`+item(number(now-10))+`}`, true)

	put(number(now + 60))
	for range 2 {
		if _, asked := x.get(`,"ProjectionExpression":"k"`); !asked {
			t.Error("an item without the attribute is kept")
		}
	}
	if n := x.store.took("DescribeTimeToLive"); n != 1 {
		t.Errorf("the store was asked %d times for its attribute", n)
	}

	// The table now has another attribute.
	x.do("UpdateTimeToLive", `{"TableName":"Tab","TimeToLiveSpecification":{"Enabled":false,"AttributeName":"until"}}`)
	put(number(now - 10))
	x.want("of no consequence", `{"Item":`+item(number(now-10))+`}`, false)
}

func TestTimeToLiveThatIsNotTold(t *testing.T) {
	x := start(t)
	x.store.hook(func(ctx context.Context, operation, _ string) error {
		if operation != "DescribeTimeToLive" {
			return nil
		}
		if who := principal.Of(ctx); who != (principal.Principal{}) {
			t.Errorf("asked for as %v", who)
		}
		return exception.New(exception.AccessDenied, "no")
	}, nil)
	x.do("PutItem", putBody("1"))
	for i := range 4 {
		x.do("PutItem", putBody("1"))
		x.get()
		x.want("kept", itemAnswer("1"), false)
		if n, want := x.store.took("DescribeTimeToLive"), 1-i%2; n != want {
			t.Errorf("%d: asked for %d times, want %d", i, n, want)
		}
		x.clock.add(expiryAgain / 2)
	}
}

// TestAccountsAreApart checks that tables of the same name in two accounts are different tables.
func TestAccountsAreApart(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	x.get()
	x.store.override = func(operation, body string) (string, bool) {
		return itemAnswer("other"), operation == "GetItem" && strings.Contains(body, ":111111111111:")
	}
	for range 2 {
		if got := x.do("GetItem", strings.Replace(getBody(), `"Tab"`, `"arn:aws:dynamodb:us-east-1:111111111111:table/Tab"`, 1)); got != itemAnswer("other") {
			t.Error(got)
		}
		x.want("in this account", itemAnswer("1"), false)
	}
}
