// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
)

// Name formats an identifier as Cassandra does: quoted, unless it is a lower-case word that is
// not reserved.
func Name(name string) string {
	quoted := string(syntax.AppendIdent(nil, name))
	if quoted[0] != '"' || name == "expr" || len(name) == 8 && word(name) && strings.Trim(name, "0123456789abcdef") == "" {
		return name // syntax quotes more names than Cassandra does
	}
	return quoted
}

func word(name string) bool { return name[0] >= 'a' && name[0] <= 'z' }

func qualified(keyspace, name string) string { return Name(keyspace) + "." + Name(name) }

// Literal formats a string constant.
func Literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// names returns the keys of a map in the order of listings, which ignores case.
func names[V any](m map[string]V) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if c := cmp.Compare(strings.ToLower(a), strings.ToLower(b)); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
}

// mapText formats a map of strings with sorted keys; classFirst puts "class" first.
func mapText(m map[string]string, classFirst bool) string {
	keys := slices.Sorted(maps.Keys(m))
	if i := slices.Index(keys, "class"); classFirst && i > 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, "class")
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Literal(k) + ": " + Literal(m[k]))
	}
	b.WriteByte('}')
	return b.String()
}
