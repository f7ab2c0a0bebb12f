// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tools runs Cassandra's own tools on an instance of this machine.
type Tools struct {
	layout layout
	java   string
}

// toolsFile is the file in an instance's directory with what its tools need. It serves processes
// other than the one that started the instance.
const toolsFile = "tools.json"

type toolsNote struct {
	Layout layout
	Java   string
}

func (i *Instance) writeTools() error {
	text, err := json.Marshal(toolsNote{i.layout, i.java})
	if err == nil {
		err = os.WriteFile(filepath.Join(i.layout.Dir, toolsFile), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note what Cassandra's tools need: %w", err)
	}
	return nil
}

// Tools returns the instance's tools.
func (i *Instance) Tools() *Tools { return &Tools{i.layout, i.java} }

// SharedTools returns the tools of the instance of Shared.
func SharedTools(t testing.TB) *Tools {
	t.Helper()
	Shared(t)
	log := os.Getenv(LogVariable)
	if os.Getenv(AddrVariable) == "" {
		i, err := shared()
		if err != nil {
			t.Fatal(err) // Shared has already reported the error
		}
		return i.Tools()
	}
	var note toolsNote
	text, err := os.ReadFile(filepath.Join(filepath.Dir(log), toolsFile))
	if err == nil {
		err = json.Unmarshal(text, &note)
	}
	if err != nil {
		t.Fatalf("this test needs the tools of the Cassandra at %s, which %s=%s is to lead to: %v", os.Getenv(AddrVariable), LogVariable, log, err)
	}
	return &Tools{note.Layout, note.Java}
}

// Nodetool runs nodetool and returns its output.
func (s *Tools) Nodetool(args ...string) ([]byte, error) {
	return s.run("org.apache.cassandra.tools.NodeTool", append([]string{"-h", "127.0.0.1", "-p", fmt.Sprint(s.layout.JMX)}, args...)...)
}

// SSTablePartitions returns the CSV output of sstablepartitions for each partition in the files of
// tables. Only flushed data is in them (Instance.Stop and nodetool flush do that).
func (s *Tools) SSTablePartitions(keyspace string, tables ...string) ([]byte, error) {
	args := []string{"-m", "-t", "1"}
	for _, table := range tables {
		files, err := filepath.Glob(filepath.Join(s.layout.DataDir, "data", keyspace, table+"-*", "*-Data.db"))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("table %s.%s has no files: was it flushed?", keyspace, table)
		}
		args = append(args, files...)
	}
	return s.run("org.apache.cassandra.tools.SSTablePartitions", args...)
}

// run runs a class with the daemon's own arguments except its class, its agent and its heap.
func (s *Tools) run(class string, args ...string) ([]byte, error) {
	all := s.layout.arguments()
	all = slices.DeleteFunc(all[:len(all)-1], func(a string) bool {
		return strings.HasPrefix(a, "-Xm") || strings.HasPrefix(a, "-javaagent:") || strings.HasPrefix(a, "-Dcassandra.jmx")
	})
	all = append(all, "-Xmx256M", "-XX:TieredStopAtLevel=1", "-Duser.home="+s.layout.Dir, class)
	cmd := exec.Command(s.java, append(all, args...)...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = s.layout.Dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		name := class[strings.LastIndexByte(class, '.')+1:]
		return nil, fmt.Errorf("%s %s: %w: %s%s", strings.ToLower(name), strings.Join(args[:min(len(args), 8)], " "), err, stderr.String(), out)
	}
	return out, nil
}
