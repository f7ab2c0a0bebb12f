// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// Comparison says in what two answers may differ.
type Comparison struct {
	Unordered bool // rows are compared as a multiset
	CodeOnly  bool // only the code of an error is compared
	Sharded   bool // got is from a sharded table, whose warnings may differ
}

// Difference returns the difference of got from want, or "".
func Difference(want, got *Answer, o Comparison) string {
	if want.Kind != got.Kind {
		return fmt.Sprintf("want %v\ngot  %v", want, got)
	}
	if d := columnsDifference("column", want.Columns, got.Columns); d != "" {
		return d
	}
	switch want.Kind {
	case Error:
		// The parser's description of a syntax error may differ.
		codeOnly := o.CodeOnly || want.Code == primitive.ErrorCodeSyntaxError
		if want.Code != got.Code || !codeOnly && settled(want.Text) != settled(got.Text) {
			return fmt.Sprintf("want %v\ngot  %v", want, got)
		}
	case Rows:
		if d := rowsDifference(want, got, o.Unordered); d != "" {
			return d
		}
	case Prepared:
		if d := columnsDifference("bind marker", want.Bind, got.Bind); d != "" {
			return d
		}
		if !slices.Equal(want.PK, got.PK) {
			return fmt.Sprintf("bind markers of the partition key: want %v, got %v", want.PK, got.PK)
		}
	default:
		if want.Text != got.Text {
			return fmt.Sprintf("want %v\ngot  %v", want, got)
		}
	}
	if !warnedAlike(want.Warnings, got.Warnings, o.Sharded) {
		return fmt.Sprintf("warnings: want %q, got %q", want.Warnings, got.Warnings)
	}
	return ""
}

// tombstones begins Cassandra's warning about a read of many tombstones. A sharded table may have it
// alone: a deletion goes to all shards, and a row that comes later covers the tombstone in one of
// them only.
var tombstones = regexp.MustCompile(`^Read \d+ live rows and \d+ tombstone cells for query `)

// warnedAlike says whether the warnings are those that the client should have got.
func warnedAlike(want, got []string, sharded bool) bool {
	if !sharded {
		return slices.Equal(want, got)
	}
	for _, w := range got {
		if !strings.HasPrefix(w, "write_sharding: ") && !tombstones.MatchString(w) && !slices.Contains(want, w) {
			return false
		}
	}
	return true
}

var signatures = regexp.MustCompile(`\(known type signatures: .*\)`)

// settled returns a message in an order that does not depend on a Java hash set.
func settled(text string) string {
	return signatures.ReplaceAllStringFunc(text, func(list string) string {
		words := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune("(), ", r) })
		sort.Strings(words)
		return strings.Join(words, " ")
	})
}

func columnsDifference(what string, want, got []Column) string {
	for i := range max(len(want), len(got)) {
		w, g := "none", "none"
		if i < len(want) {
			w = want[i].String()
		}
		if i < len(got) {
			g = got[i].String()
		}
		if w != g {
			return fmt.Sprintf("%s %d: want %s, got %s", what, i+1, w, g)
		}
	}
	return ""
}

func rowsDifference(want, got *Answer, unordered bool) string {
	w, g := want.Rows, got.Rows
	if unordered {
		w, g = sorted(w), sorted(g)
	}
	for i := range max(len(w), len(g)) {
		switch {
		case i >= len(w):
			return fmt.Sprintf("row %d: want no more, got %s\nwant %v\ngot  %v", i+1, formatRow(got.Columns, g[i]), want, got)
		case i >= len(g):
			return fmt.Sprintf("row %d: want %s, got no more\nwant %v\ngot  %v", i+1, formatRow(want.Columns, w[i]), want, got)
		case compareRows(w[i], g[i]) != 0:
			return fmt.Sprintf("row %d: want %s, got %s\nwant %v\ngot  %v", i+1,
				formatRow(want.Columns, w[i]), formatRow(got.Columns, g[i]), want, got)
		}
	}
	return ""
}

func sorted(rows [][][]byte) [][][]byte {
	rows = slices.Clone(rows)
	sort.Slice(rows, func(i, j int) bool { return compareRows(rows[i], rows[j]) < 0 })
	return rows
}

// compareRows compares rows by their bytes. A null cell differs from an empty one.
func compareRows(a, b [][]byte) int {
	return slices.CompareFunc(a, b, func(x, y []byte) int {
		if (x == nil) != (y == nil) {
			if x == nil {
				return -1
			}
			return 1
		}
		return bytes.Compare(x, y)
	})
}

// indent indents every line of s by two spaces.
func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
