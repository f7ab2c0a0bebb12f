// SPDX-License-Identifier: Apache-2.0

//go:build dynamodblocal

package dynamodiff

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/internal/testkit/dynamodblocal"
)

// The judge here is DynamoDB Local, which has transactions too. Of its errors the
// type is compared: its texts are not those of the service. Nor are its capacity
// units (a deletion tells of them unasked, a small transactional put takes four), its
// descriptions of tables, and the order of items that have none.

func loosely(a Answer) Answer {
	a = a.General()
	m, ok := a.Body.(map[string]any)
	if !ok {
		return a
	}
	for _, name := range []string{"Message", "ConsumedCapacity", "TableDescription", "Table"} {
		delete(m, name)
	}
	reasons, _ := m["CancellationReasons"].([]any)
	for _, r := range reasons {
		if r, ok := r.(map[string]any); ok {
			delete(r, "Message")
		}
	}
	byTable, _ := m["Responses"].(map[string]any)
	for table, list := range byTable {
		if list, ok := list.([]any); ok {
			byTable[table] = sorted(list)
		}
	}
	a.Body = withoutZeros(m)
	return a
}

// withoutZeros has numbers as the service has them: ALL_NEW of DynamoDB Local
// keeps the zeros at their ends.
func withoutZeros(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if text, ok := e.(string); ok && name == "N" {
				if f, err := strconv.ParseFloat(text, 64); err == nil {
					v[name] = f
				}
				continue
			}
			v[name] = withoutZeros(e)
		}
	case []any:
		for i := range v {
			v[i] = withoutZeros(v[i])
		}
	}
	return v
}

// other is why DynamoDB Local answers otherwise than the service, as recorded of
// the service or documented; empty where it does not.
func other(operation, body string, local, engine Answer) string {
	says := func(a Answer, text string) bool { return strings.Contains(a.String(), text) }
	switch {
	case operation == "UpdateItem" && strings.Contains(body, `"UPDATED_`) && strings.ContainsAny(body[strings.Index(body, "UpdateExpression"):], ".["):
		return "UPDATED_OLD and UPDATED_NEW of a part of an attribute have the whole of it"
	case says(engine, "LastEvaluatedKey") && !says(local, "LastEvaluatedKey"):
		return "a page that Limit ends with the last item is the last one"
	case operation == "UpdateItem" && (says(engine, "Type mismatch for Index Key") || says(engine, "secondary index key to unsupported type")):
		return "an update may give an index's key any type"
	case operation == "Scan" && strings.Contains(body, `"IndexName"`) && strings.Contains(body, `"FilterExpression"`):
		return "a Scan's filter looks at attributes that its index does not have"
	case operation == "PutItem" && strings.Contains(body, `{"S":1}`):
		return "a number is taken for a string"
	case operation == "UpdateTable" && says(engine, "Neither ReadCapacityUnits nor WriteCapacityUnits"):
		return "an on-demand table may be given capacity units"
	case operation == "TransactWriteItems" && says(engine, "multiple operations on one item") && says(local, "TransactionCanceled"):
		return "conditions are looked at before an item twice"
	case operation == "TransactGetItems" && says(engine, "multiple operations on one item") && strings.Contains(body, `"B":`):
		return "binary keys are never equal"
	}
	return ""
}

// noOrder tells whether the items of the answer are in an order of the store's own.
func noOrder(operation, body string) bool {
	return operation == "Scan" || strings.Contains(body, `"IndexName"`)
}

func difference(operation, body string, w, g Answer) string {
	w, g = loosely(w), loosely(g)
	if noOrder(operation, body) {
		w, g = unordered(w), unordered(g)
	}
	return cmp.Diff(w, g)
}

func TestScriptsOnDynamoDBLocal(t *testing.T) {
	for _, c := range scripts(t) {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			want, got := Target{Name: "DynamoDB Local", URL: dynamodblocal.Start(t)}, engineDoor(t, 1)
			for _, s := range c.steps {
				w, g := both(t, want, got, s.Operation, s.Body)
				if other(s.Operation, s.Body, w, g) != "" {
					continue
				}
				if diff := difference(s.Operation, s.Body, w, g); diff != "" {
					t.Errorf("%s:%d: %s %s\n(- %s, + %s)\n%s", c.file, s.Line, s.Operation, s.Body, want.Name, got.Name, diff)
				}
			}
		})
	}
}

func TestHistoriesOnDynamoDBLocal(t *testing.T) {
	want, got := Target{Name: "DynamoDB Local", URL: dynamodblocal.Start(t)}, engineDoor(t, 1)
	rapid.Check(t, func(t *rapid.T) {
		draw(t, false, func(_ *history, operation, body string) Answer {
			w, g := both(t, want, got, operation, body)
			switch {
			case other(operation, body, w, g) != "":
				return g
			case noOrder(operation, body) && (strings.Contains(body, `"Limit"`) || strings.Contains(body, `"ExclusiveStartKey"`)):
				return Answer{} // pages of another order
			}
			if diff := difference(operation, body, w, g); diff != "" {
				t.Fatalf("%s %s\n(- %s, + %s)\n%s", operation, body, want.Name, got.Name, diff)
			}
			return g
		})
	})
}
