// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// keyOf returns the key of item (a, n).
func keyOf(n int) string { return fmt.Sprintf(`{"k":{"S":"a"},"n":{"N":"%d"}}`, n) }

func batchBody(more string, numbers ...int) string {
	var keys []string
	for _, n := range numbers {
		keys = append(keys, keyOf(n))
	}
	return `{"RequestItems":{"Tab":{"Keys":[` + strings.Join(keys, ",") + `]` + more + `}}}`
}

func TestBatchesAskForTheRest(t *testing.T) {
	x := start(t)
	direct := func(body string) string {
		t.Helper()
		answer, err := x.store.Store.Do(t.Context(), "BatchGetItem", []byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	for _, n := range []int{1, 2, 4} {
		x.do("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"a"},"n":{"N":"%d"},"v":{"S":"v%d"}}}`, n, n))
	}
	for _, step := range []struct {
		numbers []int
		asked   []int // nil: the store was not asked
	}{
		{[]int{2, 1, 3}, []int{2, 1, 3}},
		{[]int{1, 3, 2}, nil},
		{[]int{5, 2, 4, 3, 1}, []int{5, 4}},
		{[]int{4, 5}, nil},
	} {
		body := batchBody("", step.numbers...)
		x.store.took("BatchGetItem")
		if got, want := x.do("BatchGetItem", body), direct(body); got != want {
			t.Errorf("%v: %s, the store says %s", step.numbers, got, want)
		}
		asked := x.store.took("BatchGetItem")
		if (asked > 0) != (step.asked != nil) || asked > 0 && x.store.last["BatchGetItem"] != batchBody("", step.asked...) {
			t.Errorf("%v: asked %d times, the last for %s", step.numbers, asked, x.store.last["BatchGetItem"])
		}
	}
	// Items from batches serve GetItem, and the reverse.
	x.store.took("GetItem")
	if got := x.do("GetItem", `{"TableName":"Tab","Key":`+keyOf(4)+`}`); got != `{"Item":{"k":{"S":"a"},"n":{"N":"4"},"v":{"S":"v4"}}}` || x.store.took("GetItem") != 0 {
		t.Errorf("of a batch: %s, or the store was asked", got)
	}
	x.do("GetItem", `{"TableName":"Tab","Key":`+keyOf(6)+`}`)
	if got := x.do("BatchGetItem", batchBody("", 6)); got != `{"Responses":{"Tab":[]},"UnprocessedKeys":{}}` || x.store.took("BatchGetItem") != 0 {
		t.Errorf("of a GetItem: %s, or the store was asked", got)
	}
	x.do("PutItem", `{"TableName":"Tab","Item":`+keyOf(6)+`}`)
	if got := x.do("BatchGetItem", batchBody("", 6, 1)); got != direct(batchBody("", 6, 1)) {
		t.Errorf("after a put: %s", got)
	}
}

func TestBatchesTakeCapacityOfTheRest(t *testing.T) {
	x := start(t)
	x.do("CreateTable", strings.Replace(createT, `"Tab"`, `"Uab"`, 1))
	x.do("PutItem", putBody("1"))
	x.do("GetItem", getBody())
	body := `{"RequestItems":{"Tab":{"Keys":[` + keyOf(1) + `]},"Uab":{"Keys":[` + keyOf(1) + `]}},"ReturnConsumedCapacity":"TOTAL"}`
	capacity := func() string {
		t.Helper()
		var a struct{ ConsumedCapacity json.RawMessage }
		if err := json.Unmarshal([]byte(x.do("BatchGetItem", body)), &a); err != nil {
			t.Fatal(err)
		}
		return string(a.ConsumedCapacity)
	}
	if got := capacity(); got != `[{"TableName":"Tab","CapacityUnits":0.0},{"TableName":"Uab","CapacityUnits":0.5}]` {
		t.Errorf("with one item kept: %s", got)
	}
	if got := capacity(); got != `[{"TableName":"Tab","CapacityUnits":0.0},{"TableName":"Uab","CapacityUnits":0.0}]` {
		t.Errorf("with both kept: %s", got)
	}
}

// TestBatchesWithoutKeysAreNotKept checks that items without their keys are not kept, because they
// cannot be told apart.
func TestBatchesWithoutKeysAreNotKept(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	for i := range 2 {
		got := x.do("BatchGetItem", batchBody(`,"ProjectionExpression":"v,n"`, 1, 2))
		if got != `{"Responses":{"Tab":[{"n":{"N":"1"},"v":{"S":"1"}}]},"UnprocessedKeys":{}}` || x.store.took("BatchGetItem") != 1 {
			t.Errorf("without the key: %s, or the store was not asked", got)
		}
		got = x.do("BatchGetItem", batchBody(`,"ProjectionExpression":"v,n,k"`, 1, 2))
		if got != `{"Responses":{"Tab":[{"k":{"S":"a"},"n":{"N":"1"},"v":{"S":"1"}}]},"UnprocessedKeys":{}}` || x.store.took("BatchGetItem") != 1-i {
			t.Errorf("with the key: %s, or the store was asked again", got)
		}
	}
}

// TestBatchesWithoutKeysAreAskedForOnce checks that such items are not asked for twice if another
// request has left similar ones.
func TestBatchesWithoutKeysAreAskedForOnce(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	x.do("PutItem", `{"TableName":"Tab","Item":`+keyOf(2)+`}`)
	x.get(`,"ProjectionExpression":"v,n"`)
	x.do("BatchGetItem", batchBody(`,"ProjectionExpression":"v,n"`, 1, 2))
	if n := x.store.took("BatchGetItem"); n != 1 {
		t.Errorf("the store was asked %d times", n)
	}
}

// TestLargeBatches checks that an answer is no longer than the store's would be.
func TestLargeBatches(t *testing.T) {
	x := start(t, func(o *Options) { o.Size = 64 << 20 })
	var numbers []int
	for n := range 50 {
		x.do("PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"a"},"n":{"N":"%d"},"v":{"S":"%s"}}}`, n, strings.Repeat("x", 390_000)))
		x.do("GetItem", `{"TableName":"Tab","Key":`+keyOf(n)+`}`)
		numbers = append(numbers, n)
	}
	body := batchBody("", numbers...)
	want, err := x.store.Store.Do(t.Context(), "BatchGetItem", []byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := x.do("BatchGetItem", body); got != string(want) || !strings.Contains(got, `"UnprocessedKeys":{"Tab"`) {
		t.Errorf("%d bytes of items, the store answers %d", len(got), len(want))
	}
}

// TestBatchesLeaveKeys checks that a key that the store has left out is not taken for a key without
// an item.
func TestBatchesLeaveKeys(t *testing.T) {
	x := start(t)
	x.do("GetItem", `{"TableName":"Tab","Key":`+keyOf(3)+`}`)
	x.store.override = func(operation, _ string) (string, bool) {
		return `{"UnprocessedKeys":{"Tab":{"Keys":[` + keyOf(2) + `]}},"Responses":{"Tab":[{"v":{"S":"x"},"n":{"N":"1"},"k":{"S":"a"}}]}}`, operation == "BatchGetItem"
	}
	if got := x.do("BatchGetItem", batchBody("", 2, 3, 1)); got !=
		`{"Responses":{"Tab":[{"v":{"S":"x"},"n":{"N":"1"},"k":{"S":"a"}}]},"UnprocessedKeys":{"Tab":{"Keys":[`+keyOf(2)+`]}}}` {
		t.Error(got)
	}
	x.store.override = nil
	x.store.took("GetItem")
	for n, want := range map[int]int{1: 0, 2: 1, 3: 0} {
		x.do("GetItem", `{"TableName":"Tab","Key":`+keyOf(n)+`}`)
		if got := x.store.took("GetItem"); got != want {
			t.Errorf("item %d: the store was asked %d times, want %d", n, got, want)
		}
	}
}

// TestAnswersOfAnUnknownForm checks that an answer of an unknown form is neither kept nor composed.
func TestAnswersOfAnUnknownForm(t *testing.T) {
	x := start(t)
	x.do("PutItem", putBody("1"))
	x.do("GetItem", `{"TableName":"Tab","Key":`+keyOf(3)+`}`)
	for _, odd := range []string{
		`{"Responses":{"Tab":[{"k":{"S":"a"},"n":{"N":"1"}}]},"UnprocessedKeys":{},"More":1}`,
		`{"Responses":{},"UnprocessedKeys":{}}`,
		`{"Responses":{"Uab":[]},"UnprocessedKeys":{}}`,
		`{"Responses":{"Tab":[{"k":{"S":"b"},"n":{"N":"1"}}]},"UnprocessedKeys":{}}`,
		`{"Responses":{"Tab":[{"v":{"S":"b"}}]},"UnprocessedKeys":{}}`,
		`{"Responses":{"Tab":[`,
	} {
		x.store.override = func(operation, _ string) (string, bool) { return odd, operation == "BatchGetItem" }
		if got := x.do("BatchGetItem", batchBody("", 1)); got != odd {
			t.Errorf("%s becomes %s", odd, got)
		}
		x.store.took("BatchGetItem")
		x.do("BatchGetItem", batchBody("", 3, 1))
		if n, last := x.store.took("BatchGetItem"), x.store.last["BatchGetItem"]; n != 2 || last != batchBody("", 3, 1) {
			t.Errorf("%s to a part of the request: asked %d times, at last for %s", odd, n, last)
		}
		x.store.override = nil
	}
	odd := `{"Item":{"k":{"S":"a"},"n":{"N":"1"}},"More":1}`
	x.store.override = func(operation, _ string) (string, bool) { return odd, operation == "GetItem" }
	if got, _ := x.get(); got != odd {
		t.Errorf("%s becomes %s", odd, got)
	}
	x.store.override = nil
	x.want("after it", itemAnswer("1"), true)
}
