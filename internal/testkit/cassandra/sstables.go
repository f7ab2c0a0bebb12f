package cassandra

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// SSTablePartitions is what sstablepartitions prints, as CSV, of each partition in the
// files of a table: those that were flushed (Stop flushes all).
func (i *Instance) SSTablePartitions(keyspace, table string) ([]byte, error) {
	files, err := filepath.Glob(filepath.Join(i.layout.DataDir, "data", keyspace, table+"-*", "*-Data.db"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("table %s.%s has no files: was it flushed?", keyspace, table)
	}
	// The daemon's own arguments, but for its class, its agent and its heap.
	args := i.layout.arguments()
	args = slices.DeleteFunc(args[:len(args)-1], func(a string) bool {
		return strings.HasPrefix(a, "-Xm") || strings.HasPrefix(a, "-javaagent:")
	})
	args = append(append(args, "-Xmx256M", "org.apache.cassandra.tools.SSTablePartitions", "-m", "-t", "1"), files...)
	cmd := exec.Command(i.java, args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = i.layout.Dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("sstablepartitions of %s.%s: %w: %s", keyspace, table, err, stderr.String())
	}
	return out, nil
}
