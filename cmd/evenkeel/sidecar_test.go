// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// The pod of examples/sidecar starts a door. The door reads its arguments and its configuration,
// and then finds no cluster here.
func TestSidecarExample(t *testing.T) {
	text, err := os.ReadFile("../../examples/sidecar/pod.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil || len(file.Docs) != 2 {
		t.Fatalf("%d documents, %v", len(file.Docs), err)
	}
	var config struct{ Data map[string]string }
	var pod struct {
		Spec struct {
			InitContainers []struct{ Args []string } `yaml:"initContainers"`
		}
	}
	for i, into := range []any{&config, &pod} {
		if err := yaml.NodeToValue(file.Docs[i].Body, into); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	password := filepath.Join(dir, "password")
	settings := strings.ReplaceAll(config.Data["evenkeel.yaml"], "/etc/evenkeel/secret/password", password)
	path := filepath.Join(dir, "evenkeel.yaml")
	for name, text := range map[string]string{path: settings, password: "secret\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := slices.Clone(pod.Spec.InitContainers[0].Args)
	at := slices.Index(args, "/etc/evenkeel/evenkeel.yaml")
	if at < 0 {
		t.Fatalf("the arguments are %q", args)
	}
	args[at] = path
	var out, errs bytes.Buffer
	code := run(append(args, "--cassandra", "127.0.0.1:1", "--listen-cql", "127.0.0.1:0", "--listen-http", "off"), &out, &errs)
	if code != 1 || !strings.Contains(errs.String(), "cannot reach Cassandra at 127.0.0.1:1") {
		t.Errorf("code %d: %s", code, &errs)
	}
}
