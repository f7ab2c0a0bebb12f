// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evenkeel/evenkeel/internal/testkit/deps"
)

const jaegerKeyspace = "jaeger_v1_dc1" // the tests have it built in

// jaeger stores the traces of distributed systems. Each span is in several index tables, whose
// partition keys are a service, an operation or a tag.
var jaeger = &application{
	Name: "jaeger", Title: "Jaeger", Module: "github.com/jaegertracing/jaeger", Package: "internal/storage/integration", Run: "^TestCassandraStorage$", API: cql,
	At:  "127.0.0.1:9042",
	Env: func(endpoint) []string { return []string{"STORAGE=cassandra"} },
	Rules: jaegerKeyspace + `.traces: {shards: 4}
` + jaegerKeyspace + `.tag_index: {shards: 8}
` + jaegerKeyspace + `.duration_index: {shards: 4}
` + jaegerKeyspace + `.service_name_index: {shards: 8}
` + jaegerKeyspace + `.service_operation_index: {shards: 8}
` + jaegerKeyspace + `.operation_names_v2: {shards: 4}
` + jaegerKeyspace + `.operation_throughput: {shards: 4}
`,
	Sharded: "the index tables `tag_index`, `service_name_index` and `service_operation_index` over 8 shards; `traces`, `duration_index`, `operation_names_v2` and `operation_throughput` over 4",
	Prepare: func(ctx context.Context, s *suite, e endpoint) error {
		schema := filepath.Join(s.root, "internal", "storage", "v1", "cassandra", "schema")
		create := exec.CommandContext(ctx, "bash", filepath.Join(schema, "create.sh"), filepath.Join(schema, "v004.cql.tmpl"))
		create.Env = append(os.Environ(), "MODE=test", "KEYSPACE="+jaegerKeyspace)
		text, err := create.Output()
		if err != nil {
			return fmt.Errorf("Jaeger's create.sh: %w", err)
		}
		return cqlsh(ctx, e, string(text))
	},
	Clean: func(ctx context.Context, _ *suite, e endpoint) error {
		return cqlsh(ctx, e, "DROP KEYSPACE "+jaegerKeyspace+";")
	},
}

// cqlsh executes statements.
func cqlsh(ctx context.Context, e endpoint, text string) error {
	shell, err := deps.Path("venv/bin/cqlsh")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, shell, e.host(), e.port(), "--request-timeout", "60")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cqlsh: %w\n%s", err, out)
	}
	return nil
}
