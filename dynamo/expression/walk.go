package expression

import "iter"

// Paths gives the document paths that the condition looks at, in their order, some
// perhaps more than once.
func (c *Condition) Paths() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		if c != nil {
			walk(c.root, yield)
		}
	}
}

func walk(n node, yield func(Path) bool) bool {
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
			if !walk(c, yield) {
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
		return walk(n.node, yield)
	case *compareNode:
		return operands(n.left, n.right)
	case *betweenNode:
		return operands(n.value, n.low, n.high)
	case *inNode:
		return operands(n.value) && operands(n.list...)
	case *existsNode:
		return yield(n.path)
	case *typeNode:
		return operands(n.path)
	case *beginsNode:
		return operands(n.value, n.prefix)
	case *containsNode:
		return operands(n.value, n.element)
	}
	return true
}
