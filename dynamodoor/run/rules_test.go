// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// TestQueriesCountWhatAllShardsTake checks that a query consumes what its shards consume, at least
// half a unit each, and reports that for the table and the index.
func TestQueriesCountWhatAllShardsTake(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", strings.Replace(create(5), `"Tags":[`, `"GlobalSecondaryIndexes":[{"IndexName":"by-r","KeySchema":[{"AttributeName":"r","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],
		"Tags":[{"Key":"write-sharding.index.by-r","Value":"shards=3"},`, 1))
	units := func(m map[string]any, path ...string) float64 {
		for _, p := range path {
			m, _ = m[p].(map[string]any)
		}
		n, _ := m["CapacityUnits"].(float64)
		return n
	}
	const table, index = `"KeyConditionExpression":"h = :k","ExpressionAttributeValues":{":k":{"S":"121212"}}`,
		`"IndexName":"by-r","KeyConditionExpression":"r = :k","ExpressionAttributeValues":{":k":{"S":"none"}}`
	query := func(what string) map[string]any {
		return must(t, s, "Query", `{"TableName":"Tab","ReturnConsumedCapacity":"INDEXES",`+what+`}`)["ConsumedCapacity"].(map[string]any)
	}
	if c := query(table); units(c) != 2.5 || units(c, "Table") != 2.5 || c["TableName"] != "Tab" {
		t.Errorf("of nothing in 5 shards: %v", c)
	}
	if c := query(index); units(c) != 1.5 || units(c, "GlobalSecondaryIndexes", "by-r") != 1.5 || units(c, "Table") != 0 {
		t.Errorf("of nothing in 3 shards of an index: %v", c)
	}
	fill(t, s, 20, strings.Repeat("x", 8000)) // two eventually consistent units and a little more each
	c := query(table)
	if n := units(c); n < 20*1 || n > 20*1+5 {
		t.Errorf("of 20 items of 8 KB: %v", c)
	}
	if one := query(table + `,"Limit":1`); units(one) >= units(c) || units(one) < 2.5 {
		t.Errorf("of one of them: %v", one)
	}
}

// refusing is a store that refuses the next CreateTable.
type refusing struct {
	Backend
	refuse bool
}

func (r *refusing) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	if _, creates := q.(*api.CreateTable); creates && r.refuse {
		r.refuse = false
		return exception.New(exception.LimitExceeded, "too many tables")
	}
	return r.Backend.Answer(ctx, q, use)
}

// TestWhatIsNotCreatedIsForgotten checks that a table that could not be created leaves no entry:
// its name is free.
func TestWhatIsNotCreatedIsForgotten(t *testing.T) {
	store := &refusing{Backend: start(t, 1).store, refuse: true}
	r := again(t, store, 1)
	fails(t, r, exception.LimitExceeded, "too many tables", "CreateTable", create(5))
	must(t, r, "CreateTable", create(7))
	store.refuse = true
	fails(t, r, exception.LimitExceeded, "", "CreateTable", strings.Replace(create(5), `"Tab"`, `"Other"`, 1))
	plain := strings.Replace(strings.Replace(create(5), `"Tab"`, `"Other"`, 1), `"Tags"`, `"Nothing"`, 1)
	must(t, r, "CreateTable", plain)
	must(t, again(t, store, 1), "DescribeTable", `{"TableName":"Other"}`)
}

// TestIndexesWithoutAnEntryAreRefused checks that a plain table with sharded indexes that has lost
// its entry is refused. An item put into it without its shards would be in no index.
func TestIndexesWithoutAnEntryAreRefused(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", strings.Replace(strings.Replace(create(5), `{"Key":"write-sharding","Value":"strategy=calculated shards=5"}`, `{"Key":"write-sharding.index.by-r","Value":"shards=3"}`, 1),
		`"Tags":[`, `"GlobalSecondaryIndexes":[{"IndexName":"by-r","KeySchema":[{"AttributeName":"r","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],"Tags":[`, 1))
	const put = `{"TableName":"Tab","Item":{"h":{"S":"a"},"r":{"S":"1"}}}`
	must(t, s, "PutItem", put)
	must(t, s.store, "DeleteItem", `{"TableName":"evenkeel","Key":{"table":{"S":"Tab"}}}`)
	fails(t, again(t, s.store, 1), exception.Validation, "has lost its entry", "PutItem", put)
}

// TestCatalogueIsHiddenFromStatements checks that no statement shows the catalogue to a client.
func TestCatalogueIsHiddenFromStatements(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", create(5))
	for _, statement := range []string{"SELECT * FROM evenkeel", `SELECT * FROM "evenkeel" WHERE "table" = 'Tab'`, `DELETE FROM evenkeel WHERE "table" = 'Tab'`, `INSERT INTO evenkeel VALUE {'table':'x'}`} {
		fails(t, s, exception.ResourceNotFound, "", "ExecuteStatement", fmt.Sprintf(`{"Statement":%q}`, statement))
	}
	fails(t, s, exception.TransactionCanceled, "ResourceNotFound", "ExecuteTransaction", `{"TransactStatements":[{"Statement":"DELETE FROM evenkeel WHERE \"table\" = 'Tab'"}]}`)
	if m := must(t, s, "BatchExecuteStatement", `{"Statements":[{"Statement":"SELECT * FROM evenkeel WHERE \"table\" = 'Tab'"}]}`); !strings.Contains(fmt.Sprint(m), "ResourceNotFound") {
		t.Errorf("%v", m)
	}
}

// TestValuesLikeHiddenNamesAreForwarded checks that the read of a plain table's item is one
// request, even if a value begins like a hidden name.
func TestValuesLikeHiddenNamesAreForwarded(t *testing.T) {
	requests := 0
	count := &altered{Backend: start(t, 1).store, do: func(context.Context, string, []byte, []byte) ([]byte, error, bool) {
		requests++
		return nil, nil, false
	}}
	a := doorOn(t, count, ever)
	must(t, a, "CreateTable", plainTable+"}")
	must(t, a, "PutItem", strings.Replace(itemOfTab, `{"S":"y"}`, `{"S":"evenkeel.io"}`, 1))
	must(t, a, "GetItem", keyOfTab)
	requests = 0
	if m := must(t, a, "GetItem", keyOfTab); requests != 1 || !strings.Contains(fmt.Sprint(m), "evenkeel.io") {
		t.Errorf("%d requests: %v", requests, m)
	}
}

// TestReservedNamesAreNotIndexed checks that no door creates a table with an index on a reserved
// name, because doors would take it for a physical table that has lost its entry.
func TestReservedNamesAreNotIndexed(t *testing.T) {
	store := start(t, 1).store
	const index = `,"AttributeDefinitions":[{"AttributeName":"evenkeel.x","AttributeType":"S"}],
		"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"bad","KeySchema":[{"AttributeName":"evenkeel.x","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]}`
	for name, d := range map[string]doer{"Engine": again(t, store, 1), "Endpoint": doorOn(t, store, short)} {
		plain := strings.Replace(plainTable, `"Tab"`, `"`+name+`"`, 1)
		must(t, d, "CreateTable", plain+"}")
		must(t, d, "DescribeTable", `{"TableName":"`+name+`"}`)
		for _, table := range []string{name, "arn:aws:dynamodb:us-east-1:000000000000:table/" + name} {
			fails(t, d, exception.Validation, "attribute evenkeel.x: names that begin with evenkeel. are reserved", "UpdateTable", `{"TableName":"`+table+`"`+index)
		}
		must(t, d, "UpdateTable", `{"TableName":"`+name+`","DeletionProtectionEnabled":true}`)
		must(t, again(t, store, 1), "PutItem", strings.Replace(itemOfTab, `"Tab"`, `"`+name+`"`, 1))
	}
	must(t, again(t, store, 1), "CreateTable", shardedTable)
	fails(t, again(t, store, 1), exception.Validation, "attribute evenkeel.x: names that begin with evenkeel. are reserved", "UpdateTable", `{"TableName":"Tab"`+index)
}

// TestHiddenNamesAreRefused checks that no request on a sharded table may name a hidden attribute
// in any place. Otherwise the attribute's value would be shown, copied or lost.
func TestHiddenNamesAreRefused(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", strings.Replace(create(5), `"Tags":[`, `"GlobalSecondaryIndexes":[{"IndexName":"by-r","KeySchema":[{"AttributeName":"r","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],
		"Tags":[{"Key":"write-sharding.index.by-r","Value":"shards=3"},`, 1))
	fill(t, s, 1, "x")
	const (
		key    = `"TableName":"Tab","Key":{"h":{"S":"121212"},"r":{"S":"Client0000"}}`
		item   = `"TableName":"Tab","Item":{"h":{"S":"121212"},"r":{"S":"Client0000"}}`
		names  = `,"ExpressionAttributeNames":{"#n":"NAME"}`
		query  = `"TableName":"Tab","KeyConditionExpression":"h = :h"` + names
		values = `,"ExpressionAttributeValues":{":h":{"S":"121212"}}`
		index  = `{"IndexName":"more","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["NAME"]}}`
		where  = ` WHERE h = '121212' AND r = 'Client0000'`
	)
	statement := func(text string) string { return fmt.Sprintf(`{"Statement":%q}`, text) }
	for _, name := range []string{"evenkeel.pk", "evenkeel.s.by-r"} {
		for _, r := range [][2]string{
			{"GetItem", `{` + key + `,"ProjectionExpression":"r, #n"` + names + `}`},
			{"GetItem", `{` + key + `,"AttributesToGet":["NAME"]}`},
			{"Query", `{` + query + `,"ProjectionExpression":"#n"` + values + `}`},
			{"Query", `{` + query + `,"FilterExpression":"attribute_exists(#n)"` + values + `}`},
			{"Query", `{"TableName":"Tab","KeyConditions":{"h":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"121212"}]}},"QueryFilter":{"NAME":{"ComparisonOperator":"NOT_NULL"}}}`},
			{"Scan", `{"TableName":"Tab","FilterExpression":"size(#n) > :h"` + names + values + `}`},
			{"Scan", `{"TableName":"Tab","IndexName":"by-r","AttributesToGet":["NAME"]}`},
			{"PutItem", strings.Replace(`{`+item+`}`, `}}}`, `},"NAME":{"S":"x"}}}`, 1)},
			{"PutItem", `{` + item + `,"ConditionExpression":"attribute_exists(#n)"` + names + `}`},
			{"PutItem", `{` + item + `,"Expected":{"NAME":{"Exists":false}}}`},
			{"DeleteItem", `{` + key + `,"ConditionExpression":"#n = :h"` + names + values + `}`},
			{"UpdateItem", `{` + key + `,"UpdateExpression":"REMOVE #n"` + names + `}`},
			{"UpdateItem", `{` + key + `,"UpdateExpression":"SET y = #n"` + names + `}`},
			{"UpdateItem", `{` + key + `,"UpdateExpression":"SET y = if_not_exists(#n, :h)"` + names + values + `}`},
			{"UpdateItem", `{` + key + `,"UpdateExpression":"SET y = list_append(z, #n)"` + names + `}`},
			{"UpdateItem", `{` + key + `,"UpdateExpression":"SET y = if_not_exists(z, #n)"` + names + `}`},
			{"UpdateItem", `{` + key + `,"AttributeUpdates":{"NAME":{"Action":"DELETE"}}}`},
			{"BatchGetItem", `{"RequestItems":{"Tab":{"Keys":[{"h":{"S":"121212"},"r":{"S":"Client0000"}}],"ProjectionExpression":"#n"` + names + `}}}`},
			{"BatchWriteItem", `{"RequestItems":{"Tab":[{"PutRequest":{"Item":{"h":{"S":"121212"},"r":{"S":"Client0000"},"NAME":{"S":"x"}}}}]}}`},
			{"TransactGetItems", `{"TransactItems":[{"Get":{` + key + `,"ProjectionExpression":"#n"` + names + `}}]}`},
			{"ExecuteStatement", statement(`SELECT "NAME" FROM Tab` + where)},
			{"ExecuteStatement", statement(`SELECT * FROM Tab` + where + ` AND "NAME" IS NOT MISSING`)},
			{"ExecuteStatement", statement(`UPDATE Tab SET y = "NAME"` + where)},
			{"ExecuteStatement", statement(`INSERT INTO Tab VALUE {'h': '121212', 'r': 'x', 'NAME': 'y'}`)},
			{"UpdateTimeToLive", `{"TableName":"Tab","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"NAME"}}`},
			{"UpdateTable", `{"TableName":"Tab","AttributeDefinitions":[{"AttributeName":"x","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":` + index + `}]}`},
			{"CreateTable", strings.Replace(strings.Replace(create(5), `"Tab"`, `"Other"`, 1), `"Tags":[`, `"GlobalSecondaryIndexes":[`+strings.Replace(index, `"x"`, `"r"`, 1)+`],"Tags":[`, 1)},
		} {
			body := strings.ReplaceAll(r[1], "NAME", name)
			fails(t, s, exception.Validation, "Attribute "+name+": names that begin with evenkeel. are reserved", r[0], body)
		}
		for _, action := range []string{`{"Update":{` + key + `,"UpdateExpression":"SET y = #n"` + names + `}}`, `{"ConditionCheck":{` + key + `,"ConditionExpression":"attribute_exists(#n)"` + names + `}}`} {
			_, err := do(s, "TransactWriteItems", strings.ReplaceAll(`{"TransactItems":[`+action+`]}`, "NAME", name))
			if e := exception.Of(err); e.Kind != exception.TransactionCanceled || !strings.Contains(e.Reasons[0].Message, "are reserved") {
				t.Errorf("%s: %v", action, err)
			}
		}
	}
	if m := must(t, s, "GetItem", `{`+key+`}`); fmt.Sprint(m) != "map[Item:map[h:map[S:121212] r:map[S:Client0000] x:map[S:x]]]" {
		t.Errorf("%v", m)
	}
}

// TestPlainItemsAreShownWhole checks that items of plain tables are shown unchanged, even next to
// those of sharded tables.
func TestPlainItemsAreShownWhole(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", create(5))
	must(t, s, "CreateTable", otherTab(plainTable)+"}")
	own := strings.Replace(otherTab(itemOfTab), `"x"`, `"evenkeel.own"`, 1)
	must(t, s, "PutItem", own)
	must(t, s, "PutItem", itemOfTab)
	m := must(t, s, "TransactGetItems", `{"TransactItems":[{"Get":`+keyOfTab+`},{"Get":`+otherTab(keyOfTab)+`}]}`)
	if got := jsonOf(t, m["Responses"]); got != `[{"Item":{"h":{"S":"a"},"r":{"S":"1"},"x":{"S":"y"}}},{"Item":{"evenkeel.own":{"S":"y"},"h":{"S":"a"},"r":{"S":"1"}}}]` {
		t.Error(got)
	}
	check := `{"ConditionCheck":%s,"ConditionExpression":"attribute_not_exists(h)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}}`
	_, err := do(s, "TransactWriteItems", `{"TransactItems":[`+fmt.Sprintf(check, strings.TrimSuffix(keyOfTab, "}"))+`,`+fmt.Sprintf(check, strings.TrimSuffix(otherTab(keyOfTab), "}"))+`]}`)
	if e := exception.Of(err); e.Kind != exception.TransactionCanceled || strings.Contains(string(e.Reasons[0].Item), "evenkeel.") || !strings.Contains(string(e.Reasons[1].Item), "evenkeel.own") {
		t.Errorf("%v %+s", err, e.Reasons)
	}
}

// TestATableThatIsNamedTwice checks that a batch that names a sharded table by its name and by its
// ARN is refused. It would be two parts of one physical request, and a store takes only one.
func TestATableThatIsNamedTwice(t *testing.T) {
	s := start(t, 1)
	must(t, s, "CreateTable", create(5))
	const put, key = `[{"PutRequest":{"Item":{"h":{"S":"a"},"r":{"S":"%d"}}}}]`, `{"Keys":[{"h":{"S":"a"},"r":{"S":"%d"}}]}`
	for operation, part := range map[string]string{"BatchWriteItem": put, "BatchGetItem": key} {
		fails(t, s, exception.Validation, "table Tab is named twice, by its name and by its ARN", operation,
			fmt.Sprintf(`{"RequestItems":{"Tab":`+part+`,"`+tabARN+`":`+part+`}}`, 1, 2))
	}
	must(t, s, "TransactWriteItems", `{"TransactItems":[{"Put":`+itemOfTab+`},{"Put":`+strings.Replace(strings.Replace(itemOfTab, `"Tab"`, `"`+tabARN+`"`, 1), `"1"`, `"2"`, 1)+`}]}`)
}

// TestIndexesThatProjectMuch checks that an index that projects as many attributes as allowed is
// refused, with the way out: it has no room for the partition key, which is hidden in the table's
// key. An index that names the partition key itself is not refused.
func TestIndexesThatProjectMuch(t *testing.T) {
	r := again(t, forgetful{start(t, 1).store.Store}, 1) // declarations reach it encoded, as they reach an endpoint
	must(t, r, "CreateTable", shardedTable)
	include := func(body string, names []string) string {
		return strings.Replace(body, `"ProjectionType":"KEYS_ONLY"`, `"ProjectionType":"INCLUDE","NonKeyAttributes":["`+strings.Join(names, `","`)+`"]`, 1)
	}
	create := strings.Replace(strings.Replace(shardedTable, `"Tab"`, `"Made"`, 1), `"AttributeDefinitions":[`, `"GlobalSecondaryIndexes":[{"IndexName":"by-x","KeySchema":[{"AttributeName":"x","KeyType":"HASH"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
		"AttributeDefinitions":[{"AttributeName":"x","AttributeType":"S"},`, 1)
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	for operation, body := range map[string]string{"UpdateTable": createIndex, "CreateTable": create} {
		fails(t, r, exception.Validation, "index by-x has 21 NonKeyAttributes with h", operation, include(body, names))
	}
	names[0] = "h"
	for operation, body := range map[string]string{"UpdateTable": createIndex, "CreateTable": create} {
		must(t, r, operation, include(body, names))
	}
}
