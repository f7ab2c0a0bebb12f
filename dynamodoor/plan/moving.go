// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"iter"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// A table whose layout is being changed has two Tables, one in each layout. The old one gives an
// item's old place, the new one its new place. (Package dynamodoor/reshard has the protocol, and
// dynamodoor/shift carries it out.)

// These are hidden attributes of items that move.
const (
	Moved = HiddenPrefix + "moved" // in a stub
	Stamp = HiddenPrefix + "v"     // in an item at its old place; changes with each write
	came  = HiddenPrefix + "came"  // in an item that was moved while its table had a stream: the generation in which it came to its place
	began = HiddenPrefix + "began" // in a Scan's position: the generation in which the Scan began
)

// CheckChange returns an error if a table in use cannot get a layout.
func (t *Table) CheckChange(to Shape) error {
	name := t.Logical.Name
	const copyThem = "create a table with as many shards, and copy the items"
	switch {
	case t.Layout == nil:
		return refuse(name, "it is a plain table, and is not made a sharded one while it is in use yet: its items have no shard in their key; %s", copyThem)
	case t.adopted != nil:
		return refuse(name, "it was sharded by hand and adopted, and the layout of such a table is not changed while it is in use yet; %s", copyThem)
	case t.Rolls() && to.Rolls():
		return nil
	case to.Shards > shard.MaxShards:
		return refuse(name, "%d shards are more than a table can have; use at most %d", to.Shards, shard.MaxShards)
	case slices.ContainsFunc(t.indexes, func(ix index) bool { return ix.filling }):
		return refuse(name, "items do not all have their shards in a new index yet; wait for the answer to TagResource, or send that again")
	case t.Logical.Stream.Enabled && t.Logical.Stream.View != newAndOld:
		return refuse(name, "its stream has the view %s, which does not show whether an item has moved or changed; disable the stream for the change, or enable it with the view %s",
			t.Logical.Stream.View, newAndOld)
	}
	if to.Timed() {
		return checkTimed(t.Logical, to.layout(shard.Range{}))
	}
	return nil
}

// CheckExpiry returns an error if items cannot expire by an attribute while they move.
func (t *Table) CheckExpiry(attribute string) error {
	for ix := range t.eachIndex() {
		if ix.Key.Has(attribute) {
			return refuse(t.Logical.Name, "items expire by %s, which is in the key of index %s: while the layout changes, what tells where an item has moved has the item's keys in indexes, and would "+
				"expire, too; switch Time to Live off for the change, or let the items expire by another attribute", attribute, ix.Name)
		}
	}
	return nil
}

// To returns the table in the layout after a change.
func (t *Table) To(target Target) *Table {
	to, layout := *t, *t.Layout
	switch {
	case bounded(target.Key):
		spread := shard.Spread{Range: target.Places}
		layout.Keys = layout.Keys.With(layout.Generation, map[string]shard.Spread{string(valueBytes(target.Key)): spread})
	case target.InDirectory() || t.InDirectory():
		layout = *target.Layout(target.Places, layout.Used, layout.Generation)
	default:
		layout.N, layout.Base = target.Places.N, target.Places.Base
	}
	to.Layout, to.timing, to.rolled, to.strict, to.from = &layout, timingOf(&layout), nil, true, nil
	return &to
}

// Next returns the places for a key that shall have a number of shards. from are its current
// places, and used is the highest place that it ever had. No place is used twice.
func Next(from shard.Range, used, shards int) shard.Range {
	if used = max(used, from.Last()); shards > from.N && used == from.Last() {
		return shard.Range{N: shards, Base: from.Base}
	}
	return shard.Range{N: shards, Base: used}
}

// PlacesBeside returns the physical partitions of a key in either of two layouts.
func (s *stored) PlacesBeside(o *Table, hash attribute.Value) []attribute.Item {
	var out []attribute.Item
	for _, n := range s.beside(&o.placement, hash) {
		out = append(out, attribute.NewItem(attribute.Attribute{Name: s.keyName(), Value: s.partition(hash, n)}))
	}
	return out
}

// ItemsAt returns the request for the items of a physical partition. The physical key from may
// contain only the partition key; if it has a sort key too, the items after it are read.
func (s *stored) ItemsAt(from attribute.Item, limit int) *api.Query {
	v, _ := from.Get(s.keyName())
	k := expression.KeyRange{Hash: []attribute.Value{v}}
	q := &api.Query{Read: api.Read{Table: s.Physical, Consistent: true, Limit: limit}, KeyCondition: k.Condition([]string{s.keyName()}, []string{s.sort.Name})}
	if from.Has(s.sort.Name) {
		q.Start = from
	}
	return q
}

// Strict returns a table whose layout was changed once: it shows only items that are at their
// places.
func (t *Table) Strict() *Table {
	to := *t
	to.strict = true
	return &to
}

// MovingFrom returns the table in its new layout while items move to it from an old one.
func (t *Table) MovingFrom(old *Table) *Table {
	to := *t
	to.strict, to.from = true, &old.stored
	return &to
}

// Visible returns an item without its hidden attributes.
func Visible(item attribute.Item) attribute.Item { return visibleItem(item) }

// Longest returns a physical key for a logical one, in the place whose number is longest.
func (t *Table) Longest(key attribute.Item) (attribute.Item, error) {
	physical, err := t.Key(key)
	if t.Rolls() && err == nil {
		hash, _ := t.of(key)
		physical = physical.With(t.keyName(), t.partition(hash, t.Layout.Base+t.Layout.Max))
	}
	return physical, err
}

// IsStub reports whether a physical item is the stub of a moved item.
func IsStub(item attribute.Item) bool { return item.Has(Moved) }

// StubOf returns the stub that stays at the key's old place when an item moves. generation is that of
// the move. The stub keeps the item's keys in indexes. So the item's entries keep their positions in the
// indexes. If there was no item, item is nil, and the stub has generation 0.
func (t *Table) StubOf(key, item attribute.Item, generation int64) attribute.Item {
	if item == nil {
		generation = 0
	}
	stub := t.physicalItem(t.KeyOf(key)).With(Moved, attribute.Int(generation))
	for ix := range t.eachIndex() {
		for _, name := range ix.Key.Names(nil) {
			if v, ok := item.Get(name); ok {
				stub = stub.With(name, v)
			}
		}
	}
	return stub
}

// eachIndex returns the table's indexes.
func (t *Table) eachIndex() iter.Seq[*schema.Index] {
	return func(yield func(*schema.Index) bool) {
		for _, all := range [2][]schema.Index{t.Logical.Local, t.Logical.Global} {
			for i := range all {
				if !yield(&all[i]) {
					return
				}
			}
		}
	}
}

// Beyond reports whether the table has indexes or a stream, which doors of release 0.2.0 cannot show
// during a change of its layout.
func (t *Table) Beyond() bool {
	return len(t.Logical.Local)+len(t.Logical.Global) > 0 || t.Logical.Stream.Enabled
}

// EntrySizes returns the sizes of an item's entries in indexes.
func (t *Table) EntrySizes(item attribute.Item) (sizes []int) {
	for ix := range t.eachIndex() {
		if !HasEntry(ix, item, item) {
			continue
		}
		entry := item
		if names := Fetched(t.Logical, new(api.Read), ix); names != nil {
			entry = item.Only(append(names, t.keyNames()...)...)
		}
		sizes = append(sizes, entry.Size())
	}
	return sizes
}

// MovedTo returns a physical item as the table stores it at a physical key when it moves there in a
// generation. If the table has a stream, the item says that it has moved: the stream has a record of
// the new item.
func (t *Table) MovedTo(item, key attribute.Item, generation int64) attribute.Item {
	pk, _ := key.Get(t.keyName())
	item = item.Without(Stamp).Without(came).With(t.keyName(), pk)
	if t.Logical.Stream.Enabled {
		item = item.With(came, attribute.Int(generation))
	}
	return item
}

// newAndOld is the view of a stream whose records have both images.
const newAndOld = "NEW_AND_OLD_IMAGES"

// isMove reports whether a record of a stream shows only that an item has moved, or a change of its
// stub. A late write at the place of a stub has no effect, so its record is one of these, too.
func isMove(r *api.StreamRecord) bool {
	_, to := member(r.New, came)
	return isStub(r.New) || isStub(r.Old) || r.Event == api.EventInsert && to > 0
}

// IsEmptyStub reports whether a physical item is a stub that was put where no item was.
func IsEmptyStub(item attribute.Item) bool {
	v, ok := item.Get(Moved)
	return ok && v.Equal(attribute.Int(0))
}

var moved = []byte(`"` + Moved + `"`)

// isStub does what IsStub does for an encoded item.
func isStub(text attribute.Encoded) bool {
	if !bytes.Contains(text, moved) {
		return false
	}
	_, to := member(text, Moved) // a value may be the same text
	return to > 0
}
