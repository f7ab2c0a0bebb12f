// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// suite is the property tests of a package.
type suite struct {
	path, dir string // import path and folder
	tests     string // the -test.run pattern that selects them
	binary    string
}

// listed is the output of `go list -json` for a package.
type listed struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports []string
}

// find returns the packages that have property tests. Without a Cassandra, it leaves out those that
// need one.
func find(haveCassandra bool) ([]suite, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,TestImports,XTestImports", "./...")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var suites []suite
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return suites, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		needs := slices.ContainsFunc(append(p.TestImports, p.XTestImports...), func(i string) bool { return strings.HasSuffix(i, "internal/testkit/cassandra") })
		if needs && !haveCassandra {
			continue
		}
		var tests []string
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			found, err := propertyTests(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			tests = append(tests, found...)
		}
		if len(tests) > 0 {
			suites = append(suites, suite{path: p.ImportPath, dir: p.Dir, tests: "^(" + strings.Join(tests, "|") + ")$"})
		}
	}
}

// propertyTests returns the tests in a file that draws with rapid.
func propertyTests(path string) ([]string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	draws := slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool {
		path, err := strconv.Unquote(i.Path.Value)
		return err == nil && path == "pgregory.net/rapid"
	})
	if !draws {
		return nil, nil
	}
	var tests []string
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") && fn.Name.Name != "TestMain" {
			tests = append(tests, fn.Name.Name)
		}
	}
	return tests, nil
}
