// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// shapes draws DynamoDB requests from their words alone. It does not know which member a request
// may have, or what is correct in an expression. room bounds how many values one request has.
type shapes struct {
	*rand.Rand
	room int
}

// shapedItems draws a request of any operation.
func shapedItems(r *rand.Rand) (operation, body string) {
	s := &shapes{r, upTo(r, 5000)}
	operation = pick(r, "GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems",
		"ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction", "DescribeTable", "ListTables", "UpdateTable", "DescribeTimeToLive", "ListTagsOfResource")
	b, err := json.Marshal(s.request())
	if err != nil {
		panic(err) // it holds nothing but maps, lists, strings and numbers
	}
	return operation, string(b)
}

func (s *shapes) list(one func() any) []any {
	all := make([]any, upTo(s.Rand, 120))
	for i := range all {
		all[i] = one()
	}
	return all
}

// named returns a map whose names have a prefix and a number: those that expressions use.
func (s *shapes) named(prefix string, one func() any) map[string]any {
	all := map[string]any{}
	for i := range upTo(s.Rand, 200) {
		all[fmt.Sprint(prefix, i)] = one()
	}
	return all
}

// request draws the members of a request, or of one of the requests within it.
func (s *shapes) request() any {
	if s.room--; s.room < 0 {
		return nil
	}
	table := pick(s.Rand, "Plain", "Sharded", "probe")
	all := map[string]any{"TableName": table, "Key": s.key(), "Item": s.key()}
	if s.IntN(2) == 0 {
		all["Item"].(map[string]any)["v"] = s.value()
	}
	for range s.IntN(8) {
		switch s.IntN(8) {
		case 0:
			name := pick(s.Rand, "Put", "Get", "Update", "Delete", "ConditionCheck", "PutRequest", "DeleteRequest")
			all[name] = s.request()
		case 1:
			all[pick(s.Rand, "TransactItems", "TransactStatements", "Statements")] = s.list(s.request)
		case 2:
			all["RequestItems"] = map[string]any{table: pick[any](s.Rand, s.list(s.request), s.request())}
		case 3:
			all["Keys"] = s.list(func() any { return s.key() })
		case 4:
			all["ExpressionAttributeNames"] = s.named("#n", func() any { return pick(s.Rand, "h", "r", "n", "t", "l", "v") })
			all["ExpressionAttributeValues"] = s.named(":v", s.value)
		case 5:
			all["Statement"] = pick(s.Rand, "SELECT * FROM ", "UPDATE ", "DELETE FROM ", "INSERT INTO ") + table + pick(s.Rand, " WHERE h = 'k1' AND ", " SET v = ", " VALUE ") + s.expression()
			all["Parameters"] = s.list(s.value)
		case 6:
			all[pick(s.Rand, "Limit", "Segment", "TotalSegments", "ConsistentRead", "Select", "ReturnValues", "ReturnConsumedCapacity", "ScanIndexForward", "ExclusiveStartKey", "AttributesToGet", "KeyConditions", "ScanFilter", "Expected", "AttributeUpdates", "ConditionalOperator")] = pick[any](s.Rand, s.value(), s.IntN(100), true, "ALL_OLD", "TOTAL", s.list(s.value), s.key())
		default:
			all[pick(s.Rand, "KeyConditionExpression", "FilterExpression", "ConditionExpression", "UpdateExpression", "ProjectionExpression")] = pick(s.Rand, "", "", "SET ", "ADD ", "REMOVE ", "DELETE ", "h = :v0 AND ") + s.expression()
		}
	}
	return all
}

func (s *shapes) key() map[string]any {
	return map[string]any{"h": map[string]any{"S": fmt.Sprint("k", s.IntN(6))}, "r": map[string]any{"N": fmt.Sprint(s.IntN(300))}}
}

// value draws an attribute value, which may hold others.
func (s *shapes) value() any {
	if s.room--; s.room < 0 {
		return map[string]any{"NULL": true}
	}
	switch s.IntN(8) {
	case 0:
		return map[string]any{"L": s.list(s.value)}
	case 1:
		return map[string]any{"M": s.named("n", s.value)}
	case 2:
		return map[string]any{pick(s.Rand, "SS", "NS", "BS"): s.list(func() any { return fmt.Sprint(s.IntN(1000)) })}
	case 3:
		return map[string]any{"S": strings.Repeat(pick(s.Rand, "x", `"`, "\u00e9"), upTo(s.Rand, 5000))}
	case 4:
		return map[string]any{"N": pick(s.Rand, "1", "-7.5e100", strings.Repeat("9", 38), fmt.Sprint(s.Int()))}
	case 5:
		deep := any(map[string]any{"S": "x"})
		for range upTo(s.Rand, 40) {
			deep = map[string]any{"L": []any{deep, deep}[:1+s.IntN(60)/59]}
		}
		return deep
	default:
		return map[string]any{pick(s.Rand, "S", "N", "B", "BOOL", "NULL"): pick[any](s.Rand, "YQ==", "12", true, "")}
	}
}

// expression draws the words of an expression, mostly in a correct order.
func (s *shapes) expression() string {
	operand := func() string {
		return pick(s.Rand, fmt.Sprint("#n", s.IntN(9)), fmt.Sprint(":v", s.IntN(9)), "n", "t", "l[0]", "v.n1", "?", "'a'", "7", "size(t)", "if_not_exists(t, :v1)", "list_append(l, l)", "attribute_exists(n)", "contains(t, :v2)", "<<1, 1>>", "[1, 'a']", "{'a': 1}")
	}
	var b strings.Builder
	for range upTo(s.Rand, 300) {
		b.WriteString(pick(s.Rand, "", "", "NOT ", "(", "list_append("))
		b.WriteString(operand())
		b.WriteString(pick(s.Rand, " = ", " <> ", " + ", " - ", ", ", " BETWEEN ", " IN (", " < "))
		b.WriteString(operand())
		b.WriteString(pick(s.Rand, " AND ", " OR ", ", ", ")", ") AND ", " "))
	}
	return b.String() + operand()
}
