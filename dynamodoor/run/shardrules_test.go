// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/definitions"
	"github.com/evenkeel/evenkeel/shardrules"
)

// ruledDoor makes the router of a door with shard rules, and its log. The router is not started.
func ruledDoor(t *testing.T, b backend.Store, file, text string, lease time.Duration, replace bool) (*Router, *bytes.Buffer) {
	t.Helper()
	var rules *shardrules.Rules
	if file != "" {
		s, err := shardrules.Parse(file, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := definitions.CheckRules(&s.DynamoDB); err != nil {
			t.Fatal(err)
		}
		rules = &s.DynamoDB
	}
	log := new(bytes.Buffer)
	return New(Options{Backend: b, Lease: lease, Rules: rules, ReplaceRules: replace, Door: file + ".door", Log: slog.New(slog.NewTextHandler(log, nil))}), log
}

func startRuled(t *testing.T, b backend.Store, file, text string, lease time.Duration) (*Router, string) {
	t.Helper()
	r, log := ruledDoor(t, b, file, text, lease, false)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r, log.String()
}

const indexedTable = plainTable + `,"GlobalSecondaryIndexes":[{"IndexName":"by-r","KeySchema":[{"AttributeName":"r","KeyType":"HASH"},{"AttributeName":"h","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]}`

// TestRuleShardsTable checks that a CreateTable without sharding makes a sharded table if a rule
// says so.
func TestRuleShardsTable(t *testing.T) {
	for name, lease := range map[string]time.Duration{"alone": 0, "one of several": short} {
		t.Run(name, func(t *testing.T) {
			store := start(t, 1).store
			r, _ := startRuled(t, store, "rules.yaml", "dynamodb: {Tab: {shards: 5, indexes: {by-r: {shards: 3}}}, 'Log-*': {shards: 2}, Log-small: plain, Own: {shards: 7}, OnlyIndex: {indexes: {by-r: {shards: 4}}}}", lease)
			named := func(body, name string) string { return strings.Replace(body, `"Tab"`, `"`+name+`"`, 1) }
			must(t, r, "CreateTable", indexedTable)
			must(t, r, "CreateTable", named(plainTable, "Log-a")+"}")
			must(t, r, "CreateTable", named(plainTable, "Log-small")+"}")
			must(t, r, "CreateTable", named(plainTable, "Other")+"}")
			must(t, r, "CreateTable", named(shardedTable, "Own")) // the request takes precedence over the rule
			must(t, r, "CreateTable", named(indexedTable, "OnlyIndex"))
			for table, want := range map[string]string{"Tab": "5 map[by-r:3]", "Log-a": "2 map[]", "Log-small": "", "Other": "", "Own": "5 map[]", "OnlyIndex": "0 map[by-r:4]"} {
				got := ""
				if e := r.tables.Entry(table); e != nil {
					n, indexes := 0, map[string]int{}
					if e.Layout != nil {
						n = e.Layout.N
					}
					for name, l := range e.Indexes {
						indexes[name] = l.N
					}
					got = fmt.Sprint(n, " ", indexes)
				}
				if got != want {
					t.Errorf("%s: %q, want %q", table, got, want)
				}
			}
			// The table has the tag, as if the client had set it.
			arn := must(t, r, "DescribeTable", `{"TableName":"Tab"}`)["Table"].(map[string]any)["TableArn"]
			if tags := fmt.Sprint(must(t, r, "ListTagsOfResource", fmt.Sprintf(`{"ResourceArn":"%s"}`, arn))); !strings.Contains(tags, "shards=5") || !strings.Contains(tags, "write-sharding.index.by-r") {
				t.Errorf("the tags are %s", tags)
			}
			must(t, r, "PutItem", itemOfTab)
			if m := must(t, r, "GetItem", keyOfTab); !strings.Contains(fmt.Sprint(m), "y") {
				t.Errorf("%v", m)
			}
			fails(t, r, exception.ResourceInUse, "Table already exists: Tab", "CreateTable", indexedTable)
			// A door without a file uses the rules in the store.
			other, _ := startRuled(t, store, "", "", lease)
			must(t, other, "CreateTable", named(plainTable, "Log-b")+"}")
			if e := other.tables.Entry("Log-b"); e == nil || e.Layout.N != 2 || e.Rule != "Log-* (rules.yaml:1)" {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestRuleThatDoesNotFitIsRefused checks that a rule that cannot be applied refuses the request and
// names the rule's place.
func TestRuleThatDoesNotFitIsRefused(t *testing.T) {
	r, _ := startRuled(t, start(t, 1).store, "rules.yaml", "dynamodb:\n  '*': {shards: 5}\n  Tab: {shards: 5, indexes: {by-x: {shards: 3}}}\n  'A*c': {shards: 1}\n  'Ab*': {shards: 2}\n", 0)
	fails(t, r, exception.Validation, "rules.yaml:3", "CreateTable", indexedTable)
	fails(t, r, exception.Validation, "an index that the table does not have", "CreateTable", indexedTable)
	flat := `{"TableName":"Flat","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"h","AttributeType":"S"}],"KeySchema":[{"AttributeName":"h","KeyType":"HASH"}]}`
	fails(t, r, exception.Validation, "no sort key", "CreateTable", flat)
	fails(t, r, exception.Validation, "(The shard rule * (rules.yaml:2) declares that", "CreateTable", flat)
	fails(t, r, exception.Validation, "Abc", "CreateTable", strings.Replace(plainTable, `"Tab"`, `"Abc"`, 1)+"}")
	// Errors in the request itself are reported as without rules.
	wrong := strings.Replace(strings.Replace(plainTable, `"Tab"`, `"Wrong"`, 1), `{"AttributeName":"r","KeyType":"RANGE"}`, `{"AttributeName":"q","KeyType":"RANGE"}`, 1) + "}"
	if _, err := do(r, "CreateTable", wrong); err == nil || strings.Contains(err.Error(), "rule") {
		t.Errorf("a wrong request: %v", err)
	}
}

// TestTableThatExistsIsNotTheRules checks that an existing table is reported as existing, whatever
// the rules say, because clients create tables at each start.
func TestTableThatExistsIsNotTheRules(t *testing.T) {
	store := start(t, 1).store
	r, _ := startRuled(t, store, "", "", 0)
	must(t, r, "CreateTable", plainTable+"}")
	r, log := startRuled(t, store, "r.yaml", "dynamodb: {Tab: {shards: 5, indexes: {none: {shards: 2}}}}", 0)
	fails(t, r, exception.ResourceInUse, "already exists", "CreateTable", plainTable+"}")
	if !strings.Contains(log, "table=Tab") || !strings.Contains(log, "older than the shard rule Tab (r.yaml:1)") {
		t.Errorf("the log does not name it: %s", log)
	}
}

func TestRulesThatCanApplyToNoTable(t *testing.T) {
	for text, want := range map[string]string{
		"dynamodb:\n  Ab: {shards: 0}":                                     "r:2: Ab: 'shards' is '0'",
		"dynamodb:\n  Ab: {shard: 3}":                                      "r:2: Ab: the option shard is not known",
		"dynamodb:\n  Ab: {shards: 3, by: x}":                              "by is not one of DynamoDB tables",
		"dynamodb:\n  Ab: {shards: 3, strategy: random}":                   "strategy 'random'",
		"dynamodb:\n  Ab: {shards: 3, adopt: suffix}":                      "adopt",
		"dynamodb:\n  Ab: {indexes: {x-y: {shards: 3, keys: none}}}":       "keys=none",
		"dynamodb:\n  Ab: {indexes: {x-y: {}}}":                            "the number of shards is missing",
		"dynamodb:\n  Ab: {indexes: {x-y: {shards: 2, strategy: random}}}": "use 'calculated'",
	} {
		s, err := shardrules.Parse("r", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := definitions.CheckRules(&s.DynamoDB); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "r:2: ") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestDifferentRulesAreRefused(t *testing.T) {
	store := start(t, 1).store
	open := func(file, text string, lease time.Duration, replace bool) error {
		r, _ := ruledDoor(t, store, file, text, lease, replace)
		return r.Start(t.Context())
	}
	if err := open("a.yaml", "dynamodb: {Tab: {shards: 5}}", short, false); err != nil {
		t.Fatal(err)
	}
	if err := open("same.yaml", "\ndynamodb: {Tab: {shards: '5'}}", short, false); err != nil {
		t.Error(err)
	}
	err := open("b.yaml", "\ndynamodb: {Tab: {shards: 6}}", short, false)
	if err == nil || !strings.Contains(err.Error(), "Tab is {shards: 6} in b.yaml:2 and {shards: 5} in a.yaml:1") || !strings.Contains(err.Error(), "a.yaml.door") {
		t.Errorf("%v", err)
	}
	if err := open("b.yaml", "dynamodb: {Tab: {shards: 6}}", short, true); err != nil {
		t.Error(err)
	}
	if err := open("b.yaml", "dynamodb: {Tab: {shards: 6}}", short, false); err != nil {
		t.Error(err)
	}
	if err := open("c.yaml", "dynamodb: {Tab: {shards: 7}}", 0, false); err != nil {
		t.Errorf("where no other door can be: %v", err)
	}
}
