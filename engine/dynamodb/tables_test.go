// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/internal/testkit/allocs"
)

const addIndex = `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"g","AttributeType":"S"}],
	"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"by-g","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`

// inIndex returns the keys of the items with a partition key of the index.
func inIndex(t testing.TB, s *opened, g string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, it := range s.must(t, "Query", `{"TableName":"Tab","IndexName":"by-g","KeyConditionExpression":"g = :g","ExpressionAttributeValues":{":g":{"S":"`+g+`"}}}`)["Items"].([]any) {
		found[fmt.Sprint(dig(it, "k", "S"))] = fmt.Sprint(dig(it, "v", "N"))
	}
	return found
}

// filled waits until the table's indexes are filled.
func filled(t testing.TB, s *opened) {
	t.Helper()
	await(t, "the indexes are filled", func() bool { return !s.tables.lookup("Tab").shape.Load().filling() })
}

// An index that is added during writes has all items in their last state.
func TestIndexIsFilledUnderWrites(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", hashTable)
	put := func(k, v int) {
		s.try(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"%d"},"g":{"S":"%d"},"v":{"N":"%d"}}}`, k, v%2, v))
	}
	const items, rounds = 300, 4
	for k := range items {
		put(k, 0)
	}
	var running sync.WaitGroup
	for w := range 3 {
		running.Go(func() {
			for v := 1; v <= rounds; v++ {
				for k := w; k < items; k += 3 {
					put(k, v)
				}
			}
		})
	}
	m := s.must(t, "UpdateTable", addIndex)
	if got := fmt.Sprint(dig(m, "TableDescription", "TableStatus")); got != "UPDATING" {
		t.Errorf("status %s", got)
	}
	running.Wait()
	filled(t, s)
	if got := len(inIndex(t, s, "1")); got != 0 {
		t.Errorf("%d items under what they were before", got)
	}
	got := inIndex(t, s, "0")
	for k := range items {
		if got[fmt.Sprint(k)] != fmt.Sprint(rounds) {
			t.Errorf("item %d is %q in the index", k, got[fmt.Sprint(k)])
		}
	}
	s.must(t, "UpdateTable", `{"TableName":"Tab","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"by-g"}}]}`)
	s.fails(t, exception.Validation, "Query", `{"TableName":"Tab","IndexName":"by-g","KeyConditionExpression":"g = :g","ExpressionAttributeValues":{":g":{"S":"0"}}}`)
	sh := s.tables.lookup("Tab").shape.Load()
	if size, _, err := sh.count(s.space, 1); err != nil || size.Items != 0 {
		t.Errorf("of the index that is gone there are %d entries; %v", size.Items, err)
	}
	// A new index of the same name has no entries of the old one.
	s.must(t, "UpdateTable", addIndex)
	filled(t, s)
	if got := len(inIndex(t, s, "0")); got != items {
		t.Errorf("%d items in the new index", got)
	}
}

// After a crash, an interrupted fill is done again.
func TestFillIsResumed(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs, Options{})
	s.must(t, "CreateTable", hashTable)
	for k := range 50 {
		s.must(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"%d"},"g":{"S":"x"},"v":{"N":"1"}}}`, k))
	}
	// The state after UpdateTable, with nothing filled yet.
	r := s.tables.lookup("Tab").shape.Load().record.clone()
	r.Table.Definitions = append(r.Table.Definitions, schema.Definition{Name: "g", Type: 1})
	r.Table.Global = []schema.Index{{Name: "by-g", Key: schema.Key{Hash: []string{"g"}}, Projection: schema.Projection{Type: schema.ProjectAll}, Status: schema.Creating, Backfilling: true}}
	if err := r.number(); err != nil {
		t.Fatal(err)
	}
	if err := s.tables.redefine(s.tables.lookup("Tab"), r, nil); err != nil {
		t.Fatal(err)
	}
	s.fails(t, exception.Validation, "Scan", `{"TableName":"Tab","IndexName":"by-g"}`)
	s.close(t)
	s = open(t, fs, Options{})
	defer s.close(t)
	filled(t, s)
	if got := len(inIndex(t, s, "x")); got != 50 {
		t.Errorf("%d items in the index", got)
	}
}

// Tables and items remain after closing and opening. A table that was deleted and created again is
// empty.
func TestTablesAreKept(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs, Options{})
	s.must(t, "CreateTable", hashTable)
	s.must(t, "PutItem", `{"TableName":"Tab","Item":{"k":{"S":"a"}}}`)
	s.must(t, "TagResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab","Tags":[{"Key":"team","Value":"x"}]}`)
	before := s.must(t, "DescribeTable", `{"TableName":"Tab"}`)
	s.close(t)
	s = open(t, fs, Options{})
	if diff := cmp.Diff(before, s.must(t, "DescribeTable", `{"TableName":"Tab"}`)); diff != "" {
		t.Errorf("(- before, + after)\n%s", diff)
	}
	if m := s.must(t, "ListTagsOfResource", `{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/Tab"}`); fmt.Sprint(m["Tags"]) != "[map[Key:team Value:x]]" {
		t.Errorf("tags %v", m)
	}
	if got := fmt.Sprint(dig(before, "Table", "ItemCount")); got != "1" {
		t.Errorf("%s items", got)
	}
	s.must(t, "DeleteTable", `{"TableName":"Tab"}`)
	s.fails(t, exception.ResourceNotFound, "GetItem", `{"TableName":"Tab","Key":{"k":{"S":"a"}}}`)
	s.close(t)
	s = open(t, fs, Options{})
	defer s.close(t)
	s.fails(t, exception.ResourceNotFound, "DescribeTable", `{"TableName":"Tab"}`)
	s.must(t, "CreateTable", hashTable)
	if m := s.must(t, "Scan", `{"TableName":"Tab"}`); fmt.Sprint(m["Count"]) != "0" {
		t.Errorf("a new table has %v", m)
	}
	s.fails(t, exception.ResourceInUse, "CreateTable", hashTable)
}

func TestDeletionProtection(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", strings.Replace(hashTable, `"BillingMode"`, `"DeletionProtectionEnabled":true,"BillingMode"`, 1))
	e := s.fails(t, exception.Validation, "DeleteTable", `{"TableName":"Tab"}`)
	if !strings.Contains(e.Message, "protected against deletion") {
		t.Error(e)
	}
	s.must(t, "UpdateTable", `{"TableName":"Tab","DeletionProtectionEnabled":false}`)
	s.must(t, "DeleteTable", `{"TableName":"Tab"}`)
}

func TestWhatIsNotSupportedIsRefused(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", hashTable)
	s.fails(t, exception.UnknownOperation, "ExecuteStatement", `{"Statement":"SELECT * FROM Tab"}`)
	if s.Has("ExecuteStatement") {
		t.Error("PartiQL is said to be there")
	}
}

// The store reads what an older version wrote, and refuses what a newer one wrote.
func TestFormat(t *testing.T) {
	text, err := os.ReadFile("testdata/record.1.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := decodeRecord(text)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(text)), string(got)); diff != "" {
		t.Errorf("the form of records has changed; raise the format's version (- kept, + now):\n%s", diff)
	}
	fs := vfs.NewMem()
	s := open(t, fs, Options{})
	if err := s.space.Pebble.Set(formatKey(s.space), []byte("3"), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	s.close(t)
	db, err := storage.Open("d", storage.Options{FS: fs, SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := Open(db, Options{}); !errors.Is(err, storage.ErrNewer) {
		t.Errorf("got %v", err)
	}
}

// A page ends with the item that reaches 1 MB, whatever the filter accepts. The size of all items
// is the sum of the pages.
func TestPagesOfOneMegabyte(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"k","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}]}`)
	const items = 30
	long := strings.Repeat("x", 100_000)
	for n := range items {
		s.must(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"a"},"n":{"N":"%d"},"x":{"S":"%s"}}}`, n, long))
	}
	for _, direction := range []string{"true", "false"} {
		all, pages, start := 0, 0, ""
		for {
			m := s.must(t, "Query", `{"TableName":"Tab","ScanIndexForward":`+direction+`,"KeyConditionExpression":"k = :k","FilterExpression":"attribute_not_exists(x)","ExpressionAttributeValues":{":k":{"S":"a"}},"ReturnConsumedCapacity":"TOTAL"`+start+`}`)
			if m["Count"] != 0.0 {
				t.Errorf("the filter lets %v through", m["Count"])
			}
			pages++
			all += int(m["ScannedCount"].(float64))
			last, more := m["LastEvaluatedKey"]
			if units := dig(m, "ConsumedCapacity", "CapacityUnits"); more && units != 134.5 { // 11 items of 100,005 bytes are 268.6 units of 4 KB, halved
				t.Errorf("a page took %v units", units)
			}
			if !more {
				break
			}
			if m["ScannedCount"] != 11.0 {
				t.Errorf("a page of %v items", m["ScannedCount"])
			}
			start = `,"ExclusiveStartKey":` + jsonOf(t, last)
		}
		if all != items || pages != 3 {
			t.Errorf("%d items in %d pages", all, pages)
		}
	}
	if got := dig(s.must(t, "DescribeTable", `{"TableName":"Tab"}`), "Table", "TableSizeBytes"); got != 3_000_179.0 { // n takes 1 byte for 0, else 2
		t.Errorf("%v bytes", got)
	}
}

// Global indexes with several attributes in each part of the key.
func TestMultiAttributeKeys(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"},{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b","AttributeType":"N"},{"AttributeName":"c","AttributeType":"N"},{"AttributeName":"d","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}],
		"GlobalSecondaryIndexes":[{"IndexName":"multi","Projection":{"ProjectionType":"KEYS_ONLY"},
			"KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"HASH"},{"AttributeName":"c","KeyType":"RANGE"},{"AttributeName":"d","KeyType":"RANGE"}]}]}`)
	n := 0
	for c := range 3 {
		for _, d := range []string{"x", "xy", "y"} {
			s.must(t, "PutItem", fmt.Sprintf(`{"TableName":"Tab","Item":{"k":{"S":"%d"},"a":{"S":"a"},"b":{"N":"1"},"c":{"N":"%d"},"d":{"S":"%s"}}}`, n, c, d))
			n++
		}
	}
	s.must(t, "PutItem", `{"TableName":"Tab","Item":{"k":{"S":"other"},"a":{"S":"a"},"b":{"N":"2"},"c":{"N":"0"},"d":{"S":"x"}}}`)
	s.must(t, "PutItem", `{"TableName":"Tab","Item":{"k":{"S":"sparse"},"a":{"S":"a"},"b":{"N":"1"},"c":{"N":"0"}}}`)
	query := func(condition, values string) (ks string) {
		for _, it := range s.must(t, "Query", `{"TableName":"Tab","IndexName":"multi","KeyConditionExpression":"a = :a AND b = :b`+condition+`","ExpressionAttributeValues":{":a":{"S":"a"},":b":{"N":"1"}`+values+`}}`)["Items"].([]any) {
			ks += fmt.Sprint(dig(it, "k", "S"))
		}
		return ks
	}
	for _, q := range [][3]string{
		{"", "", "012345678"},
		{" AND c = :c", `,":c":{"N":"1"}`, "345"},
		{" AND c > :c", `,":c":{"N":"0"}`, "345678"},
		{" AND c = :c AND begins_with(d, :d)", `,":c":{"N":"1"},":d":{"S":"x"}`, "34"},
		{" AND c = :c AND d > :d", `,":c":{"N":"2"},":d":{"S":"x"}`, "78"},
	} {
		if got := query(q[0], q[1]); got != q[2] {
			t.Errorf("%s: %s, not %s", q[0], got, q[2])
		}
	}
	s.fails(t, exception.Validation, "Query", `{"TableName":"Tab","IndexName":"multi","KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"a"}}}`)
	s.fails(t, exception.Validation, "Query", `{"TableName":"Tab","IndexName":"multi","KeyConditionExpression":"a = :a AND b = :b AND d = :d","ExpressionAttributeValues":{":a":{"S":"a"},":b":{"N":"1"},":d":{"S":"x"}}}`)
	// Pages go through the index in both directions.
	for _, direction := range []string{"true", "false"} {
		seen, start := 0, ""
		for {
			m := s.must(t, "Query", `{"TableName":"Tab","IndexName":"multi","Limit":2,"ScanIndexForward":`+direction+`,"KeyConditionExpression":"a = :a AND b = :b","ExpressionAttributeValues":{":a":{"S":"a"},":b":{"N":"1"}}`+start+`}`)
			seen += int(m["Count"].(float64))
			last, ok := m["LastEvaluatedKey"]
			if !ok {
				break
			}
			start = `,"ExclusiveStartKey":` + jsonOf(t, last)
		}
		if seen != 9 {
			t.Errorf("%d items", seen)
		}
	}
}

// Many entries with one index key: pages go through the entries with equal keys.
func TestTies(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"},{"AttributeName":"h","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}],
		"GlobalSecondaryIndexes":[{"IndexName":"tied","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"h","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`)
	const items = 2000
	for from := 0; from < items; from += 25 {
		writes := ""
		for k := from; k < from+25; k++ {
			writes += fmt.Sprintf(`,{"PutRequest":{"Item":{"k":{"S":"%d"},"g":{"S":"x"},"h":{"N":"1"}}}}`, k)
		}
		s.must(t, "BatchWriteItem", `{"RequestItems":{"Tab":[`+writes[1:]+`]}}`)
	}
	for _, direction := range []string{"true", "false"} {
		seen, start := map[string]bool{}, ""
		for {
			m := s.must(t, "Query", `{"TableName":"Tab","IndexName":"tied","Limit":7,"ScanIndexForward":`+direction+`,"KeyConditionExpression":"g = :g AND h = :h","ExpressionAttributeValues":{":g":{"S":"x"},":h":{"N":"1"}}`+start+`}`)
			for _, it := range m["Items"].([]any) {
				k := fmt.Sprint(dig(it, "k", "S"))
				if seen[k] {
					t.Fatalf("item %s twice", k)
				}
				seen[k] = true
			}
			last, ok := m["LastEvaluatedKey"]
			if !ok {
				break
			}
			start = `,"ExclusiveStartKey":` + jsonOf(t, last)
		}
		if len(seen) != items {
			t.Errorf("%d items of %d", len(seen), items)
		}
	}
}

// Reading an item is mostly copying.
func TestGetAllocates(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", hashTable)
	s.must(t, "PutItem", `{"TableName":"Tab","Item":{"k":{"S":"a"},"x":{"S":"`+strings.Repeat("x", 900)+`"}}}`)
	body := []byte(`{"TableName":"Tab","Key":{"k":{"S":"a"}}}`)
	dst := make([]byte, 0, 4096)
	n := allocs.PerRun(200, func() {
		if _, err := s.Do(t.Context(), "GetItem", body, dst); err != nil {
			t.Fatal(err)
		}
	})
	if n > 12 {
		t.Errorf("%v allocations", n)
	}
}

// A global index has the projected attributes. A local index can also fetch from the table. The
// error messages are recorded from AWS (internal/dynamodiff/testdata/partiql).
func TestGlobalIndexesFetchNothing(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],
		"LocalSecondaryIndexes":[{"IndexName":"local","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"g","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
		"GlobalSecondaryIndexes":[{"IndexName":"global","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x"]}}]}`)
	s.must(t, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"b"},"g":{"S":"c"},"x":{"S":"in it"},"y":{"S":"not in it"}}}`)
	const global = `{"TableName":"Tab","IndexName":"global","KeyConditionExpression":"g = :g","ExpressionAttributeValues":{":g":{"S":"c"}}`
	want := "One or more parameter values were invalid: Global secondary index global does not project [y, z]"
	for operation, body := range map[string]string{
		"Query": global + `,"ProjectionExpression":"h, y.c, x, z.a, y.b"}`,
		"Scan":  `{"TableName":"Tab","IndexName":"global","AttributesToGet":["y","g","z"]}`,
	} {
		if e := s.fails(t, exception.Validation, operation, body); e.Message != want {
			t.Errorf("%s: %s", operation, e.Message)
		}
	}
	for _, body := range []string{
		global + `,"ProjectionExpression":"h, r, g, x"}`,
		`{"TableName":"Tab","IndexName":"local","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}},"ProjectionExpression":"x, y"}`,
	} {
		if m := s.must(t, "Query", body); !strings.Contains(jsonOf(t, m), "in it") {
			t.Errorf("%s: %s", body, jsonOf(t, m))
		}
	}
}

// A Query's filter may look at the attributes of the index, of both kinds of index (recorded from
// AWS). A Scan sees no other attributes.
func TestFiltersSeeWhatTheIndexHas(t *testing.T) {
	s := start(t)
	s.must(t, "CreateTable", `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}],
		"LocalSecondaryIndexes":[{"IndexName":"local","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"g","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
		"GlobalSecondaryIndexes":[{"IndexName":"global","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x"]}},
			{"IndexName":"all","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`)
	s.must(t, "PutItem", `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"b"},"g":{"S":"c"},"x":{"S":"in it"},"y":{"S":"not in it"}}}`)
	const (
		global = `{"TableName":"Tab","IndexName":"global","KeyConditionExpression":"g = :g","ExpressionAttributeValues":{":g":{"S":"c"}}`
		local  = `{"TableName":"Tab","IndexName":"local","KeyConditionExpression":"h = :h","ExpressionAttributeValues":{":h":{"S":"a"}}`
	)
	for body, missing := range map[string]string{
		global + `,"FilterExpression":"z.b = y OR NOT (contains(h, y) AND attribute_exists(x))"}`:                                                                                       "global does not project one or more filter attributes: [y, z]",
		global + `,"FilterExpression":"y = x","Select":"COUNT","ProjectionExpression":"y"}`:                                                                                             "",
		local + `,"FilterExpression":"attribute_exists(x)","Select":"ALL_ATTRIBUTES"}`:                                                                                                  "local does not project one or more filter attributes: [x]",
		`{"TableName":"Tab","IndexName":"global","KeyConditions":{"g":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"c"}]}},"QueryFilter":{"y":{"ComparisonOperator":"NULL"}}}`: "global does not project one or more filter attributes: [y]",
	} {
		e := s.fails(t, exception.Validation, "Query", body)
		if missing != "" && e.Message != "One or more parameter values were invalid: Secondary index "+missing {
			t.Errorf("%s: %s", body, e.Message)
		}
	}
	for body, count := range map[string]float64{
		global + `,"FilterExpression":"x <> r OR r = h"}`:                             1,
		strings.Replace(global, "global", "all", 1) + `,"FilterExpression":"y <> x"}`: 1,
		local + `,"FilterExpression":"attribute_exists(r)"}`:                          1,
	} {
		if m := s.must(t, "Query", body); m["Count"] != count {
			t.Errorf("%s: %s", body, jsonOf(t, m))
		}
	}
	for filter, count := range map[string]float64{"attribute_exists(y)": 0, "attribute_not_exists(y)": 1} {
		for _, index := range []string{"global", "local"} {
			if m := s.must(t, "Scan", `{"TableName":"Tab","IndexName":"`+index+`","FilterExpression":"`+filter+`"}`); m["Count"] != count {
				t.Errorf("Scan %s, %s: %s", index, filter, jsonOf(t, m))
			}
		}
	}
}
