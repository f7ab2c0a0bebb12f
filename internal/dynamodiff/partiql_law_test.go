// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPartiQLLaw sends statements, drawn at random, to a plain table and a sharded
// one. Only the order of a Scan, and so its pages, may differ, and the capacity that
// a Query takes.
func TestPartiQLLaw(t *testing.T) {
	for _, tag := range []string{"shards=1", "shards=3", "shards=16", "strategy=time bucket=90s unit=milliseconds", "strategy=time bucket=90s unit=seconds shards=2"} {
		t.Run(tag, func(t *testing.T) {
			plain, sharded := engineDoor(t, 1), engineDoor(t, 4)
			rapid.Check(t, func(t *rapid.T) {
				s := &statements{t: t, table: fmt.Sprintf("Table%d", tables.Add(1))}
				create := fmt.Sprintf(`{"TableName":"%s","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"},{"AttributeName":"r","AttributeType":"N"}],`+
					`"KeySchema":[{"AttributeName":"h","KeyType":"HASH"},{"AttributeName":"r","KeyType":"RANGE"}]`, s.table)
				ask := func(to Target, operation, body string) Answer {
					a, err := to.Do(operation, body)
					if err != nil {
						t.Fatal(err)
					}
					if strings.Contains(fmt.Sprint(a.Body), "evenkeel.") {
						t.Fatalf("%s shows what is hidden: %s", body, a)
					}
					return a
				}
				ask(plain, "CreateTable", create+"}")
				ask(sharded, "CreateTable", create+`,"Tags":[{"Key":"write-sharding","Value":"`+tag+`"}]}`)
				for range rapid.IntRange(5, 30).Draw(t, "statements") {
					operation, body, keyed := s.request()
					a, b := ask(plain, operation, body), ask(sharded, operation, body)
					if !keyed {
						a, b = unordered(a), unordered(b)
					}
					if diff := cmp.Diff(a.General(), b.General()); diff != "" {
						t.Fatalf("%s %s\n(- plain, + %s)\n%s", operation, body, tag, diff)
					}
					// A token is good for either: it has nothing of how a table lies.
					for m, _ := a.Body.(map[string]any); keyed && m["NextToken"] != nil; m, _ = a.Body.(map[string]any) {
						next := strings.TrimSuffix(body, "}") + fmt.Sprintf(`,"NextToken":"%s"}`, m["NextToken"])
						a, b = ask(plain, operation, next), ask(sharded, operation, next)
						if diff := cmp.Diff(a.General(), b.General()); diff != "" {
							t.Fatalf("%s %s\n(- plain, + %s)\n%s", operation, next, tag, diff)
						}
					}
				}
			})
		})
	}
}

// statements draws requests of statements on one table.
type statements struct {
	t     *rapid.T
	table string
}

func (s *statements) one(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(s.t, label)
}

func (s *statements) key() (h, r string) {
	return s.one("h", "'a'", "'b'", "'a-1'"), s.one("r", "1", "2", "-3", "4.5", "10", "200", "-90", "90000")
}

// rest is a condition beside the key.
func (s *statements) rest() string {
	return s.one("rest", "", "", " AND x = 1", " AND x <> 1", " AND x IS MISSING", " AND NOT x > 2", " AND (x IN [1,2] OR y = 'p')", " AND contains(y, 'p')", " AND size(l) > 1", " AND r <> 2")
}

func (s *statements) write() string {
	h, r := s.key()
	where := fmt.Sprintf(" WHERE h = %s AND r = %s%s", h, r, s.rest())
	switch s.one("write", "insert", "insert", "insert", "update", "delete") {
	case "insert":
		return fmt.Sprintf("INSERT INTO %s VALUE {'h': %s, 'r': %s, 'x': %s, 'y': 'p', 'l': [1, 2]}", s.table, h, r, s.one("x", "1", "2", "3"))
	case "update":
		return "UPDATE " + s.table + s.one("change", " SET x = x + 1", " SET l = list_append(l, [3])", " REMOVE x", " SET z = set_add(z, <<1>>)", " SET l[0] = 'q'", " SET r = 5") + where +
			s.one("returning", "", " RETURNING ALL OLD *", " RETURNING MODIFIED NEW *", " RETURNING ALL NEW *", " RETURNING MODIFIED OLD *")
	}
	return "DELETE FROM " + s.table + where + s.one("returning", "", " RETURNING ALL OLD *")
}

// request is a statement, or several, and whether its answer has an order.
func (s *statements) request() (operation, body string, keyed bool) {
	quote := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			s.t.Fatal(err)
		}
		return string(text)
	}
	several := func(f func() string) (all []map[string]any) {
		for range rapid.IntRange(1, 4).Draw(s.t, "several") {
			all = append(all, map[string]any{"Statement": f(), "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})
		}
		return all
	}
	get := func() string {
		h, r := s.key()
		return fmt.Sprintf("SELECT %s FROM %s WHERE h = %s AND r = %s", s.one("columns", "*", "x, l[0]", "h, y"), s.table, h, r)
	}
	switch rapid.IntRange(0, 9).Draw(s.t, "request") {
	case 0:
		return "ExecuteTransaction", quote(map[string]any{"TransactStatements": several(func() string { return strings.Split(s.write(), " RETURNING")[0] })}), true
	case 1:
		return "ExecuteTransaction", quote(map[string]any{"TransactStatements": several(get)}), true
	case 2:
		return "BatchExecuteStatement", quote(map[string]any{"Statements": several(get)}), true
	case 3, 4, 5:
		return "ExecuteStatement", quote(map[string]any{"Statement": s.write(), "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}), true
	case 6:
		return "ExecuteStatement", quote(map[string]any{"Statement": "SELECT * FROM " + s.table + s.one("where", "", " WHERE x = 1", " WHERE h > 'a'", " WHERE r BETWEEN 1 AND 5")}), false
	}
	where := s.one("hash", "h = 'a'", "h = 'b'", "h IN ['b', 'a']") +
		s.one("sort", "", " AND r > 1", " AND r <= 4.5", " AND r BETWEEN 1 AND 4.5", " AND r = 2", " AND r IN [10, -3, 1]", " AND r > 1 AND r < 10", " AND (r < 0 OR r > 4)") + s.rest()
	body = "SELECT " + s.one("columns", "*", "r", "x, l[1], h") + " FROM " + s.table + " WHERE " + where + s.one("order", "", "", " ORDER BY h DESC, r", " ORDER BY h", " ORDER BY h, r DESC")
	request := map[string]any{"Statement": body}
	if rapid.Bool().Draw(s.t, "limited") {
		request["Limit"] = rapid.IntRange(1, 4).Draw(s.t, "limit")
	}
	return "ExecuteStatement", quote(request), true
}
