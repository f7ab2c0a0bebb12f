// SPDX-License-Identifier: Apache-2.0

package drivers

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/internal/testkit/deps"
	"github.com/google/go-cmp/cmp"
)

// sessions runs one client on Cassandra and on each door, and compares what it
// prints.
func sessions(t *testing.T, command func(t testing.TB, s server, host, port, keyspace string) *exec.Cmd) {
	t.Helper()
	sessionsOn(t, doors, command)
}

func sessionsOn(t *testing.T, doors func(testing.TB) []server, command func(t testing.TB, s server, host, port, keyspace string) *exec.Cmd) {
	t.Helper()
	run := func(t testing.TB, s server) string {
		host, port, err := net.SplitHostPort(s.addr)
		if err != nil {
			t.Fatal(err)
		}
		keyspace := cassandra.Keyspace(t, "drv")
		text := transcript(t, s, keyspace, command(t, s, host, port, keyspace))
		if !strings.HasSuffix(text, "END\n") {
			t.Errorf("the session on %s does not come to its end; it printed:\n%s", s.name, text)
		}
		return text
	}
	want := run(t, judge(t))
	for _, d := range doors(t) {
		t.Run(d.name, func(t *testing.T) {
			if diff := cmp.Diff(want, run(t, d)); diff != "" {
				t.Errorf("what the session prints differs (- Cassandra, + %s):\n%s", d.name, diff)
			}
		})
	}
}

// need returns the path of a part that `make deps` brings.
func need(t testing.TB, part string) string {
	t.Helper()
	p, err := deps.Path(part)
	if err != nil {
		t.Fatalf("this test needs a real client: %v", err)
	}
	return p
}

func TestPythonDriver(t *testing.T) {
	python := need(t, "venv/bin/python")
	sessions(t, func(_ testing.TB, s server, host, port, keyspace string) *exec.Cmd {
		return exec.Command(python, "python/session.py", host, port, keyspace, s.properties)
	})
}

// The same session with a cache: in front of the engine and of Cassandra.
func TestPythonDriverCached(t *testing.T) {
	python := need(t, "venv/bin/python")
	sessionsOn(t, func(t testing.TB) []server {
		engine := startDoor(t, "engine", "--data", t.TempDir(), "--cache", "16MB")
		real := startDoor(t, "door", "--cassandra", cassandra.Shared(t), "--cache", "16MB")
		return []server{engine, engine.sharded(), real, real.sharded()}
	}, func(_ testing.TB, s server, host, port, keyspace string) *exec.Cmd {
		return exec.Command(python, "python/session.py", host, port, keyspace, s.properties)
	})
}

// An application whose CREATE TABLE says nothing of sharding is the same on tables that a shard
// rule declares.
func TestPythonDriverByRule(t *testing.T) {
	python := need(t, "venv/bin/python")
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(rules, []byte("'drv*.t': {shards: 3}\n'drv*.*': plain\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	engine := startDoor(t, "engine", "--data", t.TempDir(), "--shard-rules", rules)
	engine.restart = nil // its log is read
	sessionsOn(t, func(testing.TB) []server { return []server{engine} }, func(_ testing.TB, s server, host, port, keyspace string) *exec.Cmd {
		return exec.Command(python, "python/session.py", host, port, keyspace, "")
	})
	if log := engine.log(); !strings.Contains(log, ".t rule=") || strings.Count(log, "a shard rule declares") != 1 {
		t.Errorf("not exactly the table that the rule names was sharded by it:\n%s", log)
	}
}

func TestNodeDriver(t *testing.T) {
	modules := need(t, "node/node_modules")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("this test needs Node 18 or later: %v; `make deps` installs it or says how", err)
	}
	sessions(t, func(_ testing.TB, s server, host, port, keyspace string) *exec.Cmd {
		cmd := exec.Command(node, "node/session.js", host, port, keyspace, s.properties)
		cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
		return cmd
	})
}

func TestJavaDriver(t *testing.T) {
	run := compile(t, need(t, "java"), "java/Session.java")
	sessions(t, func(_ testing.TB, s server, host, port, keyspace string) *exec.Cmd {
		return run(host, port, keyspace, s.properties)
	})
}

// compile compiles a Java program, whose class is Session, with the jars in a
// directory, and returns what runs it.
func compile(t *testing.T, jars, source string) func(args ...string) *exec.Cmd {
	t.Helper()
	java, err := deps.Java()
	if err != nil {
		t.Fatal(err)
	}
	classes := t.TempDir()
	compilers, err := filepath.Glob(filepath.Join(jars, "ecj-*.jar"))
	if err != nil || len(compilers) != 1 {
		t.Fatalf("the compiler among %s: %v %v", jars, compilers, err)
	}
	all, err := filepath.Glob(filepath.Join(jars, "*.jar"))
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Join(all, string(filepath.ListSeparator))
	if out, err := exec.Command(java, "-jar", compilers[0], "--release", "17", "-nowarn", "-cp", path, "-d", classes, source).CombinedOutput(); err != nil {
		t.Fatalf("compile %s: %v\n%s", source, err, out)
	}
	return func(args ...string) *exec.Cmd {
		return exec.Command(java, append([]string{"-Xmx256m", "-cp", classes + string(filepath.ListSeparator) + path, "Session"}, args...)...)
	}
}

// TestCqlsh compares cqlsh's whole output, as people see it, of a file of
// statements.
func TestCqlsh(t *testing.T) {
	cqlsh := need(t, "venv/bin/cqlsh")
	script, err := os.ReadFile("cqlsh/session.cql")
	if err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, s server) string {
		keyspace := cassandra.Keyspace(t, "drv")
		host, port, err := net.SplitHostPort(s.addr)
		if err != nil {
			t.Fatal(err)
		}
		with := ""
		if s.properties != "" {
			with = "WITH " + s.properties
		}
		text := strings.NewReplacer("KEYSPACE KEYSPACE", "KEYSPACE "+keyspace, " KEYSPACE;", " "+keyspace+";", "'KEYSPACE'", "'"+keyspace+"'",
			" PROPERTIES;", " "+with+";").Replace(string(script))
		file := filepath.Join(t.TempDir(), "session.cql")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		// Whose machine is busy does not give up.
		cmd := exec.Command(cqlsh, "--connect-timeout=60", "--request-timeout=60", "--no-color", "--encoding=utf-8", "-f", file, host, port)
		cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		// The session makes mistakes on purpose, so cqlsh does not end with 0.
		if err != nil && cmd.ProcessState.ExitCode() < 0 {
			t.Fatalf("cqlsh: %v\n%s", err, out)
		}
		return general(string(out), keyspace, file)
	}
	want := run(t, judge(t))
	for _, has := range []string{"A hot partition", "SyntaxException", "InvalidRequest", "CREATE TABLE KEYSPACE.blogs", "PRIMARY KEY"} {
		if !strings.Contains(want, has) {
			t.Fatalf("the session on Cassandra does not show %q:\n%s", has, want)
		}
	}
	for _, d := range doors(t) {
		t.Run(d.name, func(t *testing.T) {
			got := run(t, d)
			if d.properties != "" {
				if !strings.Contains(got, "write_sharding") {
					t.Error("DESCRIBE does not show write_sharding")
				}
				got = property.ReplaceAllString(got, "")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what cqlsh prints differs (- Cassandra, + %s):\n%s", d.name, diff)
			}
		})
	}
}

// property is what a plain table's DESCRIBE has not.
var property = regexp.MustCompile(`\n +AND write_sharding = [^;\n]*`)

// warning is a line of cqlsh or its Python about the machine.
var warning = regexp.MustCompile(`(?m)^(WARNING: |.*Warning: ).*\n`)

// general takes from cqlsh's output what differs from run to run.
func general(out, keyspace, file string) string {
	out = strings.NewReplacer(keyspace, "KEYSPACE", file, "FILE").Replace(out)
	return warning.ReplaceAllString(out, "")
}
