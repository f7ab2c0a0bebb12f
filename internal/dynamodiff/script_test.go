// SPDX-License-Identifier: Apache-2.0

package dynamodiff

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type script struct {
	file  string
	steps []Step
}

// scripts are those in testdata.
func scripts(t *testing.T) (list []script) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := ParseScript(string(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		list = append(list, script{file, steps})
	}
	return list
}

// TestScripts sends what people wrote to dynalite and to the engine.
func TestScripts(t *testing.T) {
	for _, c := range scripts(t) {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			want, got := judge(t), engineDoor(t, 1)
			for _, s := range c.steps {
				w, g := both(t, want, got, s.Operation, s.Body)
				diff := cmp.Diff(w.General(), g.General())
				switch {
				case s.Differs == "" && diff != "":
					t.Errorf("%s:%d: %s %s\n(- %s, + %s)\n%s", c.file, s.Line, s.Operation, s.Body, want.Name, got.Name, diff)
				case s.Differs != "" && diff == "":
					t.Errorf("%s:%d: %s: the answers do not differ any more (%s): %s", c.file, s.Line, s.Operation, s.Differs, g)
				}
			}
		})
	}
}
