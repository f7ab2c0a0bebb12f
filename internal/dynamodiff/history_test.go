// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// history draws requests on one table.
type history struct {
	t           *rapid.T
	table       string
	hash, sort  string // types; sort is "" for none
	local, glob bool
	globSort    bool   // the global index has a sort key
	judged      bool   // by dynalite
	last        string // a LastEvaluatedKey that came back, with where it came from
	lastOf      string
	hashes      int                    // how many partition keys there are; 0: as many as the type's pool has
	before      func(operation string) // called before each request; nil: nothing is
	longer      int                    // how many further requests there may be
	times       sortKeys               // what the sort keys are in a table whose shards are ranges of them; nil: any values
}

// sortKeys draws sort keys, and values to compare them with.
type sortKeys interface {
	key(t *rapid.T, label string) string
	bound(t *rapid.T, label string) string
}

// pool are values of a type, few, so that requests meet.
var pool = map[string][]string{
	"S": {"a", "b", "ab", "a1", "ü"},
	"N": {"1", "2", "-1", "1.5", "10", "0", "-20", "1e10"},
	"B": {"AA==", "AQ==", "AAE=", "/w=="},
}

func (h *history) value(kind, label string) string {
	return fmt.Sprintf(`{"%s":"%s"}`, kind, rapid.SampledFrom(pool[kind]).Draw(h.t, label))
}

// hashKey is a partition key of an item.
func (h *history) hashKey(label string) string {
	if h.hashes == 0 {
		return h.value(h.hash, label)
	}
	return fmt.Sprintf(`{"%s":"%s"}`, h.hash, rapid.SampledFrom(pool[h.hash][:h.hashes]).Draw(h.t, label))
}

// sortKey is a sort key of an item.
func (h *history) sortKey(label string) string {
	if h.times != nil {
		return h.times.key(h.t, label)
	}
	return h.value(h.sort, label)
}

// bound is a value to compare the sort keys of the table, or of an index, with.
func (h *history) bound(index, kind, label string) string {
	if h.times != nil && index == "" {
		return h.times.bound(h.t, label)
	}
	return h.value(kind, label)
}

func (h *history) chance(label string) bool { return rapid.IntRange(0, 3).Draw(h.t, label) == 3 }

// keys is the option of a sharded global index that says how its keys are made.
func (h *history) keys() string {
	if h.globSort {
		return ""
	}
	return rapid.SampledFrom([]string{"", " keys=multi", " keys=single"}).Draw(h.t, "keys")
}

func (h *history) create() string {
	definitions := fmt.Sprintf(`{"AttributeName":"h","AttributeType":"%s"}`, h.hash)
	key := `{"AttributeName":"h","KeyType":"HASH"}`
	more := ""
	if h.sort != "" {
		definitions += fmt.Sprintf(`,{"AttributeName":"r","AttributeType":"%s"}`, h.sort)
		key += `,{"AttributeName":"r","KeyType":"RANGE"}`
	}
	if h.local || h.globSort {
		definitions += `,{"AttributeName":"l","AttributeType":"N"}`
	}
	if h.local {
		more += `,"LocalSecondaryIndexes":[{"IndexName":"local","KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"l","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]`
	}
	if h.glob {
		definitions += `,{"AttributeName":"g","AttributeType":"S"}`
		sort := ""
		if h.globSort {
			sort = `,{"AttributeName":"l","KeyType":"RANGE"}`
		}
		more += `,"GlobalSecondaryIndexes":[{"IndexName":"global","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}` + sort + `],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x"]}}]`
	}
	return fmt.Sprintf(`{"TableName":"%s","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[%s],"KeySchema":[%s]%s}`, h.table, definitions, key, more)
}

func (h *history) key() string {
	k := `"h":` + h.hashKey("h")
	if h.sort != "" {
		k += `,"r":` + h.sortKey("r")
	}
	return k
}

// attributes are some beside the key.
func (h *history) attributes() string {
	var b strings.Builder
	if h.chance("with g") {
		b.WriteString(`,"g":` + h.value("S", "g"))
	}
	if h.chance("with l") {
		b.WriteString(`,"l":` + h.value("N", "l"))
	}
	if h.chance("with x") {
		b.WriteString(`,"x":` + h.any("x"))
	}
	if h.chance("with n") {
		b.WriteString(`,"n":` + h.value("N", "n"))
	}
	return b.String()
}

// Values of all types; but no empty string, which dynalite takes for no attribute in
// attribute_type, IN and BETWEEN.
var (
	flat = []string{
		`{"S":"a"}`, `{"S":"aa"}`, `{"N":"1"}`, `{"N":"1.50"}`, `{"B":"AQ=="}`, `{"BOOL":true}`, `{"NULL":true}`, `{"SS":["a","b"]}`, `{"NS":["1","2"]}`, `{"L":[]}`,
	}
	deep = []string{`{"L":[{"S":"a"},{"N":"2"}]}`, `{"M":{"a":{"S":"b"},"n":{"N":"3"}}}`, `{"M":{}}`}
)

// any is a value of any type.
func (h *history) any(label string) string {
	return rapid.SampledFrom(slices.Concat(flat, deep)).Draw(h.t, label)
}

// compared is a value to compare others with: to dynalite no list is equal to
// another, unless it is empty, and no map.
func (h *history) compared(label string) string {
	if h.judged {
		return rapid.SampledFrom(flat).Draw(h.t, label)
	}
	return h.any(label)
}

// condition is an expression over the attributes, and its values.
func (h *history) condition() (text, values string) {
	text = rapid.SampledFrom([]string{
		"attribute_exists(h)", "attribute_not_exists(h)", "attribute_exists(x)", "n = :n", "n <> :n", "n > :n", "n <= :n", "n BETWEEN :n AND :m", "n IN (:n, :m)",
		"x = :x", "contains(x, :s)", "begins_with(x, :s)", "size(x) > :n", "attribute_type(x, :t)", "x.a = :s", "x[0] = :s", "NOT n = :n", "n = :n OR x = :x", "attribute_exists(n) AND (x = :x OR n < :m)",
	}).Draw(h.t, "condition")
	all := map[string]string{":n": `{"N":"1"}`, ":m": `{"N":"2"}`, ":s": `{"S":"a"}`, ":t": `{"S":"S"}`}
	if strings.Contains(text, ":x") {
		all[":x"] = h.compared(":x")
	}
	var used []string
	for _, name := range []string{":m", ":n", ":s", ":t", ":x"} {
		if strings.Contains(text, name) {
			used = append(used, fmt.Sprintf(`"%s":%s`, name, all[name]))
		}
	}
	return text, strings.Join(used, ",")
}

func (h *history) returns(of ...string) string {
	return rapid.SampledFrom(append(of, "NONE")).Draw(h.t, "returns")
}

// withCondition adds a condition, now and then.
func (h *history) withCondition(values string) string {
	out := ""
	if h.chance("conditional") {
		text, more := h.condition()
		out = fmt.Sprintf(`,"ConditionExpression":"%s"`, text)
		if more != "" && values != "" {
			values += ","
		}
		values += more
	}
	if values != "" {
		out += `,"ExpressionAttributeValues":{` + values + `}`
	}
	return out
}

func (h *history) write() (string, string) {
	switch rapid.IntRange(0, 5).Draw(h.t, "write") {
	case 0, 1, 2:
		return "PutItem", fmt.Sprintf(`{"TableName":"%s","Item":{%s%s},"ReturnValues":"%s"%s}`, h.table, h.key(), h.attributes(), h.returns("ALL_OLD"), h.withCondition(""))
	case 3:
		return "DeleteItem", fmt.Sprintf(`{"TableName":"%s","Key":{%s},"ReturnValues":"%s"%s}`, h.table, h.key(), h.returns("ALL_OLD"), h.withCondition(""))
	}
	update := rapid.SampledFrom([][2]string{
		{"SET x = :u", ""}, {"SET n = :v", ""}, {"SET n = n + :v", ""}, {"SET n = if_not_exists(n, :v) - :v", ""}, {"REMOVE x", ""}, {"REMOVE g, l", ""}, {"ADD n :v", ""},
		{"SET l = :v", ""}, {"SET g = :g", ""}, {"SET x.a = :u", ""}, {"SET x[1] = :u", ""}, {"REMOVE x[0]", ""}, {"SET x = list_append(x, :l)", ""}, {"ADD x :ss", ""}, {"DELETE x :ss", ""},
		{"SET y = x, x = :u REMOVE n", ""},
	}).Draw(h.t, "update")[0]
	if h.judged && (strings.HasPrefix(update, "REMOVE") || strings.HasPrefix(update, "DELETE")) {
		update = "SET m = :v " + update // dynalite makes an item where such an update finds none
	}
	var values []string
	for name, v := range map[string]func() string{
		":u": func() string { return h.any(":u") }, ":v": func() string { return `{"N":"3"}` }, ":g": func() string { return `{"S":"b"}` },
		":ll": nil, ":ss": func() string { return `{"SS":["b","c"]}` },
	} {
		if v != nil && strings.Contains(update, name) {
			values = append(values, fmt.Sprintf(`"%s":%s`, name, v()))
		}
	}
	if strings.Contains(update, ":l)") {
		values = append(values, `":l":{"L":[{"S":"z"}]}`)
	}
	return "UpdateItem", fmt.Sprintf(`{"TableName":"%s","Key":{%s},"UpdateExpression":"%s","ReturnValues":"%s"%s}`, h.table, h.key(), update,
		h.returns("ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"), h.withCondition(strings.Join(values, ",")))
}

// many is a batch or a transaction, of which dynalite knows batches only.
func (h *history) many() (string, string) {
	var parts []string
	list := func(part func() string) string {
		for range rapid.IntRange(1, 4).Draw(h.t, "parts") {
			parts = append(parts, part())
		}
		return strings.Join(parts, ",")
	}
	switch rapid.IntRange(0, 3).Draw(h.t, "many") {
	case 0:
		return "BatchGetItem", fmt.Sprintf(`{"RequestItems":{"%s":{"Keys":[%s]}}}`, h.table, list(func() string { return "{" + h.key() + "}" }))
	case 1:
		return "BatchWriteItem", fmt.Sprintf(`{"RequestItems":{"%s":[%s]}}`, h.table, list(func() string {
			if h.chance("delete") {
				return `{"DeleteRequest":{"Key":{` + h.key() + `}}}`
			}
			return `{"PutRequest":{"Item":{` + h.key() + h.attributes() + `}}}`
		}))
	case 2:
		return "TransactGetItems", fmt.Sprintf(`{"TransactItems":[%s]}`, list(func() string { return fmt.Sprintf(`{"Get":{"TableName":"%s","Key":{%s}}}`, h.table, h.key()) }))
	}
	return "TransactWriteItems", fmt.Sprintf(`{"TransactItems":[%s]}`, list(func() string {
		onFailure := `,"ReturnValuesOnConditionCheckFailure":"ALL_OLD"`
		switch rapid.IntRange(0, 3).Draw(h.t, "action") {
		case 0:
			return fmt.Sprintf(`{"Delete":{"TableName":"%s","Key":{%s}%s%s}}`, h.table, h.key(), h.withCondition(""), onFailure)
		case 1:
			update := rapid.SampledFrom([]string{`"ADD n :v","ExpressionAttributeValues":{":v":{"N":"3"}}`, `"REMOVE x.a, g"`}).Draw(h.t, "update in a transaction")
			return fmt.Sprintf(`{"Update":{"TableName":"%s","Key":{%s},"UpdateExpression":%s}}`, h.table, h.key(), update)
		case 2:
			text, values := h.condition()
			if values != "" {
				values = `,"ExpressionAttributeValues":{` + values + `}`
			}
			return fmt.Sprintf(`{"ConditionCheck":{"TableName":"%s","Key":{%s},"ConditionExpression":"%s"%s%s}}`, h.table, h.key(), text, values, onFailure)
		}
		return fmt.Sprintf(`{"Put":{"TableName":"%s","Item":{%s%s}%s%s}}`, h.table, h.key(), h.attributes(), h.withCondition(""), onFailure)
	}))
}

// columnN is attribute n in a condition, beside the value :n.
var columnN = regexp.MustCompile(`(^|[( ])n\b`)

// page are the parts of a Query or Scan about its page and what it shows.
func (h *history) page(of string, values []string) string {
	out := ""
	if h.chance("filter") {
		text, more := h.condition()
		// A filter on the key is refused, which scripts are about.
		text = strings.ReplaceAll(text, "(h)", "(x)")
		if strings.HasPrefix(of, "query global") { // which has no n: it may not be asked for
			text = columnN.ReplaceAllString(text, "${1}x")
		}
		out += fmt.Sprintf(`,"FilterExpression":"%s"`, text)
		if more != "" {
			values = append(values, more)
		}
	}
	if len(values) > 0 {
		out += `,"ExpressionAttributeValues":{` + strings.Join(values, ",") + `}`
	}
	one := h.sort == "" && strings.HasPrefix(of, "query {") // which dynalite goes on with after a page
	if rapid.Bool().Draw(h.t, "limited") && !one {
		out += fmt.Sprintf(`,"Limit":%d`, rapid.IntRange(1, 4).Draw(h.t, "limit"))
	}
	if h.last != "" && h.lastOf == of && rapid.Bool().Draw(h.t, "go on") {
		out += `,"ExclusiveStartKey":` + h.last
	}
	switch rapid.IntRange(0, 5).Draw(h.t, "show") {
	case 0:
		out += `,"Select":"COUNT"`
	case 1:
		out += `,"ProjectionExpression":"h, x.a, x[0]`
		if !strings.Contains(of, "global") { // which has no n, and dynalite does not say so
			out += `, n`
		}
		out += `"`
	}
	return out
}

func (h *history) index() string {
	from := []string{""}
	if h.local {
		from = append(from, "local")
	}
	if h.glob {
		from = append(from, "global")
	}
	return rapid.SampledFrom(from).Draw(h.t, "index")
}

func (h *history) read() (operation, body, of string) {
	switch rapid.IntRange(0, 3).Draw(h.t, "read") {
	case 0:
		return "GetItem", fmt.Sprintf(`{"TableName":"%s","Key":{%s}}`, h.table, h.key()), ""
	case 1:
		ix := h.index()
		of = "scan " + ix
		named := ""
		if ix != "" {
			named = fmt.Sprintf(`,"IndexName":"%s"`, ix)
		}
		return "Scan", fmt.Sprintf(`{"TableName":"%s"%s%s}`, h.table, named, h.page(of, nil)), of
	}
	ix := h.index()
	hash, sort, kinds := "h", "r", [2]string{h.hash, h.sort}
	named := ""
	switch ix {
	case "local":
		sort, kinds[1] = "l", "N"
	case "global":
		hash, sort, kinds = "g", "l", [2]string{"S", "N"}
		if !h.globSort {
			kinds[1] = ""
		}
	}
	if ix != "" {
		named = fmt.Sprintf(`,"IndexName":"%s"`, ix)
	}
	partition := h.value(kinds[0], "partition")
	values := []string{`":h":` + partition}
	condition := hash + " = :h"
	if kinds[1] != "" && rapid.Bool().Draw(h.t, "ranged") {
		ops := []string{"= :r", "< :r", "<= :r", "> :r", ">= :r", "BETWEEN :r AND :r2"}
		if kinds[1] != "N" {
			ops = append(ops, "begins")
		}
		op := rapid.SampledFrom(ops).Draw(h.t, "operator")
		r := h.bound(ix, kinds[1], ":r")
		if op == "begins" {
			condition += " AND begins_with(" + sort + ", :r)"
		} else {
			condition += " AND " + sort + " " + op
		}
		values = append(values, `":r":`+r)
		if strings.Contains(op, ":r2") {
			values = append(values, `":r2":`+h.bound(ix, kinds[1], ":r2"))
		}
	}
	forward := rapid.Bool().Draw(h.t, "forward")
	of = fmt.Sprint("query ", ix, partition, forward)
	if h.times != nil && ix == "" && h.chance("forged") {
		h.last, h.lastOf = `{"h":`+partition+`,"r":`+h.times.bound(h.t, "start")+`}`, of
	}
	return "Query", fmt.Sprintf(`{"TableName":"%s"%s,"KeyConditionExpression":"%s","ScanIndexForward":%v%s}`, h.table, named, condition, forward, h.page(of, values)), of
}

var tables atomic.Int64

// draw draws a table and requests on it, such as dynalite knows or any, and gives both to both, which returns the
// answer of one and ends the history where answers differ.
func draw(t *rapid.T, forJudge bool, both func(h *history, operation, body string) Answer) {
	h := &history{t: t, table: fmt.Sprintf("Table%d", tables.Add(1)), judged: forJudge}
	h.hash = rapid.SampledFrom([]string{"S", "N", "B"}).Draw(t, "hash")
	if forJudge {
		h.sort = rapid.SampledFrom([]string{"S", "N", "B", ""}).Draw(t, "sort")
		h.local = h.sort != "" && rapid.Bool().Draw(t, "local")
	} else {
		h.sort = rapid.SampledFrom([]string{"S", "N", "B"}).Draw(t, "sort")
		h.local = rapid.Bool().Draw(t, "local")
	}
	h.glob = rapid.Bool().Draw(t, "global")
	h.globSort = h.glob && rapid.Bool().Draw(t, "global sort")
	var said []string
	inner := both
	both = func(h *history, operation, body string) Answer {
		said = append(said, operation+" "+body)
		return inner(h, operation, body)
	}
	defer func() {
		if t.Failed() {
			t.Logf("the history:\n%s", strings.Join(said, "\n"))
		}
	}()
	both(h, "CreateTable", h.create())
	for range rapid.IntRange(1, 30+h.longer).Draw(t, "requests") {
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		if kind == 3 && !forJudge { // the law's histories, which dynalite has no part in
			operation, body := h.many()
			both(h, operation, body)
			continue
		}
		if kind > 0 {
			operation, body := h.write()
			both(h, operation, body)
			continue
		}
		operation, body, of := h.read()
		a := both(h, operation, body)
		m, _ := a.Body.(map[string]any)
		if last, ok := m["LastEvaluatedKey"]; ok {
			text, err := json.Marshal(last)
			if err != nil {
				t.Fatal(err)
			}
			h.last, h.lastOf = string(text), of
		}
	}
	both(h, "DeleteTable", fmt.Sprintf(`{"TableName":"%s"}`, h.table))
}

// TestHistories sends histories, drawn at random, to dynalite and to the engine.
func TestHistories(t *testing.T) {
	want, got := judge(t), engineDoor(t, 1)
	rapid.Check(t, func(t *rapid.T) {
		draw(t, true, func(_ *history, operation, body string) Answer {
			w, err := want.Do(operation, body)
			if err != nil {
				t.Fatal(err)
			}
			g, err := got.Do(operation, body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(w.General(), g.General()); diff != "" {
				t.Fatalf("%s %s\n(- %s, + %s)\n%s", operation, body, want.Name, got.Name, diff)
			}
			return g
		})
	})
}
