// SPDX-License-Identifier: Apache-2.0

package drivers

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// deployment is how the door is started, and tables are made.
type deployment struct {
	name  string
	tags  []string // names and values
	flags []string
}

// deployments are what the sessions run on, unchanged.
var deployments = []deployment{
	{name: "plain"},
	{name: "sharded", tags: []string{"write-sharding", "strategy=calculated shards=5", "write-sharding.index.by-country", "shards=3"}},
	{name: "cached", flags: []string{"--cache", "16MB"}},
}

// dynamoSessions runs one client's session on every deployment, and compares what it
// prints with what all clients print.
func dynamoSessions(t *testing.T, command func(url string, tags ...string) *exec.Cmd) {
	t.Helper()
	dynamoSessionsOn(t, deployments, command)
}

func dynamoSessionsOn(t *testing.T, deployments []deployment, command func(url string, tags ...string) *exec.Cmd) {
	t.Helper()
	want, err := os.ReadFile("dynamodb/expected.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range deployments {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel() // each has a door of its own, and clients take their time to start
			url, _ := dynamoDoor(t, d.flags...)
			cmd := command(url, d.tags...)
			if cmd.Env == nil {
				cmd.Env = os.Environ()
			}
			cmd.Env = append(cmd.Env, "HOME="+t.TempDir(), "NODE_NO_WARNINGS=1", "PYTHONWARNINGS=ignore")
			var out, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			kill := time.AfterFunc(hangs, func() { _ = cmd.Process.Kill() })
			defer kill.Stop()
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v\n%s", err, &stderr)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("what the session prints differs (- expected, + %s):\n%s", d.name, diff)
			}
		})
	}
}

func TestAWSCLI(t *testing.T) {
	aws := need(t, "boto3/bin/aws")
	// Each command starts a Python: through the cache they go in other clients.
	dynamoSessionsOn(t, deployments[:2], func(url string, tags ...string) *exec.Cmd {
		return exec.Command("bash", append([]string{"dynamodb/session.sh", aws, url}, tags...)...)
	})
}

func TestPynamoDB(t *testing.T) {
	python := need(t, "boto3/bin/python")
	dynamoSessions(t, func(url string, tags ...string) *exec.Cmd {
		return exec.Command(python, append([]string{"dynamodb/pynamo.py", url}, tags...)...)
	})
}

func TestJavaScriptSDK(t *testing.T) { nodeSession(t, "dynamodb/session.js") }

func TestElectroDB(t *testing.T) { nodeSession(t, "dynamodb/electrodb.js") }

func nodeSession(t *testing.T, script string) {
	modules := need(t, "aws-js/node_modules")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("this test needs Node 18 or later: %v; `make deps` installs it or says how", err)
	}
	dynamoSessions(t, func(url string, tags ...string) *exec.Cmd {
		cmd := exec.Command(node, append([]string{script, url}, tags...)...)
		cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
		return cmd
	})
}

func TestJavaSDK(t *testing.T) {
	run := compile(t, need(t, "aws-java"), "dynamodb/Session.java")
	dynamoSessions(t, func(url string, tags ...string) *exec.Cmd { return run(append([]string{url}, tags...)...) })
}
