// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"slices"
	"strings"
	"testing"
)

// edges is the architecture: the packages of this module that each package may import. A package
// stands above all that it imports.
var edges = map[string][]string{
	"cmd/evenkeel": {
		"reshard", "observe", "observe/exposition", "observe/otlp", "observe/top",
		"budget", "cqldoor", "cqldoor/cache", "cqldoor/cluster", "cqldoor/definitions", "cqldoor/run", "cqldoor/plan", "cqldoor/tables", "dynamodoor", "dynamodoor/accesskey", "dynamodoor/cache", "dynamodoor/catalog", "dynamodoor/definitions", "dynamodoor/plan", "dynamodoor/principal", "dynamodoor/remote", "dynamodoor/run", "dynamodoor/throttling", "engine/cassandra", "engine/throughput", "engine/dynamodb", "engine/storage", "fleet",
		"catalog", "cql/syntax", "cql/eval", "cql/schema", "cql/store", "cql/value", "cql/wire", "dynamo/api", "dynamo/exception", "dynamo/partiql", "dynamo/schema", "shard", "shardrules",
		"workbench/advice", "workbench/capacity", "workbench/datetime", "workbench/timeid", "workbench/keys", "workbench/prices", "workbench/profile", "workbench/queries", "workbench/report", "workbench/rows", "workbench/simulation", "workbench/demo", "workbench/inspection", "workbench/live", "workbench/livedynamo", "workbench/livetable", "workbench/nodetool", "workbench/page", "workbench/serverpage",
	},

	// The CQL door. The router (run) plugs into the door, which does not know it.
	// The parts of the router, from the lowest up.
	"cqldoor/tables":       {"catalog", "cql/analysis", "cql/schema", "cql/store", "cql/syntax", "cql/wire", "cqldoor", "cqldoor/plan", "deadline", "fleet", "observe", "partitioner", "registry", "reshard", "shard"},
	"cqldoor/request":      {"budget", "catalog", "cql/analysis", "cql/eval", "cql/schema", "cql/store", "cql/syntax", "cql/wire", "cqldoor", "cqldoor/plan", "cqldoor/tables", "deadline", "observe", "reshard", "shard"},
	"cqldoor/rollover":     {"catalog", "cql/analysis", "cql/wire", "cqldoor/internal/rule", "cqldoor/mover", "cqldoor/plan", "cqldoor/request", "cqldoor/tables", "registry", "shard"},
	"cqldoor/buckets":      {"catalog", "cql/analysis", "cql/schema", "cql/syntax", "cql/wire", "cqldoor", "cqldoor/internal/rule", "cqldoor/plan", "cqldoor/request", "cqldoor/tables", "partitioner", "registry", "shard", "shard/timebucket"},
	"cqldoor/read":         {"catalog", "cql/analysis", "cql/eval", "cql/result", "cql/schema", "cql/store", "cql/wire", "cqldoor", "cqldoor/buckets", "cqldoor/internal/rule", "cqldoor/plan", "cqldoor/request", "deadline", "observe", "reshard", "scatter", "shard"},
	"cqldoor/write":        {"cql/analysis", "cql/eval", "cql/store", "cql/wire", "cqldoor", "cqldoor/buckets", "cqldoor/internal/rule", "cqldoor/plan", "cqldoor/read", "cqldoor/request", "cqldoor/rollover", "shard"},
	"cqldoor/schemaview":   {"catalog", "cql/analysis", "cql/describe", "cql/eval", "cql/result", "cql/schema", "cql/syntax", "cql/value", "cql/wire", "cqldoor", "cqldoor/request", "cqldoor/tables", "partitioner"},
	"cqldoor/definitions":  {"catalog", "cql/ddl", "cql/describe", "cql/schema", "cql/store", "cql/syntax", "cql/value", "cql/wire", "cqldoor", "cqldoor/buckets", "cqldoor/mover", "cqldoor/plan", "cqldoor/request", "cqldoor/schemaview", "cqldoor/tables", "deadline", "fleet", "observe", "registry", "reshard", "shard", "shardrules"},
	"cqldoor/run":          {"catalog", "cql/ddl", "cql/eval", "cql/schema", "cql/store", "cql/syntax", "cql/wire", "cqldoor", "cqldoor/buckets", "cqldoor/definitions", "cqldoor/internal/rule", "cqldoor/plan", "cqldoor/read", "cqldoor/request", "cqldoor/rollover", "cqldoor/schemaview", "cqldoor/tables", "cqldoor/write", "fleet", "observe", "reshard", "shard", "shardrules"},
	"cqldoor/cache":        {"cql/store", "cql/syntax", "cql/wire", "cachefence"},
	"cqldoor/gocqldoor":    {"budget", "cql/store", "cqldoor", "cqldoor/cluster", "cqldoor/run", "fleet", "shardrules"},
	"cqldoor/mover":        {"deadline", "catalog", "cql/describe", "cql/schema", "cql/store", "cql/syntax", "cql/value", "cql/wire", "cqldoor/plan", "reshard", "shard"},
	"cqldoor":              {"budget", "observe", "cqldoor/transport", "cql/store", "cql/syntax", "cql/wire"},
	"cqldoor/cluster":      {"budget", "lane", "cqldoor/cluster/ring", "cqldoor/transport", "cql/store", "cql/value", "cql/wire", "partitioner"},
	"cqldoor/cluster/ring": {},
	"cqldoor/plan": {
		"cqldoor/internal/rule", "cql/analysis", "cql/eval", "cql/schema", "cql/syntax", "cql/value", "cql/wire", "partitioner", "reshard", "shard", "shard/timebucket",
	},
	"cqldoor/internal/rule": {"internal/switches"},
	"cqldoor/transport":     {"cql/wire"},
	"catalog":               {"deadline", "cql/schema", "cql/store", "cql/syntax", "cql/value", "cql/wire", "reshard", "shard", "registry"},
	"fleet":                 {"deadline", "catalog", "cql/wire", "registry"},
	"scatter":               {},
	"registry":              {},
	"reshard":               {"internal/switches"},
	"internal/switches":     {},
	"lane":                  {},
	"deadline":              {},
	"shardrules":            {"shard"},
	"budget":                {},
	"cachefence":            {},

	// Packages for the operator's view.
	"observe":            {},
	"observe/exposition": {"observe"},
	"observe/otlp":       {"observe"},
	"observe/top":        {},
	"internal/promrules": {},

	// The engine: a store, which knows no door.
	"engine/cassandra": {
		"budget", "engine/throughput", "engine/storage", "engine/cassandra/system", "cql/analysis", "cql/ddl", "cql/describe", "cql/eval", "cql/result", "cql/schema",
		"cql/store", "cql/syntax", "cql/value", "cql/wire", "deadline", "lane", "partitioner",
	},
	"engine/cassandra/system": {"cql/ddl", "cql/schema", "cql/value"},
	"engine/dynamodb/stream":  {"engine/storage", "dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/schema"},
	"engine/dynamodb":         {"budget", "deadline", "lane", "engine/throughput", "engine/dynamodb/stream", "engine/storage", "dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/expression", "dynamo/schema"},
	"engine/throughput":       {},
	"engine/storage":          {"budget", "cql/value", "engine/storage/diskspace", "engine/storage/inventory"},

	"engine/storage/diskspace": {},
	"engine/storage/inventory": {},

	// The DynamoDB door.
	"dynamodoor/reshard": {"internal/switches"},
	"dynamodoor/shift":   {"dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/expression", "dynamo/schema", "dynamodoor/plan", "dynamodoor/reshard"},
	"dynamodoor/catalog": {"deadline", "dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/expression", "shard", "shard/timebucket", "registry"},
	"dynamodoor/plan":    {"dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/expression", "dynamo/jsontext", "dynamo/schema", "shard", "shard/timebucket"},
	// The parts of the router, from the lowest up.
	"dynamodoor/backend":     {"deadline", "dynamo/api", "dynamo/exception", "dynamodoor/principal", "dynamodoor/requestid", "observe"},
	"dynamodoor/tables":      {"deadline", "dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/schema", "dynamodoor/backend", "dynamodoor/catalog", "dynamodoor/plan", "dynamodoor/principal", "dynamodoor/reshard", "dynamodoor/shift", "registry"},
	"dynamodoor/items":       {"budget", "dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamodoor/backend", "dynamodoor/catalog", "dynamodoor/plan", "dynamodoor/principal", "dynamodoor/shift", "dynamodoor/tables", "internal/switches", "observe", "registry", "scatter", "shard/timebucket"},
	"dynamodoor/statements":  {"dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/partiql", "dynamo/schema", "dynamodoor/backend", "dynamodoor/catalog", "dynamodoor/items", "dynamodoor/plan", "dynamodoor/tables"},
	"dynamodoor/streams":     {"dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/schema", "dynamodoor/backend", "dynamodoor/catalog", "dynamodoor/plan", "dynamodoor/principal", "dynamodoor/tables"},
	"dynamodoor/mover":       {"dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/expression", "dynamo/schema", "dynamodoor/backend", "dynamodoor/catalog", "dynamodoor/items", "dynamodoor/plan", "dynamodoor/principal", "dynamodoor/reshard", "dynamodoor/shift", "dynamodoor/tables", "reshard", "shard"},
	"dynamodoor/definitions": {"dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/schema", "dynamodoor/backend", "dynamodoor/catalog", "dynamodoor/items", "dynamodoor/mover", "dynamodoor/plan", "dynamodoor/streams", "dynamodoor/tables", "shard", "shardrules", "registry"},
	"dynamodoor/run":         {"dynamo/api", "dynamo/exception", "dynamo/jsontext", "dynamo/partiql", "dynamo/schema", "dynamodoor/backend", "dynamodoor/catalog", "dynamodoor/definitions", "dynamodoor/items", "dynamodoor/mover", "dynamodoor/plan", "dynamodoor/statements", "dynamodoor/streams", "dynamodoor/tables", "reshard", "shardrules"},

	"dynamodoor": {"budget", "lane", "observe", "dynamo/api", "dynamo/exception", "dynamo/jsontext", "dynamodoor/accesskey", "dynamodoor/principal", "dynamodoor/requestid"},

	"dynamodoor/cache":        {"cachefence", "dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/expression", "dynamo/jsontext", "dynamo/partiql", "dynamodoor/principal"},
	"dynamodoor/throttling":   {"observe", "dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/schema"},
	"dynamodoor/accesskey":    {"dynamo/exception", "dynamodoor/principal"},
	"dynamodoor/principal":    {},
	"dynamodoor/requestid":    {},
	"dynamodoor/remote":       {"dynamo/api", "dynamo/exception", "dynamodoor/principal", "dynamodoor/requestid"},
	"dynamodoor/roundtripper": {"dynamodoor", "dynamodoor/backend", "dynamodoor/remote", "dynamodoor/run"},

	// The language.
	"cql/ddl":      {"cql/analysis", "cql/schema", "cql/syntax", "cql/value", "cql/wire"},
	"cql/describe": {"cql/schema", "cql/syntax", "cql/value", "cql/wire"},
	"cql/result":   {"cql/analysis", "cql/eval"},
	"cql/analysis": {"cql/eval", "cql/schema", "cql/syntax", "cql/value", "cql/wire", "partitioner"},
	"cql/eval":     {"cql/schema", "cql/value", "cql/wire", "partitioner"},
	"cql/store":    {"cql/wire"},
	"cql/schema":   {"cql/value"},
	"cql/wire":     {"cql/value"},
	"cql/syntax":   {},
	"cql/value":    {},

	// The DynamoDB language.
	"dynamo/api":        {"dynamo/attribute", "dynamo/exception", "dynamo/expression", "dynamo/jsontext", "dynamo/schema"},
	"dynamo/partiql":    {"dynamo/api", "dynamo/attribute", "dynamo/exception", "dynamo/expression", "dynamo/schema"},
	"dynamo/schema":     {"dynamo/attribute", "dynamo/exception", "dynamo/expression"},
	"dynamo/expression": {"dynamo/attribute", "dynamo/exception"},
	"dynamo/attribute":  {"dynamo/exception", "dynamo/jsontext"},
	"dynamo/exception":  {"dynamo/jsontext"},
	"dynamo/jsontext":   {},

	// Arithmetic.
	"shard":            {"partitioner", "shard/timebucket"},
	"shard/timebucket": {},
	"partitioner":      {},

	// The workbench: it only computes from its input.
	"workbench/report":     {"dynamo/api", "workbench/advice", "workbench/capacity", "workbench/inspection", "workbench/profile", "workbench/simulation"},
	"workbench/simulation": {"cql/value", "partitioner", "shard", "workbench/datetime", "workbench/timeid", "workbench/keys", "workbench/sketch", "workbench/stats"},
	"workbench/advice": {
		"cql/syntax", "cql/value", "dynamo/attribute", "shard", "shard/timebucket",
		"workbench/capacity", "workbench/prices", "workbench/profile", "workbench/queries", "workbench/simulation",
	},
	"workbench/capacity": {"shard", "workbench/stats"},
	"workbench/demo": {
		"dynamo/api", "dynamo/exception", "dynamodoor/run", "engine/throughput", "engine/dynamodb", "engine/storage", "shard",
		"workbench/capacity", "workbench/page", "workbench/report",
	},
	"workbench/inspection": {"cql/schema", "cql/syntax", "cql/value", "dynamo/api", "partitioner", "workbench/capacity", "workbench/prices"},
	"workbench/keys":       {"shard"},
	"workbench/live":       {"catalog", "cql/schema", "cql/syntax", "cql/value", "cql/wire", "workbench/livetable", "workbench/rows", "registry"},
	"workbench/livedynamo": {"reshard", "dynamo/api", "dynamo/attribute", "dynamo/exception", "partitioner", "shard", "shard/timebucket", "workbench/livetable", "workbench/rows"},
	"workbench/livetable":  {},
	"workbench/nodetool":   {},
	"workbench/page":       {"cql/value", "shard", "workbench/advice", "workbench/datetime", "workbench/live", "workbench/livedynamo", "workbench/prices", "workbench/profile", "workbench/queries", "workbench/report", "workbench/rows"},
	"workbench/serverpage": {"observe/top", "workbench/page", "workbench/report"},
	"workbench/orders":     {},
	"workbench/queries":    {"cql/syntax", "dynamo/partiql"},
	"workbench/prices":     {},
	"workbench/datetime":   {"cql/value"},
	"workbench/timeid":     {},
	"workbench/profile":    {"cql/value", "partitioner", "shard", "workbench/datetime", "workbench/rows", "workbench/sketch", "workbench/timeid"},
	"workbench/rows":       {"cql/value"},
	"workbench/sketch":     {},
	"workbench/stats":      {},

	"internal/lint":     {},
	"internal/pictures": {},
}

// free lists packages that serve only tests and examples. They may import anything except a
// command, and only tests and each other import them.
var free = []string{"examples", "internal/apps", "internal/attack", "internal/bench", "internal/difftest", "internal/drivers", "internal/dynamodiff", "internal/ringtest", "internal/testkit"}

func isFree(dir string) bool {
	return slices.ContainsFunc(free, func(f string) bool { return dir == f || strings.HasPrefix(dir, f+"/") })
}

func TestImportsPointDown(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range source(t) {
		allowed, listed := edges[f.dir]
		if !listed && !isFree(f.dir) {
			if !seen[f.dir] {
				t.Errorf("package %s has no row in the table of edges", f.dir)
			}
			seen[f.dir] = true
			continue
		}
		seen[f.dir] = true
		if f.test {
			continue
		}
		for p, spec := range f.imports(t) {
			dir, ours := strings.CutPrefix(p, module+"/")
			switch {
			case !ours:
			case isFree(f.dir):
				if strings.HasPrefix(dir, "cmd/") {
					t.Errorf("%s: %s imports %s", f.at(spec.Pos()), f.dir, dir)
				}
			case !slices.Contains(allowed, dir):
				t.Errorf("%s: %s may not import %s", f.at(spec.Pos()), f.dir, dir)
			}
		}
	}
	for dir := range edges {
		if !seen[dir] && dir != "catalog" {
			t.Errorf("the table of edges has a row for %s, which does not exist", dir)
		}
	}
}

// TestEngineKnowsNoDoor checks that the engine does not import the door, not even in its tests. The
// door is tested with the engine, not the reverse.
func TestEngineKnowsNoDoor(t *testing.T) {
	for _, f := range source(t) {
		if !strings.HasPrefix(f.dir, "engine/") {
			continue
		}
		for p, spec := range f.imports(t) {
			if strings.HasPrefix(p, module+"/cqldoor") {
				t.Errorf("%s: %s imports %s", f.at(spec.Pos()), f.dir, p)
			}
		}
	}
}

// TestEdgesAreAcyclic checks that the table has no cycle, and no edge upward from the language.
func TestEdgesAreAcyclic(t *testing.T) {
	state := make(map[string]int)
	var visit func(dir string, way []string)
	visit = func(dir string, way []string) {
		switch state[dir] {
		case 1:
			t.Errorf("a circle in the table: %s", strings.Join(append(way, dir), " → "))
			return
		case 2:
			return
		}
		state[dir] = 1
		for _, to := range edges[dir] {
			if _, ok := edges[to]; !ok {
				t.Errorf("%s may import %s, which has no row", dir, to)
			}
			visit(to, append(way, dir))
		}
		state[dir] = 2
	}
	for dir := range edges {
		visit(dir, nil)
	}
}
