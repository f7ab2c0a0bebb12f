// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
)

// forms draws requests on table T in the forms that drawRequest does not have: with the parameters
// from before expressions, as PartiQL, of several items, and on an index.
type forms struct {
	*rand.Rand
	body map[string]any
}

// drawForm draws such a request.
func drawForm(r *rand.Rand) (operation string, body map[string]any) {
	d := &forms{r, map[string]any{"TableName": "T"}}
	draw := pick(r, d.legacyWrite, d.legacyWrite, d.legacyRead, d.legacyRead, d.statement, d.statement, d.batch, d.index, d.scan)
	operation = draw()
	return operation, d.body
}

func (d *forms) key() map[string]any {
	return map[string]any{"h": map[string]any{"S": pick(d.Rand, "k0", "k1")}, "r": map[string]any{"N": fmt.Sprint(d.IntN(12))}}
}

func (d *forms) item() map[string]any {
	it := d.key()
	for _, name := range []string{"a", "b", "c"} {
		if d.IntN(2) == 0 {
			it[name] = drawValue(d.Rand, 2)
		}
	}
	if d.IntN(2) == 0 {
		it["g"] = pick[any](d.Rand, map[string]any{"S": "g0"}, map[string]any{"S": "g1"}, map[string]any{"S": "g1"}, map[string]any{"S": ""}, map[string]any{"N": "1"})
	}
	return it
}

func (d *forms) name() string { return pick(d.Rand, "a", "b", "c", "d", "g", "a.b", "r") }

// condition draws the condition of one attribute, as Expected, KeyConditions and filters have it.
func (d *forms) condition() map[string]any {
	operator := pick(d.Rand, "EQ", "NE", "LE", "LT", "GE", "GT", "NOT_NULL", "NULL", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH", "IN", "BETWEEN")
	n := map[string]int{"NOT_NULL": 0, "NULL": 0, "IN": 1 + d.IntN(3), "BETWEEN": 2}
	count, is := n[operator]
	if !is {
		count = 1
	}
	if d.IntN(20) == 0 {
		count = d.IntN(4)
	}
	c := map[string]any{"ComparisonOperator": operator}
	if count > 0 || d.IntN(4) == 0 {
		var list []any
		for range count {
			list = append(list, drawValue(d.Rand, d.IntN(2)))
		}
		c["AttributeValueList"] = list
	}
	return c
}

func (d *forms) conditions() map[string]any {
	all := map[string]any{}
	for range 1 + d.IntN(2) {
		all[d.name()] = d.condition()
	}
	if len(all) > 1 || d.IntN(10) == 0 {
		if d.IntN(2) == 0 {
			d.body["ConditionalOperator"] = pick(d.Rand, "AND", "OR")
		}
	}
	return all
}

func (d *forms) expected() {
	if d.IntN(3) == 0 {
		return
	}
	d.body["Expected"] = d.conditions()
	if d.IntN(3) == 0 {
		delete(d.body, "ConditionalOperator")
		d.body["Expected"] = map[string]any{d.name(): pick[any](d.Rand, map[string]any{"Exists": false}, map[string]any{"Exists": true, "Value": drawValue(d.Rand, 1)}, map[string]any{"Value": drawValue(d.Rand, 1)}, map[string]any{"Exists": false, "Value": drawValue(d.Rand, 0)})}
	}
}

func (d *forms) legacyWrite() string {
	d.expected()
	switch d.IntN(4) {
	case 0:
		d.body["Item"] = d.item()
		d.body["ReturnValues"] = pick(d.Rand, "NONE", "ALL_OLD")
		return "PutItem"
	case 1:
		d.body["Key"] = d.key()
		d.body["ReturnValues"] = pick(d.Rand, "NONE", "ALL_OLD")
		return "DeleteItem"
	}
	d.body["Key"] = d.key()
	d.body["ReturnValues"] = pick(d.Rand, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")
	updates := map[string]any{}
	for range 1 + d.IntN(3) {
		u := map[string]any{}
		if d.IntN(5) > 0 {
			u["Action"] = pick(d.Rand, "PUT", "ADD", "DELETE")
		}
		if u["Action"] != "DELETE" || d.IntN(2) == 0 {
			u["Value"] = drawValue(d.Rand, 2)
		}
		updates[d.name()] = u
	}
	d.body["AttributeUpdates"] = updates
	return "UpdateItem"
}

func (d *forms) legacyRead() string {
	if d.IntN(3) == 0 {
		d.body["AttributesToGet"] = []any{d.name(), d.name()}[:1+d.IntN(2)]
	}
	if d.IntN(3) == 0 {
		d.body["Key"] = d.key()
		return "GetItem"
	}
	key := d.key()
	conditions := map[string]any{"h": map[string]any{"ComparisonOperator": "EQ", "AttributeValueList": []any{key["h"]}}}
	switch d.IntN(4) {
	case 0:
		conditions["r"] = map[string]any{"ComparisonOperator": pick(d.Rand, "EQ", "LE", "LT", "GE", "GT"), "AttributeValueList": []any{key["r"]}}
	case 1:
		conditions["r"] = map[string]any{"ComparisonOperator": "BETWEEN", "AttributeValueList": []any{key["r"], d.key()["r"]}}
	case 2:
		conditions["r"] = d.condition()
	}
	d.body["KeyConditions"] = conditions
	if d.IntN(2) == 0 {
		d.body["QueryFilter"] = d.conditions()
	}
	if d.IntN(3) == 0 {
		d.body["Limit"] = 1 + d.IntN(5)
	}
	d.body["ScanIndexForward"] = d.IntN(2) == 0
	return "Query"
}

// statement draws PartiQL.
func (d *forms) statement() string {
	literal := func() string {
		return pick(d.Rand, "1", "-1.5e3", "'x'", "''", "NULL", "TRUE", "[1, 'a']", "{'b': 2}", "<<1, 2>>", "<<'a'>>", "MISSING", "?")
	}
	path := func() string { return pick(d.Rand, "a", "b", "c", `"a"`, "a.b", "b[0]", "g", "r", "d") }
	test := func() string {
		switch d.IntN(6) {
		case 0:
			return path() + " IN [" + literal() + ", " + literal() + "]"
		case 1:
			return path() + " IS " + pick(d.Rand, "", "NOT ") + pick(d.Rand, "MISSING", "NULL")
		case 2:
			return path() + " BETWEEN " + literal() + " AND " + literal()
		case 3:
			return pick(d.Rand, "contains(", "begins_with(") + path() + ", " + literal() + ")"
		case 4:
			return "size(" + path() + ")" + pick(d.Rand, " > ", " = ") + literal()
		}
		return path() + pick(d.Rand, " = ", " <> ", " != ", " < ", " >= ") + literal()
	}
	where := func() string {
		text := fmt.Sprintf("h = '%s' AND r = %d", pick(d.Rand, "k0", "k1"), d.IntN(12))
		if d.IntN(2) == 0 {
			text += pick(d.Rand, " AND ", " AND NOT ") + test()
		}
		return text
	}
	returning := func() string {
		return pick(d.Rand, "", "", " RETURNING ALL OLD *", " RETURNING MODIFIED NEW *", " RETURNING ALL NEW *", " RETURNING MODIFIED OLD *")
	}
	var text string
	switch d.IntN(6) {
	case 0:
		text = fmt.Sprintf(`INSERT INTO "T" VALUE {'h': '%s', 'r': %d, 'a': %s, 'g': 'g0'}`, pick(d.Rand, "k0", "k1"), d.IntN(12), literal())
	case 1:
		text = fmt.Sprintf(`UPDATE "T" SET %s = %s%s WHERE %s`, path(), pick(d.Rand, literal(), path()+" + "+literal(), "list_append("+path()+", "+literal()+")", "set_add("+path()+", "+literal()+")"), pick(d.Rand, "", " REMOVE d", " SET c = 1"), where()) + returning()
	case 2:
		text = `DELETE FROM "T" WHERE ` + where() + returning()
	default:
		what := pick(d.Rand, "*", "*", "a, b", "h, r, a.b", "b[0]")
		text = fmt.Sprintf(`SELECT %s FROM "T" WHERE h = '%s'`, what, pick(d.Rand, "k0", "k1")) + pick(d.Rand, "", " AND "+test(), fmt.Sprintf(" AND r %s %d", pick(d.Rand, "<", ">=", "="), d.IntN(12))) + pick(d.Rand, "", " ORDER BY r DESC", " ORDER BY r")
	}
	var parameters []any
	for range strings.Count(text, "?") {
		parameters = append(parameters, drawValue(d.Rand, 2))
	}
	st := map[string]any{"Statement": text}
	if parameters != nil {
		st["Parameters"] = parameters
	}
	switch d.IntN(5) {
	case 0:
		d.body = map[string]any{"Statements": []any{st}}
		return "BatchExecuteStatement"
	case 1:
		d.body = map[string]any{"TransactStatements": []any{st}}
		return "ExecuteTransaction"
	}
	d.body = st
	return "ExecuteStatement"
}

// batch draws a request of several items.
func (d *forms) batch() string {
	n := 1 + d.IntN(4)
	var all []any
	switch d.IntN(4) {
	case 0:
		for range n {
			all = append(all, d.key())
		}
		d.body = map[string]any{"RequestItems": map[string]any{"T": map[string]any{"Keys": all}}}
		return "BatchGetItem"
	case 1:
		for range n {
			all = append(all, pick[any](d.Rand, map[string]any{"PutRequest": map[string]any{"Item": d.item()}}, map[string]any{"DeleteRequest": map[string]any{"Key": d.key()}}))
		}
		d.body = map[string]any{"RequestItems": map[string]any{"T": all}}
		return "BatchWriteItem"
	case 2:
		for range n {
			all = append(all, map[string]any{"Get": map[string]any{"TableName": "T", "Key": d.key()}})
		}
		d.body = map[string]any{"TransactItems": all}
		return "TransactGetItems"
	}
	for range n {
		e := &expressions{Rand: d.Rand, names: map[string]any{}, values: map[string]any{}}
		one := map[string]any{"TableName": "T"}
		kind := pick(d.Rand, "Put", "Update", "Delete", "ConditionCheck")
		if kind == "Put" {
			one["Item"] = d.item()
		} else {
			one["Key"] = d.key()
		}
		if kind == "Update" {
			one["UpdateExpression"] = "SET a = :a ADD c :c"
			e.values[":a"], e.values[":c"] = drawValue(d.Rand, 1), map[string]any{"N": "1"}
		}
		if kind == "ConditionCheck" || d.IntN(2) == 0 {
			one["ConditionExpression"] = e.condition(1)
		}
		if len(e.names) > 0 {
			one["ExpressionAttributeNames"] = e.names
		}
		if len(e.values) > 0 {
			one["ExpressionAttributeValues"] = e.values
		}
		if d.IntN(3) == 0 {
			one["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
		}
		all = append(all, map[string]any{kind: one})
	}
	d.body = map[string]any{"TransactItems": all}
	return "TransactWriteItems"
}

// index draws a Query of the index, without a limit: the order of entries with equal keys is open.
func (d *forms) index() string {
	e := &expressions{Rand: d.Rand, names: map[string]any{}, values: map[string]any{":g": map[string]any{"S": pick(d.Rand, "g0", "g1")}}}
	d.body["IndexName"] = "byg"
	text := "g = :g"
	if d.IntN(2) == 0 {
		text += " AND r" + pick(d.Rand, " = ", " < ", " >= ") + ":r"
		e.values[":r"] = d.key()["r"]
	}
	d.body["KeyConditionExpression"] = text
	if d.IntN(3) == 0 {
		d.body["FilterExpression"] = e.condition(2)
	}
	if d.IntN(3) == 0 {
		d.body["ProjectionExpression"] = "h, a, b[0], g"
	}
	d.body["ScanIndexForward"] = d.IntN(2) == 0
	d.body["ExpressionAttributeValues"] = e.values
	if len(e.names) > 0 {
		d.body["ExpressionAttributeNames"] = e.names
	}
	return "Query"
}

func (d *forms) scan() string {
	if d.IntN(2) == 0 {
		d.body["IndexName"] = "byg"
	}
	if d.IntN(2) == 0 {
		d.body["ScanFilter"] = d.conditions()
	}
	return "Scan"
}

// inAnyOrder sorts the lists of items in an answer whose order is open.
func inAnyOrder(operation string, request map[string]any, answer any) any {
	m, ok := answer.(map[string]any)
	if !ok || operation != "Scan" && operation != "BatchGetItem" && request["IndexName"] == nil {
		return answer
	}
	out := map[string]any{}
	for name, v := range m {
		if list, ok := v.([]any); ok {
			v = sortedItems(list)
		} else if of, ok := v.(map[string]any); ok && name == "Responses" {
			tables := map[string]any{}
			for table, list := range of {
				tables[table] = list
				if list, ok := list.([]any); ok {
					tables[table] = sortedItems(list)
				}
			}
			v = tables
		}
		out[name] = v
	}
	return out
}

func sortedItems(list []any) []any {
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // it was decoded from JSON
		}
		return string(b)
	}
	list = append([]any{}, list...)
	sort.Slice(list, func(i, j int) bool { return text(list[i]) < text(list[j]) })
	return list
}
