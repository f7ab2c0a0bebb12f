// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path"
	"slices"
	"strings"
)

// application is a suite of tests that somebody else wrote.
type application struct {
	Name    string // its folder here, and how it is chosen
	Title   string
	Module  string // its module; the version is in go.mod of its folder
	Package string // of the tests, in that module; empty: the module's own
	Run     string // which tests; empty: all
	API     api

	// Env says where the store is.
	Env func(e endpoint) []string
	// Rules shard the hottest tables. DoorRules are those in front of the reference where
	// that cannot take Rules.
	Rules, DoorRules string
	// Sharded says in words what the rules do, and Notes what else is to be known.
	Sharded string
	Notes   []string
	// Prepare creates what the tests expect to be there, and Clean removes it. Nil: nothing.
	Prepare, Clean func(ctx context.Context, s *suite, e endpoint) error
	// At is the address that the tests have built in; what they send there is forwarded to
	// the store. Empty: they are told by Env.
	At string
	// Build are further arguments of the compilation, and Args of the compiled tests.
	Build, Args []string
	// Explained are the tests that fail or are left out, with the reason.
	Explained []explanation
}

// api is what an application speaks.
type api string

const (
	cql      api = "CQL"
	dynamodb api = "DynamoDB"
)

// explanation is of tests that do not pass in some settings.
type explanation struct {
	Settings []string
	Tests    []string // all, or each a pattern of path.Match; a subtest's name has its parents' before it
	LeftOut  bool     // not run, for instance because a failure ends the whole run
	Racy     bool     // they pass sometimes
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

// cannot says that no test of the application can run in a setting.
func (a *application) cannot(setting string) bool {
	return slices.ContainsFunc(a.Explained, func(e explanation) bool {
		return e.LeftOut && slices.Contains(e.Tests, all) && slices.Contains(e.Settings, setting)
	})
}

// leftOut is a pattern for -test.skip.
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

func (a *application) importPath() string { return path.Join(a.Module, a.Package) }

var applications = []*application{dynamo, vault, jaeger, temporal}
