// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// Path is a document path, such as a.b[3].
type Path struct {
	Name  string // of the attribute
	Steps []Step
}

// Step goes from a map or list to one of its elements.
type Step struct {
	Field string // of a map
	Index int    // of a list; -1 for a map
}

// Top returns the path of a top-level attribute.
func Top(name string) Path { return Path{Name: name} }

// Get returns the value at the path in an item.
func (p Path) Get(item attribute.Item) (attribute.Value, bool) {
	v, ok := item.Get(p.Name)
	for i := 0; ok && i < len(p.Steps); i++ {
		v, ok = p.Steps[i].get(v)
	}
	return v, ok
}

func (s Step) get(v attribute.Value) (attribute.Value, bool) {
	if s.Index < 0 {
		return v.Fields().Get(s.Field)
	}
	if v.Kind() != attribute.L || s.Index >= v.Len() {
		return attribute.Value{}, false
	}
	return v.Elems()[s.Index], true
}

// equal reports whether two paths are the same.
func (p Path) equal(q Path) bool {
	if p.Name != q.Name || len(p.Steps) != len(q.Steps) {
		return false
	}
	for i := range p.Steps {
		if p.Steps[i] != q.Steps[i] {
			return false
		}
	}
	return true
}

// String returns the path as AWS's messages have it: [a, b, [3]].
func (p Path) String() string {
	var b strings.Builder
	b.WriteByte('[')
	b.WriteString(p.Name)
	for _, s := range p.Steps {
		b.WriteString(", ")
		if s.Index < 0 {
			b.WriteString(s.Field)
		} else {
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		}
	}
	b.WriteByte(']')
	return b.String()
}

// relation is the relation of two paths.
type relation uint8

const (
	apart       relation = iota
	overlapping          // the paths are equal, or one is the beginning of the other
	conflicting          // one expects a map in a place in which the other expects a list
)

func relate(p, q Path) relation {
	if p.Name != q.Name {
		return apart
	}
	for i := 0; i < len(p.Steps) && i < len(q.Steps); i++ {
		a, b := p.Steps[i], q.Steps[i]
		if (a.Index < 0) != (b.Index < 0) {
			return conflicting
		}
		if a != b {
			return apart
		}
	}
	return overlapping
}
