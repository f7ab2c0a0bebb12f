// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	protocol "github.com/evenkeel/evenkeel/dynamodoor/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// Wish is the layout that a client asks for: of all keys, or of one key.
type Wish struct {
	plan.Shape
	key string // as attribute.KeyText writes it; "": all keys, except those with places of their own if there are no buckets of time
}

// has returns the places of a key and the highest place that it ever had. For "", it returns those
// of the keys without places of their own.
func has(e *catalog.Entry, key string) (shard.Range, int) {
	if o, ok := e.Own[key]; ok && key != "" {
		return o.Range, o.Used
	}
	l := e.Layout
	places := shard.Range{N: l.N, Base: l.Base}
	return places, max(l.Used, plan.ShapeOf(l).Last(places))
}

// highest returns the highest place that any key ever had.
func highest(e *catalog.Entry) int {
	_, used := has(e, "")
	for _, o := range e.Own {
		used = max(used, o.Used)
	}
	return used
}

// aim returns the change that fulfils a wish.
func (w Wish) aim(e *catalog.Entry) *catalog.Change {
	from, used := has(e, w.key)
	n := max(1, w.Shards)
	var to shard.Range
	switch {
	case w.Timed():
		to = plan.NextBuckets(highest(e), n)
	case w.Rolls():
		to = shard.Range{N: n, Base: highest(e)}
	case plan.InDirectory(e.Layout):
		to = shard.Range{N: n, Base: used}
	default:
		to = plan.Next(from, used, n)
	}
	step := protocol.None.Next().String()
	if w.Rolls() {
		step = catalog.Preparing
	}
	return &catalog.Change{Step: step, Shards: to.N, Base: to.Base, Key: w.key, Plain: w.Shards == 0, Bucket: w.Width, Numbers: w.Numbers, Rows: w.Rows, Max: w.Max}
}

// begin gives an entry a change. No other change, not even after this one was taken back, uses the places of
// a rollover again: the directory may have entries of them.
func begin(n *catalog.Entry, c *catalog.Change) {
	n.Change = c
	n.Change.Began = n.Layout.Generation
	if shape := shapeOf(c); shape.Rolls() {
		n.Layout.Used = max(n.Layout.Used, shape.Last(shard.Range{N: c.Shards, Base: c.Base}))
	}
}

// end gives an entry whose change is done its new layout. If the change was taken back, end begins
// another one.
func end(n *catalog.Entry) error {
	c := *n.Change
	back := Wish{From(n, c.Key), c.Key}
	_, used := has(n, c.Key)
	to := shard.Range{N: c.Shards, Base: c.Base}
	n.Change = nil
	switch shape := shapeOf(&c); {
	case c.Key != "":
		if err := n.SetOwn(c.Key, catalog.Own{Range: to, Used: max(used, to.Last())}); err != nil {
			return err
		}
	case shape.InDirectory() || plan.InDirectory(n.Layout):
		n.Layout = shape.Layout(to, max(highest(n), shape.Last(to)), n.Layout.Generation)
		n.Plain, n.Own = c.Plain, nil
	default:
		n.Layout.N, n.Layout.Base, n.Layout.Used, n.Plain = to.N, to.Base, max(used, to.Last()), c.Plain
	}
	if c.Back {
		begin(n, back.aim(n))
		n.Change.Hurry, n.Change.Paused, n.Change.Beyond = c.Hurry, c.Paused, c.Beyond
	}
	return nil
}

// From returns the shape that a key has. For "", it returns that of the keys without places of their own.
func From(e *catalog.Entry, key string) plan.Shape {
	switch o, own := e.Own[key]; {
	case key != "" && own:
		return plan.Shape{Shards: o.N}
	case key == "" && e.Plain:
		return plan.Shape{}
	}
	return plan.ShapeOf(e.Layout)
}

// shapeOf returns the shape that a change gives the physical table.
func shapeOf(c *catalog.Change) plan.Shape {
	return plan.Shape{Shards: c.Shards, Width: c.Bucket, Numbers: c.Numbers, Rows: c.Rows, Max: c.Max}
}

// Towards returns the shape that a change shall give.
func Towards(c *catalog.Change) plan.Shape {
	if c.Plain {
		return plan.Shape{}
	}
	return shapeOf(c)
}
