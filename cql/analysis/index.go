// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
)

// indexTarget returns what an index covers: a column and, for a collection, keys, values, entries
// or full.
func indexTarget(i *schema.Index) (function, column string) {
	t := strings.TrimSpace(i.Options["target"])
	if open := strings.IndexByte(t, '('); open > 0 && strings.HasSuffix(t, ")") {
		function, t = t[:open], t[open+1:len(t)-1]
	}
	if len(t) >= 2 && t[0] == '"' && t[len(t)-1] == '"' {
		t = strings.ReplaceAll(t[1:len(t)-1], `""`, `"`)
	}
	return function, t
}

// indexClass returns the class of a custom index in lower case, without its package; "" for a
// built-in index.
func indexClass(i *schema.Index) string {
	class := i.Options["class_name"]
	return strings.ToLower(class[strings.LastIndexByte(class, '.')+1:])
}

// supports reports whether an index can answer a restriction of a column.
func supports(i *schema.Index, c *schema.Column, r *Restriction) bool {
	function, column := indexTarget(i)
	if column != c.Name {
		return false
	}
	class := indexClass(i)
	switch class {
	case "", "storageattachedindex", "sai":
	case "sasiindex":
		return r.Kind == EQ || r.Kind == Range || r.Kind == Like
	default:
		return false
	}
	if !c.Type.Collection() || function == "full" || function == "" && c.Type.Frozen {
		return r.Kind == EQ || class != "" && (r.Kind == Range || r.Kind == IN)
	}
	switch function {
	case "keys":
		return r.Kind == ContainsKey
	case "entries":
		return r.Kind == Entry
	}
	return r.Kind == Contains
}

// index returns an index that supports a restriction; nil if there is none.
func (a *analyzer) index(m *merged) *schema.Index {
	for i := range a.table.Indexes {
		idx := &a.table.Indexes[i]
		for _, r := range m.all() {
			for _, c := range r.Columns {
				if supports(idx, c, r) {
					return idx
				}
			}
		}
	}
	return nil
}

func (a *analyzer) indexed(s *restrictions) *schema.Index {
	for _, g := range s.groups() {
		if i := a.index(g); i != nil {
			return i
		}
	}
	return nil
}
