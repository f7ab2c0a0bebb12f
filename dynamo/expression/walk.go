package expression

import (
	"iter"
	"slices"
)

// Paths gives the document paths that the condition looks at, in their order, some
// perhaps more than once.
func (c *Condition) Paths() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		if c != nil {
			walk(c.root, yield, yield)
		}
	}
}

// Reads says whether the condition looks at the value of an attribute, and not only
// at whether there is one.
func (c *Condition) Reads(name string) bool {
	if c == nil {
		return false
	}
	return !walk(c.root, func(p Path) bool { return p.Name != name }, func(Path) bool { return true })
}

// Reads says whether the update takes a value from an attribute.
func (u *Update) Reads(name string) bool {
	return u != nil && slices.ContainsFunc(u.actions, func(a action) bool { return a.to.reads(name) })
}

func (s *source) reads(name string) bool {
	return (s.kind == pathSource || s.kind == ifNotExists) && s.path.Name == name ||
		slices.ContainsFunc(s.args, func(arg source) bool { return arg.reads(name) })
}

// walk gives the paths whose values a condition looks at, and those of which it asks
// only whether they lead to something, until one of the functions returns false.
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
