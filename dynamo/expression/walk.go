// SPDX-License-Identifier: Apache-2.0

package expression

import "iter"

// Paths returns the document paths that the condition looks at, in their order. A path may occur
// more than once.
func (c *Condition) Paths() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		if c != nil {
			walk(c.root, yield, yield)
		}
	}
}

// Reads reports whether the condition looks at the value of an attribute. A condition that asks
// only whether the attribute exists does not.
func (c *Condition) Reads(name string) bool {
	if c == nil {
		return false
	}
	return !walk(c.root, func(p Path) bool { return p.Name != name }, func(Path) bool { return true })
}

// Reads reports whether the update takes a value from an attribute.
func (u *Update) Reads(name string) bool {
	for p := range u.Operands() {
		if p.Name == name {
			return true
		}
	}
	return false
}

// Operands returns the document paths that the update takes values from, in their order. A path may
// occur more than once.
func (u *Update) Operands() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		if u == nil {
			return
		}
		for i := range u.actions {
			if !u.actions[i].to.operands(yield) {
				return
			}
		}
	}
}

func (s *source) operands(yield func(Path) bool) bool {
	if (s.kind == pathSource || s.kind == ifNotExists) && !yield(s.path) {
		return false
	}
	for i := range s.args {
		if !s.args[i].operands(yield) {
			return false
		}
	}
	return true
}

// walk calls yield with each path whose value a condition looks at, and exists with each path of
// which it asks only whether it exists. It stops when one of these returns false.
func walk(n node, yield, exists func(Path) bool) bool {
	operands := func(os ...operand) bool {
		for _, o := range os {
			if o.hasPath() && !yield(o.path) {
				return false
			}
		}
		return true
	}
	all := func(nodes []node) bool {
		for _, c := range nodes {
			if !walk(c, yield, exists) {
				return false
			}
		}
		return true
	}
	switch n := n.(type) {
	case andNode:
		return all(n)
	case orNode:
		return all(n)
	case notNode:
		return walk(n.node, yield, exists)
	case *compareNode:
		return operands(n.left, n.right)
	case *betweenNode:
		return operands(n.value, n.low, n.high)
	case *inNode:
		return operands(n.value) && operands(n.list...)
	case *existsNode:
		return exists(n.path)
	case *typeNode:
		return operands(n.path)
	case *beginsNode:
		return operands(n.value, n.prefix)
	case *containsNode:
		return operands(n.value, n.element)
	}
	return true
}
