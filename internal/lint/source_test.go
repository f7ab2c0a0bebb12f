// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/evenkeel/evenkeel"

// sourceFile is one Go file of the module.
type sourceFile struct {
	path string // from the module's root, with slashes
	dir  string // its package's path in the module
	test bool
	text string
	ast  *ast.File
	fset *token.FileSet
}

// at returns a position for a message.
func (f *sourceFile) at(p token.Pos) string {
	return f.path + ":" + strconv.Itoa(f.fset.Position(p).Line)
}

// imports returns the paths that the file imports.
func (f *sourceFile) imports(t *testing.T) map[string]*ast.ImportSpec {
	m := make(map[string]*ast.ImportSpec)
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", f.at(spec.Pos()), err)
		}
		m[p] = spec
	}
	return m
}

// source reads every Go file of the module.
func source(t *testing.T) []*sourceFile {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var files []*sourceFile
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != root && (strings.HasPrefix(base, ".") || base == "testdata" || base == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f := &sourceFile{path: filepath.ToSlash(rel), test: strings.HasSuffix(name, "_test.go"), text: string(text), fset: token.NewFileSet()}
		f.dir = path.Dir(f.path)
		if f.ast, err = parser.ParseFile(f.fset, name, text, parser.ParseComments); err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d files were found: is this the module's root?", len(files))
	}
	return files
}
