// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// otherTab returns a request with table Other instead of Tab.
func otherTab(body string) string {
	return strings.NewReplacer(`"Tab"`, `"Other"`, "/Tab", "/Other").Replace(body)
}

// TestKeysWithZeroBytes checks that keys are distinguished whatever characters they contain.
func TestKeysWithZeroBytes(t *testing.T) {
	s := start(t, 1)
	byHand(t, s, 0, nil)
	must(t, s, "PutItem", putTab(`a\u0000b-1`, "c"))
	must(t, s, "PutItem", putTab("a-2", `b\u0000c`))
	must(t, s, "TagResource", tagWith("adopt=suffix strategy=random shards=3 write-once"))
	m := must(t, s, "BatchGetItem", `{"RequestItems":{"Tab":{"Keys":[{"h":{"S":"a\u0000b"},"r":{"S":"c"}},{"h":{"S":"a"},"r":{"S":"b\u0000c"}}]}}}`)
	if found := m["Responses"].(map[string]any)["Tab"].([]any); len(found) != 2 {
		t.Errorf("of two items %d are found: %v", len(found), found)
	}
}

// TestSearchInSeveralTables checks that a search in several tables, in any order, names each table
// once in a request, as the API requires.
func TestSearchInSeveralTables(t *testing.T) {
	s := start(t, 1)
	byHand(t, s, 0, nil)
	must(t, s, "CreateTable", otherTab(plainTable)+"}")
	for i := 1; i <= 3; i++ {
		must(t, s, "PutItem", putTab(fmt.Sprint("k-", i), fmt.Sprint(i)))
		must(t, s, "PutItem", otherTab(putTab(fmt.Sprint("k-", i), fmt.Sprint(i))))
	}
	must(t, s, "TagResource", tagWith("adopt=suffix strategy=random shards=3 write-once"))
	must(t, s, "TagResource", otherTab(tagWith("adopt=suffix strategy=random shards=3 write-once")))
	r := again(t, once{t, s.store}, 1)
	var gets []string
	for i := 1; i <= 3; i++ {
		get := `{"Get":` + keyTab("k", fmt.Sprint(i)) + `}`
		gets = append(gets, get, otherTab(get))
	}
	m := must(t, r, "TransactGetItems", `{"TransactItems":[`+strings.Join(gets, ",")+`]}`)
	for i, item := range m["Responses"].([]any) {
		if item.(map[string]any)["Item"] == nil {
			t.Errorf("%s is not found", gets[i])
		}
	}
}

// once fails the test if a BatchGetItem, as an endpoint gets it, names a table twice, asks for more
// than keys, or is not consistent.
type once struct {
	t *testing.T
	*recorder
}

func (o once) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	if get, ok := q.(*api.BatchGetItem); ok {
		names := make(map[string]bool)
		for _, in := range get.Tables {
			names[in.Table] = true
		}
		if len(names) != len(get.Tables) {
			o.t.Errorf("a table is there twice: %s", q.AppendJSON(nil))
		}
		if text := string(q.AppendJSON(nil)); strings.Count(text, `"ConsistentRead":true`) != len(names) || strings.Count(text, `"ProjectionExpression"`) != len(names) {
			o.t.Errorf("an endpoint is not asked for keys, as they are now: %s", text)
		}
	}
	return o.recorder.Answer(ctx, q, use)
}

// TestIndexMadeDuringAdoption covers an index with the partition key in its key that was created
// while the items were read, or by a door that did not know of the adoption. A Query of it is
// refused, not answered with nothing.
func TestIndexMadeDuringAdoption(t *testing.T) {
	const index = `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"inverse","KeySchema":[{"AttributeName":"r","KeyType":"HASH"},{"AttributeName":"h","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}}]}`
	s := start(t, 1)
	byHand(t, s, 10, calculated(3))
	store := &during{recorder: s.store}
	store.scan = func() { must(t, s.store, "UpdateTable", index) }
	r := again(t, store, 1)
	fails(t, r, exception.Validation, "index inverse has h in its key", "TagResource", tagWith("adopt=suffix shards=3"))
	if m := must(t, r, "Query", queryTab("121212-1", "")); len(sorts(m)) == 0 {
		t.Error("the table is no plain one")
	}
	must(t, r, "UpdateTable", `{"TableName":"Tab","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"inverse"}}]}`)
	must(t, r, "TagResource", tagWith("adopt=suffix shards=3"))
	must(t, s.store, "UpdateTable", index)
	whenActive(t, r)
	fails(t, again(t, store, 1), exception.Validation, "index inverse has h in its key", "Query",
		`{"TableName":"Tab","IndexName":"inverse","KeyConditionExpression":"r = :r AND h = :h","ExpressionAttributeValues":{":r":{"S":"Client0001"},":h":{"S":"121212"}}}`)
}

// during runs something when the store first gets a Scan.
type during struct {
	*recorder
	scans atomic.Int64
	scan  func()
}

func (d *during) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	if _, ok := q.(*api.Scan); ok && d.scan != nil && d.scans.Add(1) == 1 {
		d.scan()
	}
	return d.recorder.Answer(ctx, q, use)
}

// TestPageEndsAtAMisplacedItem checks that a page that ends with a misplaced item has no position
// after it. A client that continued would begin elsewhere, and perhaps never end.
func TestPageEndsAtAMisplacedItem(t *testing.T) {
	s := start(t, 1)
	byHand(t, s, 20, calculated(3))
	must(t, s, "TagResource", tagWith("adopt=suffix shards=3"))
	must(t, s.store, "PutItem", putTab("121212", "round the door"))
	must(t, s.store, "PutItem", putTab(fmt.Sprintf("121212-%d", calculated(3)("misplaced")%3+1), "misplaced"))
	seen := make(map[string]int)
	start, refused := "", 0
	for range 40 {
		m, err := do(s, "Scan", `{"TableName":"Tab","Limit":1`+start+`}`)
		if err != nil {
			if e := exception.Of(err); e.Kind != exception.Validation || !strings.Contains(e.Message, "121212") {
				t.Fatal(err)
			}
			refused++
			break
		}
		for _, r := range sorts(m) {
			if seen[r]++; seen[r] > 1 {
				t.Fatalf("item %s comes again", r)
			}
		}
		if m["LastEvaluatedKey"] == nil {
			break
		}
		start = `,"ExclusiveStartKey":` + jsonOf(t, m["LastEvaluatedKey"])
	}
	if refused == 0 {
		t.Errorf("a scan has %d items, and no error", len(seen))
	}
}

// TestTwoAdoptionsAtOnce checks that an adoption that loses against another leaves the other's tag.
func TestTwoAdoptionsAtOnce(t *testing.T) {
	s := start(t, 1)
	byHand(t, s, 20, calculated(3))
	store := &during{recorder: s.store}
	r := again(t, store, 1)
	store.scan = func() { must(t, r, "TagResource", tagWith("adopt=suffix shards=3")) }
	if _, err := do(r, "TagResource", tagWith("adopt=suffix shards=3")); err != nil && exception.Of(err).Kind != exception.ResourceInUse {
		t.Fatal(err)
	}
	if m := must(t, r, "GetItem", keyTab("121212", "Client0001")); m["Item"] == nil {
		t.Error("the table is not adopted")
	}
	if tags := jsonOf(t, must(t, r, "ListTagsOfResource", `{"ResourceArn":"`+tabARN+`"}`)); !strings.Contains(tags, "adopt=suffix shards=3") {
		t.Errorf("the tag is gone: %s", tags)
	}
}

// TestAdoptedTableThatIsAnother checks that a table that was created again behind the door is not
// taken for the adopted one.
func TestAdoptedTableThatIsAnother(t *testing.T) {
	s := start(t, 1)
	byHand(t, s, 0, nil)
	must(t, s, "TagResource", tagWith("adopt=suffix shards=3"))
	must(t, s.store, "DeleteTable", `{"TableName":"Tab"}`)
	must(t, s.store, "CreateTable", plainTable+"}")
	r := again(t, s.store, 1)
	fails(t, r, exception.Validation, "is another than", "TagResource", tagWith("adopt=suffix shards=3"))
	must(t, r, "UntagResource", untagTab)
	must(t, r, "TagResource", tagWith("adopt=suffix shards=3"))
}

// undescribed is a store whose table has an index that is being filled, and that cannot be
// described after a search.
type undescribed struct {
	*recorder
	searched atomic.Bool
}

func (u *undescribed) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	switch q.(type) {
	case *api.BatchGetItem:
		defer u.searched.Store(true)
	case *api.DescribeTable:
		if u.searched.Load() {
			return exception.New(exception.InternalServerError, "it cannot be described")
		}
		return u.recorder.Answer(ctx, q, func(a api.Response) error {
			r := *a.(*api.TableResponse)
			t := *r.Table
			t.Global = slices.Clone(t.Global)
			for i := range t.Global {
				t.Global[i].Status = schema.Creating
			}
			r.Table = &t
			return use(&r)
		})
	}
	return u.recorder.Answer(ctx, q, use)
}

// TestTablesOfASearchStay checks that a search's second step uses the tables of the first. A table
// that cannot be described in between is not taken for a plain one.
func TestTablesOfASearchStay(t *testing.T) {
	s := start(t, 1)
	byHand(t, s, 0, nil)
	must(t, s, "UpdateTable", createIndex)
	whenActive(t, s)
	must(t, s, "TagResource", tagWith("adopt=suffix strategy=random shards=3 write-once"))
	r := again(t, &undescribed{recorder: s.store}, 1)
	put := strings.Replace(putTab("k", "a"), `{"T`, `{"ConditionExpression":"attribute_not_exists(h)","T`, 1)
	for _, table := range []string{"Tab", tabARN} {
		_, err := do(r, "PutItem", strings.Replace(put, `:"Tab"`, `:"`+table+`"`, 1))
		if err != nil && exception.Of(err).Kind != exception.InternalServerError {
			t.Error(err)
		}
	}
	if m := must(t, s.store, "GetItem", keyTab("k", "a")); m["Item"] != nil {
		t.Error("an item lies where no adopted table finds it")
	}
}

// TestAdoptionOfAnEmptyKey checks that a key that consists only of the shard is refused, because no
// client could ask for it.
func TestAdoptionOfAnEmptyKey(t *testing.T) {
	s := start(t, 1)
	byHand(t, s, 0, nil)
	must(t, s, "PutItem", putTab("-1", "a"))
	fails(t, s, exception.Validation, "has no shard at the end of its partition key", "TagResource", tagWith("adopt=suffix strategy=random shards=3 write-once"))
}

// replacing runs something after a tag is removed.
type replacing struct {
	*recorder
	then func()
}

func (r *replacing) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	err := r.recorder.Answer(ctx, q, use)
	if _, ok := q.(*api.UntagResource); ok && r.then != nil {
		r.then()
	}
	return err
}

// TestLeavingATableThatIsAnother checks that ending an adoption leaves a sharded table alone that
// was created under the name meanwhile.
func TestLeavingATableThatIsAnother(t *testing.T) {
	s := start(t, 1)
	byHand(t, s, 0, nil)
	store := &replacing{recorder: s.store}
	r := again(t, store, 1)
	must(t, r, "TagResource", tagWith("adopt=suffix shards=3"))
	store.then = func() {
		must(t, r, "DeleteTable", `{"TableName":"Tab"}`)
		must(t, r, "CreateTable", shardedTable)
		must(t, r, "PutItem", putTab("k", "a"))
	}
	must(t, r, "UntagResource", untagTab)
	for name, r := range map[string]doer{"the door": r, "after a restart": again(t, s.store, 1)} {
		if m, err := do(r, "GetItem", keyTab("k", "a")); err != nil || m["Item"] == nil {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}

// TestAdoptionOfATableWithShardedIndexes checks that a table with a sharded index is not adopted,
// and that the error says why.
func TestAdoptionOfATableWithShardedIndexes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, 1)
		byHand(t, s, 3, calculated(3))
		must(t, s, "TagResource", declareIndex)
		fails(t, s, exception.Validation, "has sharded indexes, or tags that declare some", "TagResource", tagWith("adopt=suffix shards=3"))
	})
}
