// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// goFile matches the name of a Go file in a text.
var goFile = regexp.MustCompile(`(?:[a-z0-9_]+/)*[a-z0-9_]+\.go\b`)

// TestNamedFilesAreThere checks that the Go files that documents and comments name exist. A comment may name a file of
// its own folder without the folder.
func TestNamedFilesAreThere(t *testing.T) {
	var all []string
	for _, f := range source(t) {
		all = append(all, f.path)
	}
	named := 0
	check := func(where, dir, text string) {
		for _, name := range goFile.FindAllString(text, -1) {
			named++
			if !slices.Contains(all, name) && !slices.Contains(all, path.Join(dir, name)) {
				t.Errorf("%s names %s, which is not there", where, name)
			}
		}
	}
	for _, f := range source(t) {
		for _, group := range f.ast.Comments {
			check(f.at(group.Pos()), f.dir, group.Text())
		}
	}
	for _, pattern := range []string{"../../ARCHITECTURE.md", "../../CONTRIBUTING.md", "../../README.md", "../../docs/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no documents at %s: %v", pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			check(name, "", string(text))
		}
	}
	if named < 20 {
		t.Errorf("documents and comments name %d files; the pattern finds too few", named)
	}
}
