// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/rows"
)

// inputFlags describe a file of rows where the file does not describe itself.
type inputFlags struct {
	Format     string   `enum:"auto,csv,jsonl,parquet" default:"auto" help:"One of ${enum} (${default}: by the file's content and name)."`
	Delimiter  string   `placeholder:"CHAR" help:"The separator of CSV fields: a character, or tab. By default evenkeel chooses between comma, tab, semicolon and bar."`
	Header     string   `enum:"auto,yes,no" default:"auto" help:"Whether the first record of CSV names the columns: one of ${enum} (${default}: yes, unless it has a number, a date or the like)."`
	Columns    []string `placeholder:"A,B" help:"Names of the columns of CSV, in their order: if it has no header, or instead of the header's; c1, c2, … by default."`
	MaxBadRows int64    `default:"0" help:"How many bad rows to skip before the command fails (${default})."`
}

// readingMemory is the garbage collector's soft limit while a file is read. Reading needs less,
// and the whole process stays below 300 MB.
const readingMemory = 224 << 20

// boundMemory sets the garbage collector's soft limit, unless the environment sets one. Without
// it, the heap may grow to twice what is in use.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(readingMemory)
	}
}

// passedOver prints the first few of the bad rows.
func passedOver(out io.Writer, first []string, all int64) {
	const most = 3
	for _, b := range first[:min(most, len(first))] {
		fmt.Fprintf(out, "evenkeel: skipped %s\n", b)
	}
	if all > most {
		fmt.Fprintf(out, "evenkeel: and %d more\n", all-most)
	}
}

// check returns an error if the flags are wrong.
func (f *inputFlags) check() error {
	if _, err := f.comma(); err != nil {
		return err
	}
	if f.MaxBadRows < 0 {
		return fmt.Errorf("--max-bad-rows: %d is negative", f.MaxBadRows)
	}
	return nil
}

func (f *inputFlags) comma() (rune, error) {
	switch d := f.Delimiter; {
	case d == "":
		return 0, nil
	case d == "tab", d == `\t`:
		return '\t', nil
	case len(d) == 1 && d[0] < utf8.RuneSelf && d != `"` && d != "\n" && d != "\r" && d != `\`:
		return rune(d[0]), nil
	}
	return 0, fmt.Errorf("--delimiter %q: give one ASCII character, or tab", f.Delimiter)
}

// options returns the flags in the form that package rows takes. again says that the rows will be
// read more than once. ctx bounds the wait for standard input.
func (f *inputFlags) options(ctx context.Context, again bool) rows.Options {
	o := rows.Options{Format: rows.Format(f.Format), Names: f.Columns, Again: again, Interrupt: ctx.Done()}
	if f.Format == "auto" {
		o.Format = rows.Auto
	}
	switch f.Header {
	case "yes":
		o.Header = rows.HasHeader
	case "no":
		o.Header = rows.NoHeader
	}
	o.Delimiter, _ = f.comma() // check has tested it
	return o
}

// dateFlags say how to read dates that are ambiguous.
type dateFlags struct {
	DateOrder map[string]string `placeholder:"COL=ORDER" mapsep:"none" help:"Order of day and month in a column's dates, dmy or mdy, if the values do not show it. Repeat it for more columns."`
}

// check returns an error if the flags are wrong.
func (f *dateFlags) check() error {
	for _, column := range slices.Sorted(maps.Keys(f.DateOrder)) {
		if _, ok := datetime.ParseOrder(f.DateOrder[column]); !ok {
			return withHint(fmt.Errorf("--date-order %s=%s: is neither dmy nor mdy", column, f.DateOrder[column]), datetime.OrderHint)
		}
	}
	return nil
}

// monthFirst returns the flags in the form that package profile takes.
func (f *dateFlags) monthFirst() map[string]bool {
	out := make(map[string]bool)
	for column, o := range f.DateOrder {
		out[column], _ = datetime.ParseOrder(o) // check has tested it
	}
	return out
}
