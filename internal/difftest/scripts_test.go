// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
)

// TestScripts runs testdata/*.cql on all targets.
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.cql")
	if err != nil {
		t.Fatal(err)
	}
	refusals, err := ReadRefusals("testdata/refusals.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := targets(t)
	tally := &Tally{}
	whole := t.Run("all", func(t *testing.T) {
		for _, path := range paths {
			script, err := ReadScript(path)
			if err != nil {
				t.Error(err)
				continue
			}
			for _, v := range script.Versions {
				t.Run(fmt.Sprintf("%s/v%d", script.Name, v), func(t *testing.T) {
					t.Parallel()
					runScript(t, script, all, primitive.ProtocolVersion(v), refusals, tally)
				})
			}
		}
	})
	// Floors and the list of refusals apply to the whole run, not to -run …/one.
	if !whole || testing.Short() || partial() {
		return
	}
	sharded := slices.ContainsFunc(all, func(t Target) bool { return t.Sharding != "" })
	for _, target := range all {
		for _, below := range tally.Below(target.Name) {
			t.Errorf("%s accepted too few statements of a class: %s", target.Name, below)
		}
	}
	if sharded {
		for _, id := range refusals.Unmet() {
			t.Errorf("testdata/refusals.txt: no script meets %s", id)
		}
	}
	t.Logf("accepted statements:\n%v", tally)
}

// runScript runs a script on all targets. If there are differences, but the judge contradicts
// itself, it runs the script on all targets once more; the differences of that run count.
func runScript(t *testing.T, script *Script, all []Target, v primitive.ProtocolVersion, refusals *Refusals, tally *Tally) {
	var differences []string
	r := &Runner{Sessions: openAll(t, all, v), Refusals: refusals, Tally: tally, Log: t.Logf,
		Report: func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }}
	r.Run(script)
	if len(differences) == 0 {
		return
	}
	contradicts, err := r.Contradicts(openAll(t, all[:1], v)[0])
	if err != nil {
		t.Error(err)
	}
	if contradicts {
		r.Sessions, r.Report = openAll(t, all, v), t.Errorf
		r.Run(script)
		return
	}
	for _, d := range differences {
		t.Error(d)
	}
}

// partial reports whether -run selects only some subtests.
func partial() bool {
	f := flag.Lookup("test.run")
	return f != nil && f.Value.String() != "" && f.Value.String() != "^TestScripts$" && f.Value.String() != "TestScripts"
}

// openAll opens a session to each target, with keyspaces whose names have equal length. It drops
// them when the test ends.
func openAll(t testing.TB, all []Target, v primitive.ProtocolVersion) []*Session {
	t.Helper()
	base := cassandra.Keyspace(t, "d")
	sessions := make([]*Session, len(all))
	for i, target := range all {
		s, err := Open(target, fmt.Sprintf("%s_%c", base, 'a'+i), v)
		if err != nil {
			t.Fatal(err)
		}
		sessions[i] = s
		t.Cleanup(func() {
			if err := s.Drop(); err != nil {
				t.Errorf("drop: %v", err)
			}
		})
	}
	return sessions
}
