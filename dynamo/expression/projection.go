// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// Projection is the set of paths that a request asks for. A nil *Projection asks for all.
type Projection struct {
	paths []Path
	tree  tree[struct{}]
}

// Project returns the projection to paths, which must not overlap.
func Project(paths ...Path) *Projection {
	p := &Projection{paths: paths}
	eachInOrder(paths, func(i int) { p.tree.add(paths[i], struct{}{}) })
	return p
}

// Paths returns the paths in their order.
func (p *Projection) Paths() []Path {
	if p == nil {
		return nil
	}
	return p.paths
}

// Has reports whether the projection includes a whole top-level attribute.
func (p *Projection) Has(name string) bool {
	return p == nil || slices.ContainsFunc(p.paths, func(q Path) bool { return q.Name == name && len(q.Steps) == 0 })
}

// Apply returns those parts of the item that the paths name and that exist. The remaining elements
// of a list move together.
func (p *Projection) Apply(item attribute.Item) attribute.Item {
	if p == nil {
		return item
	}
	return p.tree.pick(item)
}

// Projection parses a ProjectionExpression.
func (p *Placeholders) Projection(text string) (*Projection, error) {
	q, err := p.begin(ProjectionExpression, text)
	if err != nil {
		return nil, err
	}
	var paths []Path
	for q.err == nil {
		path := q.path()
		q.checkPath(paths, path)
		paths = append(paths, path)
		if !q.take(",") {
			break
		}
	}
	if err := q.end(projectionOrder); err != nil {
		return nil, err
	}
	return Project(paths...), nil
}

// checkPath notes a fault if a path overlaps or conflicts with an earlier one.
func (q *parser) checkPath(earlier []Path, path Path) {
	if path.Name == "" {
		return
	}
	for _, e := range earlier {
		if e.Name == "" {
			continue
		}
		switch relate(e, path) {
		case overlapping:
			q.found.note(overlap, "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: %s, path two: %s", e, path)
		case conflicting:
			q.found.note(conflict, "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: %s, path two: %s", e, path)
		}
	}
}
