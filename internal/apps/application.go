// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// application is a test suite from another project.
type application struct {
	Name    string // to select it
	Folder  string // its folder here; empty: Name
	Title   string
	Module  string // its Go module, or its jar as GROUP:ARTIFACT; go.mod or pom.xml in its folder has the version
	Java    string // the program in its folder that runs the tests of jars; empty: they are a Go package's
	Package string // of the tests: in that module (empty: the module's own), or a jar
	Run     string // the tests to run: a pattern, or in Java their names; empty: all
	API     api

	// Env returns environment variables that say where the store is.
	Env func(e endpoint) []string
	// Rules shard the hottest tables. DoorRules replace them in front of the reference if that
	// cannot take Rules.
	Rules, DoorRules string
	// Sharded describes the rules in words, and Notes gives other facts.
	Sharded string
	Notes   []string
	// Prepare creates what the tests expect, and Clean removes it. Nil: nothing.
	Prepare, Clean func(ctx context.Context, s *suite, e endpoint) error
	// At is the address that is built into the tests. The command forwards connections to it to the
	// store. Empty: Env tells the tests the address.
	At string
	// Build lists further arguments of the compilation, and Args those of the compiled program.
	Build, Args []string
	// Explained lists the tests that fail or are left out, with the reason.
	Explained []explanation
}

// api is the API that an application uses.
type api string

const (
	cql      api = "CQL"
	dynamodb api = "DynamoDB"
)

// explanation says why some tests do not pass in some settings.
type explanation struct {
	Settings []string
	Tests    []string // all, or patterns of path.Match; a subtest's name begins with its parents' names
	LeftOut  bool     // not run, for example because a failure ends the whole run
	Racy     bool     // the tests pass sometimes
	Why      string
}

// all is the pattern for all tests of an application.
const all = "*"

func (e explanation) covers(setting, test string) bool {
	if !slices.Contains(e.Settings, setting) {
		return false
	}
	for _, p := range e.Tests {
		if ok, err := path.Match(p, test); ok && err == nil {
			return true
		}
	}
	return false
}

// cannot reports whether no test of the application can run in a setting.
func (a *application) cannot(setting string) bool {
	return slices.ContainsFunc(a.Explained, func(e explanation) bool {
		return e.LeftOut && slices.Contains(e.Tests, all) && slices.Contains(e.Settings, setting)
	})
}

// leftOut returns a pattern for -test.skip.
func (a *application) leftOut(setting string) string {
	var names []string
	for _, e := range a.Explained {
		for _, t := range e.Tests {
			if e.LeftOut && e.covers(setting, t) {
				names = append(names, "^"+strings.ReplaceAll(t, "/", "$/^")+"$")
			}
		}
	}
	return strings.Join(names, "|")
}

// importPath returns the name of the tests' package.
func (a *application) importPath() string {
	if a.Java != "" {
		return a.Package
	}
	return path.Join(a.Module, a.Package)
}

func (a *application) folder() string { return cmp.Or(a.Folder, a.Name) }

// pinned returns the application's version. home is the folder of this command.
func (a *application) pinned(home string) (string, error) {
	folder := filepath.Join(home, a.folder())
	if a.Java != "" {
		return jarVersion(folder, a.Module)
	}
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(regexp.QuoteMeta(a.Module) + ` (v\S+)`).FindSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("%s/go.mod does not pin %s", folder, a.Module)
	}
	return string(m[1]), nil
}

var applications = []*application{dynamo, vault, jaeger, temporal, pekkoCassandra, pekkoDynamoDB}
