// SPDX-License-Identifier: Apache-2.0

package main

// pictures are drawn into files of these names.
var pictures = map[string]*picture{
	"request-cql.svg": {
		title:       "The path of a CQL request",
		description: "The door forwards a request on an unsharded table unchanged. A request on a sharded table is parsed, analysed, planned, and carried out by the router, which asks the shards and merges their rows.",
		boxes: []box{
			{name: "client", column: 0, row: 1.1, heading: "client", lines: []string{"any driver, cqlsh"}, kind: outside},
			{name: "door", column: 1, row: 1, packages: []string{"cqldoor"}, lines: []string{"frames, sign-in, turns;", "finds the statement's table"}, kind: door},
			{name: "analysis", column: 2, row: 0, packages: []string{"cql/syntax", "cql/analysis"}, lines: []string{"a tree, then typed and", "checked on logical tables"}, kind: pure},
			{name: "plan", column: 2, row: 1.1, packages: []string{"cqldoor/plan", "shard"}, lines: []string{"physical statements, and", "the shards they go to"}, kind: pure},
			{name: "forward", column: 2, row: 2.3, heading: "forwarded", lines: []string{"the body is unchanged"}, kind: door},
			{name: "run", column: 3, row: 0, packages: []string{"cqldoor/run", "cqldoor/read"}, lines: []string{"sends them; checks its lease", "when the store has answered"}, kind: door},
			{name: "scatter", column: 3, row: 1.05, packages: []string{"scatter", "cql/eval"}, lines: []string{"a page of P rows over N", "shards; GROUP BY, LIMIT"}, kind: pure},
			{name: "store", column: 4, row: 1.7, packages: []string{"cqldoor/cluster", "engine/cassandra"}, lines: []string{"a real cluster, or Cassandra's", "data model in this process"}, kind: outside},
		},
		arrows: []arrow{
			{"client", "door", "frames"},
			{"door", "analysis", "sharded"},
			{"analysis", "plan", ""},
			{"plan", "run", ""},
			{"run", "scatter", "rows"},
			{"run", "store", ""},
			{"door", "forward", "unsharded"},
			{"forward", "store", ""},
		},
	},
	"request-dynamodb.svg": {
		title:       "The path of a DynamoDB request",
		description: "The door checks a request's form and signature. A request on an unsharded table is passed on. One on a sharded table is planned; a Query asks the shards and merges their items.",
		boxes: []box{
			{name: "client", column: 0, row: 1.1, heading: "client", lines: []string{"any SDK"}, kind: outside},
			{name: "door", column: 1, row: 1, packages: []string{"dynamodoor"}, lines: []string{"HTTP, form, checksum"}, kind: door},
			{name: "key", column: 1, row: 2, packages: []string{"dynamodoor/accesskey"}, lines: []string{"the signature"}, kind: pure},
			{name: "cache", column: 2, row: 0, packages: []string{"dynamodoor/cache"}, lines: []string{"popular items (--cache)"}, kind: door},
			{name: "run", column: 2, row: 1, packages: []string{"dynamodoor/run", "dynamodoor/tables"}, lines: []string{"the part for the request;", "the layout, its lease"}, kind: door},
			{name: "shift", column: 2, row: 2.2, packages: []string{"dynamodoor/shift"}, lines: []string{"tables whose layout is", "being changed"}, kind: door},
			{name: "plan", column: 3, row: 0, packages: []string{"dynamodoor/plan", "shard"}, lines: []string{"physical requests; their", "answers made logical"}, kind: pure},
			{name: "scatter", column: 3, row: 1.2, packages: []string{"dynamodoor/items", "scatter"}, lines: []string{"a page over N shards, in the", "order of the sort key"}, kind: pure},
			{name: "store", column: 4, row: 1.5, packages: []string{"dynamodoor/remote", "engine/dynamodb"}, lines: []string{"a real endpoint, or the same", "tables in this process"}, kind: outside},
		},
		arrows: []arrow{
			{"client", "door", "HTTP"},
			{"door", "key", "who?"},
			{"door", "cache", ""},
			{"cache", "run", ""},
			{"run", "shift", ""},
			{"run", "plan", "sharded"},
			{"run", "scatter", "Query"},
			{"plan", "store", ""},
			{"scatter", "store", ""},
			{"shift", "store", ""},
		},
	},
}
