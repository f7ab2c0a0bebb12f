// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse checks the promises of Parse, Print and Target for any text: no panic, a printed tree
// parses to itself, and Target names the same table as Parse.
func FuzzParse(f *testing.F) {
	for _, s := range readStatements(f) {
		f.Add(s)
	}
	for _, s := range spare {
		f.Add("SELECT a FROM t WHERE b = " + s)
	}
	f.Add("ALTER TABLE t WITH custom_properties = {'a': {'b': 'c', 'd': 1}, 'e': {}} AND autoscaling_settings = {'a': {'b': {'c': true}}}")
	f.Fuzz(func(t *testing.T, text string) {
		head := Target(text)
		n := 0
		for range Tables(text) {
			if n++; n > len(text) {
				t.Fatal("more tables than characters")
			}
		}
		s, err := Parse(text)
		if err != nil {
			if e := err.(*SyntaxError); e.Message == "" || e.Line < 0 || e.Column < -1 {
				t.Fatalf("malformed error %+v", e)
			}
			return
		}
		if head.Kind == StatementUnknown {
			t.Fatalf("Target knows no statement in %q", text)
		}
		checkTarget(t, text, s)
		if utf8.ValidString(text) && !strings.Contains(text, "\x00") {
			checkRoundTrip(t, s)
		}
	})
}
