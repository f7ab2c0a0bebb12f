// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"index/suffixarray"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// A request can have values of two megabytes, and a page tens of thousands of items. What depends
// on the values alone is computed once for all items. A long value in which each item's attribute
// is looked for is indexed.

// decided is the result of a condition without paths.
type decided struct{ known, holds bool }

// preparation keeps what several parts of a condition share, because they name the same value.
type preparation struct {
	lists map[*attribute.Value]*haystack // by the first element
	texts map[scalar]*haystack
}

// prepare prepares a condition for many items.
func prepare(n node) {
	(&preparation{map[*attribute.Value]*haystack{}, map[scalar]*haystack{}}).node(n)
}

// haystack returns the haystack of a value.
func (p *preparation) haystack(v attribute.Value) *haystack {
	if isScalar(v.Kind()) {
		name := scalar{v.Kind(), v.Text()}
		h, known := p.texts[name]
		if !known {
			h = newHaystack(v)
			p.texts[name] = h
		}
		return h
	}
	if v.Kind() != attribute.L && !v.Kind().IsSet() || v.Len() == 0 {
		return nil
	}
	elems := v.Elems()
	h, known := p.lists[&elems[0]]
	if !known {
		h = newHaystack(v)
		p.lists[&elems[0]] = h
	}
	return h
}

func (p *preparation) node(n node) {
	decide := func(d *decided, n node, operands ...*operand) {
		for _, o := range operands {
			if o.kind == sizeOfLiteral && !o.sized.known {
				o.sized.v, o.sized.ok = size(o.literal)
				o.sized.known = true
			}
			if o.hasPath() {
				d = nil
			}
		}
		if d != nil && !d.known {
			d.holds = n.match(nil)
			d.known = true
		}
	}
	switch n := n.(type) {
	case andNode:
		for _, c := range n {
			p.node(c)
		}
	case orNode:
		for _, c := range n {
			p.node(c)
		}
	case notNode:
		p.node(n.node)
	case *compareNode:
		if n.op == eq || n.op == ne {
			for _, o := range []*operand{&n.left, &n.right} {
				if o.kind == literalOperand && o.literal.Kind().IsSet() {
					n.among = p.haystack(o.literal)
				}
			}
		}
		decide(&n.decided, n, &n.left, &n.right)
	case *betweenNode:
		decide(&n.decided, n, &n.value, &n.low, &n.high)
	case *inNode:
		all := []*operand{&n.value}
		for i := range n.list {
			all = append(all, &n.list[i])
		}
		for i := range n.rest {
			all = append(all, &n.rest[i])
		}
		decide(&n.decided, n, all...)
	case *beginsNode:
		decide(&n.decided, n, &n.value, &n.prefix)
	case *containsNode:
		if n.value.kind == literalOperand && n.element.hasPath() {
			n.among = p.haystack(n.value.literal)
		}
		decide(&n.decided, n, &n.value, &n.element)
	}
}

// haystack finds parts of one long value, many times.
type haystack struct {
	value   attribute.Value
	scalars map[scalar]bool // of a list or set: its elements S, N and B
	others  map[string]bool // and the others, in their canonical form
	asked   atomic.Int32    // how often a text was looked for
	once    sync.Once
	text    *suffixarray.Index // of a text that was asked for often
}

// newHaystack returns nil if the value is short.
func newHaystack(v attribute.Value) *haystack {
	const few = 16
	h := &haystack{value: v}
	switch k := v.Kind(); {
	case k == attribute.S || k == attribute.B:
		if len(v.Text()) < longText {
			return nil
		}
		return h
	case k != attribute.L && !k.IsSet() || v.Len() <= few:
		return nil
	}
	h.scalars, h.others = make(map[scalar]bool, v.Len()), map[string]bool{}
	for _, e := range v.Elems() {
		if isScalar(e.Kind()) {
			h.scalars[scalar{e.Kind(), e.Text()}] = true
		} else {
			h.others[e.Canonical().String()] = true
		}
	}
	return h
}

// A text is indexed if it has longText bytes and was asked for often. The index takes as long as
// some tens of searches.
const (
	longText = 4096
	often    = 64
)

// equal reports whether two values are equal, of which one is the set of the haystack or h is nil.
// Both would be sorted else.
func (h *haystack) equal(v, w attribute.Value) bool {
	if h == nil || v.Kind() != w.Kind() || v.Len() != w.Len() {
		return v.Equal(w)
	}
	for _, set := range []attribute.Value{v, w} {
		for _, e := range set.Elems() {
			if !h.scalars[scalar{e.Kind(), e.Text()}] {
				return false
			}
		}
	}
	return true
}

// contains returns what the function of that name does.
func (h *haystack) contains(w attribute.Value) bool {
	if h.scalars != nil {
		if isScalar(w.Kind()) {
			return h.scalars[scalar{w.Kind(), w.Text()}]
		}
		return len(h.others) > 0 && h.others[w.Canonical().String()]
	}
	if w.Kind() != h.value.Kind() {
		return false
	}
	text := h.value.Text()
	if len(w.Text()) > len(text) {
		return false
	}
	if h.asked.Add(1) <= often {
		return strings.Contains(text, w.Text())
	}
	h.once.Do(func() { h.text = suffixarray.New([]byte(text)) })
	return len(w.Text()) == 0 || len(h.text.Lookup([]byte(w.Text()), 1)) > 0
}
