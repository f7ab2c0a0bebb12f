// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// result is the outcome of a suite. A test with subtests does not count itself, unless it fails
// besides them.
type result struct {
	Passed  int      `json:"passed"`
	Failed  []string `json:"failed,omitempty"`
	Skipped []string `json:"skipped,omitempty"` // by the suite itself
}

// read reads the events of a run, as `go tool test2json` prints them, and copies the tests' output
// to log.
func read(events io.Reader, log io.Writer) (*result, error) {
	ended := map[string]string{} // outcome by test: pass, fail, skip; "": it is running
	last := ""
	for d := json.NewDecoder(events); ; {
		var e struct{ Action, Test, Output string }
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read the events of the tests: %w", err)
		}
		switch e.Action {
		case "output":
			io.WriteString(log, e.Output)
		case "run":
			ended[e.Test] = ""
		case "pass", "fail", "skip":
			if e.Test == "" {
				last = e.Action
			} else {
				ended[e.Test] = e.Action
			}
		}
	}
	r := &result{}
	for _, test := range slices.Sorted(maps.Keys(ended)) {
		parent, failed := false, false
		for other, how := range ended {
			if strings.HasPrefix(other, test+"/") {
				parent = true
				failed = failed || how == "fail" || how == ""
			}
		}
		switch how := ended[test]; {
		case how == "fail" || how == "": // a run that panics does not end all tests
			if !failed {
				r.Failed = append(r.Failed, test)
			}
		case parent:
		case how == "skip":
			r.Skipped = append(r.Skipped, test)
		default:
			r.Passed++
		}
	}
	switch {
	case r.Passed+len(r.Failed) == 0:
		return nil, errors.New("no test ran")
	case last == "":
		return nil, errors.New("the run has no end")
	case last == "fail" && len(r.Failed) == 0:
		return nil, errors.New("the run failed, but no test of it")
	}
	return r, nil
}

// surprises returns the tests whose outcome differs from the application's file.
func (a *application) surprises(setting string, r *result) []string {
	var found []string
	for _, test := range r.Failed {
		if !slices.ContainsFunc(a.Explained, func(e explanation) bool { return !e.LeftOut && e.covers(setting, test) }) {
			found = append(found, test+" failed")
		}
	}
	for _, e := range a.Explained {
		if e.LeftOut || e.Racy || !slices.Contains(e.Settings, setting) {
			continue
		}
		for _, p := range e.Tests {
			one := explanation{Settings: e.Settings, Tests: []string{p}}
			if !slices.ContainsFunc(r.Failed, func(test string) bool { return one.covers(setting, test) }) {
				found = append(found, p+" did not fail, as it is said to: correct the reasons")
			}
		}
	}
	return found
}
