// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

// row is one application of the table.
type row struct {
	Application string             `json:"application"`
	Version     string             `json:"version"`
	API         api                `json:"api"`
	Package     string             `json:"package"`
	Results     map[string]*result `json:"results"` // by setting
	Surprises   []string           `json:"surprises,omitempty"`

	app *application
}

// markdown is the table, and below it what is sharded and why tests do not pass.
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
			} else {
				b.WriteString(" not run |")
			}
		}
		b.WriteString("\n")
	}
	for _, r := range rows {
		fmt.Fprintf(&b, "\n**%s.** Sharded: %s.\n", r.Application, r.app.Sharded)
		for _, e := range r.app.Edits {
			fmt.Fprintf(&b, "- `%s` of its tests is edited: %s.\n", e.File, e.Why)
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
			fmt.Fprintf(&b, "- The suite itself skips %d tests.\n", len(skipped))
		}
		for _, e := range r.app.Explained {
			how := "may fail"
			switch {
			case e.LeftOut:
				how = "not run"
			case !e.Racy:
				how = "fails"
			}
			fmt.Fprintf(&b, "- `%s`: %s in the columns %s. %s\n", strings.Join(e.Tests, "`, `"), how, quoted(e.Settings), e.Why)
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

// update writes the table into a document.
func update(name, table string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	head, rest, ok := bytes.Cut(text, []byte(from))
	_, tail, ok2 := bytes.Cut(rest, []byte(to))
	if !ok || !ok2 {
		return fmt.Errorf("%s has no lines %q and %q for the table to be between", name, strings.TrimSpace(from), strings.TrimSpace(to))
	}
	return os.WriteFile(name, slices.Concat(head, []byte(from), []byte("\n"+table+"\n"), []byte(to), tail), 0o644)
}
