// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// row is one application in the table.
type row struct {
	Application string             `json:"application"`
	Version     string             `json:"version"`
	API         api                `json:"api"`
	Package     string             `json:"package"`
	Results     map[string]*result `json:"results"` // by setting
	Surprises   []string           `json:"surprises,omitempty"`

	app *application
}

// markdown returns the table and, below it, what is sharded and why tests do not pass.
func markdown(rows []row) string {
	var b strings.Builder
	b.WriteString("| application | tests | " + strings.Join(settings, " | ") + " |\n")
	b.WriteString("|---|---|" + strings.Repeat("---|", len(settings)) + "\n")
	for _, r := range rows {
		tests := "`" + r.Package + "`"
		if r.app.Run != "" {
			tests = "`" + r.app.Run + "` of " + tests
		}
		fmt.Fprintf(&b, "| %s %s | %s |", r.Application, r.Version, tests)
		for _, s := range settings {
			if res := r.Results[s]; res != nil {
				fmt.Fprintf(&b, " %d of %d |", res.Passed, res.Passed+len(res.Failed))
			} else if r.app.cannot(s) {
				b.WriteString(" none |")
			} else {
				b.WriteString(" not run |")
			}
		}
		b.WriteString("\n")
	}
	for _, r := range rows {
		fmt.Fprintf(&b, "\n**%s.** Sharded: %s.\n\n", r.Application, r.app.Sharded)
		for _, n := range r.app.Notes {
			fmt.Fprintf(&b, "- %s\n", n)
		}
		var skipped []string
		for _, s := range settings {
			if res := r.Results[s]; res != nil {
				for _, t := range res.Skipped {
					if !slices.Contains(skipped, t) {
						skipped = append(skipped, t)
					}
				}
			}
		}
		if len(skipped) > 0 {
			fmt.Fprintf(&b, "- Tests that the suite itself skips: %d.\n", len(skipped))
		}
		for _, e := range r.app.Explained {
			how := "may fail"
			switch {
			case e.LeftOut:
				how = "not run"
			case !e.Racy:
				how = "fails"
			}
			tests := "`" + strings.Join(e.Tests, "`, `") + "`"
			if slices.Contains(e.Tests, all) {
				tests = "All tests"
			}
			fmt.Fprintf(&b, "- %s: %s in the columns %s. %s\n", tests, how, quoted(e.Settings), e.Why)
		}
	}
	return b.String()
}

func quoted(words []string) string { return `"` + strings.Join(words, `", "`) + `"` }

// The table in the document is between these lines.
const (
	from = "<!-- make test-apps UPDATE=yes writes from here -->\n"
	to   = "<!-- to here -->\n"
)

// document returns the text of a document with another table.
func document(text []byte, table string) ([]byte, error) {
	head, rest, ok := bytes.Cut(text, []byte(from))
	_, tail, ok2 := bytes.Cut(rest, []byte(to))
	if !ok || !ok2 {
		return nil, fmt.Errorf("it has no lines %q and %q for the table to be between", strings.TrimSpace(from), strings.TrimSpace(to))
	}
	return slices.Concat(head, []byte(from), []byte("\n"+table+"\n"), []byte(to), tail), nil
}

// kept holds the results of earlier runs, which the document shows, because a run may cover only
// some applications in some settings.
type kept []row

// load reads the kept results. It leaves out those of applications that no longer exist here.
func load(file string) (kept, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var rows kept
	if err := json.Unmarshal(text, &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var out kept
	for _, a := range applications {
		for _, r := range rows {
			if r.Application == a.Title {
				r.app = a
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// with adds the results of a run, which replace older ones. It drops results of another version of
// the application.
func (k kept) with(rows []row) kept {
	var out kept
	for _, a := range applications {
		merged := row{Application: a.Title, API: a.API, Package: a.importPath(), Results: map[string]*result{}, app: a}
		for _, r := range slices.Concat(k, rows) {
			if r.Application != a.Title {
				continue
			}
			if r.Version != merged.Version {
				merged.Version = r.Version
				clear(merged.Results)
			}
			maps.Copy(merged.Results, r.Results)
		}
		if len(merged.Results) > 0 {
			out = append(out, merged)
		}
	}
	return out
}

// update keeps the results of a run and rewrites the document.
func update(file, doc string, rows []row) error {
	old, err := load(file)
	if err != nil {
		return err
	}
	all := old.with(rows)
	text, err := os.ReadFile(doc)
	if err != nil {
		return err
	}
	if text, err = document(text, markdown(all)); err != nil {
		return fmt.Errorf("%s: %w", doc, err)
	}
	results, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, append(results, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(doc, text, 0o644)
}
