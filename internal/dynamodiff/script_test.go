package dynamodiff

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScripts sends what people wrote to dynalite and to the engine.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			steps, err := ParseScript(string(text))
			if err != nil {
				t.Fatal(err)
			}
			want, got := judge(t), engineDoor(t, 1)
			for _, s := range steps {
				w, err := want.Do(s.Operation, s.Body)
				if err != nil {
					t.Fatal(err)
				}
				g, err := got.Do(s.Operation, s.Body)
				if err != nil {
					t.Fatal(err)
				}
				diff := cmp.Diff(w.General(), g.General())
				switch {
				case s.Differs == "" && diff != "":
					t.Errorf("%s:%d: %s %s\n(- %s, + %s)\n%s", file, s.Line, s.Operation, s.Body, want.Name, got.Name, diff)
				case s.Differs != "" && diff == "":
					t.Errorf("%s:%d: %s: the answers do not differ any more (%s): %s", file, s.Line, s.Operation, s.Differs, g)
				}
			}
		})
	}
}
