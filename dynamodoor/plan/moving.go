// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/shard"
)

// A table whose layout is being changed has two Tables, one in each layout. The old one gives an
// item's old place, the new one its new place. (Package dynamodoor/reshard has the protocol, and
// dynamodoor/shift carries it out.)

// These are hidden attributes of items that move.
const (
	Moved = HiddenPrefix + "moved" // in a stub
	Stamp = HiddenPrefix + "v"     // in an item at its old place; changes with each write
	began = HiddenPrefix + "began" // in a Scan's position: the generation in which the Scan began
)

// CheckChange returns an error if the layout of a table in use cannot be changed to a number of
// shards. 0 shards mean a plain table.
func (t *Table) CheckChange(to int) error {
	name := t.Logical.Name
	const copyThem = "create a table with as many shards, and copy the items"
	switch {
	case t.Layout == nil:
		return refuse(name, "it is a plain table, and is not made a sharded one while it is in use yet: its items have no shard in their key; %s", copyThem)
	case t.suffix != nil:
		return refuse(name, "it was sharded by hand and adopted, and the layout of such a table is not changed while it is in use yet; %s", copyThem)
	case to > shard.MaxShards:
		return refuse(name, "%d shards are more than a table can have; use at most %d", to, shard.MaxShards)
	case len(t.Logical.Local) > 0 || len(t.Logical.Global) > 0:
		return refuse(name, "it has indexes, whose order changes as items move; the layout of such a table is not changed while it is in use yet; %s", copyThem)
	case t.Logical.StreamLabel != "":
		return refuse(name, "it has a stream, which would tell of items that move; disable it, or %s", copyThem)
	}
	return nil
}

// DeclaredShards returns the number of shards that a table's tag declares. It returns 0, for a
// plain table, if the value is empty.
func DeclaredShards(table, value string) (int, error) {
	if strings.TrimSpace(value) == "" {
		return 0, nil
	}
	l, err := parseLayout(table, value)
	if err != nil {
		return 0, err
	}
	if l.Strategy != shard.Calculated {
		return 0, refuse(table, "strategy %q: a table in use keeps the strategy 'calculated'", l.Strategy)
	}
	return l.N, nil
}

// Target is the range of places that a change of layout gives its keys.
type Target struct {
	Key attribute.Value // the one partition key of the change; Invalid: all keys without places of their own
	shard.Range
}

// To returns the table in the layout after a change.
func (t *Table) To(target Target) *Table {
	to, layout := *t, *t.Layout
	if bounded(target.Key) {
		spread := shard.Spread{Range: target.Range}
		layout.Keys = layout.Keys.With(layout.Generation, map[string]shard.Spread{string(valueBytes(target.Key)): spread})
	} else {
		layout.N, layout.Base = target.N, target.Base
	}
	to.Layout, to.strict, to.from = &layout, true, nil
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

// placesBeside returns the places of a key in either of two layouts.
func (t *Table) placesBeside(o *Table, hash attribute.Value) []int {
	mine, its := t.Layout.Spread(valueBytes(hash)), o.Layout.Spread(valueBytes(hash))
	return shard.AppendPlaces(nil, mine.Range, its.Range)
}

// PlacesBeside returns the physical partitions of a key in either of two layouts.
func (t *Table) PlacesBeside(o *Table, hash attribute.Value) []attribute.Item {
	var out []attribute.Item
	for _, n := range t.placesBeside(o, hash) {
		out = append(out, attribute.NewItem(attribute.Attribute{Name: t.keyName(), Value: t.partition(hash, n)}))
	}
	return out
}

// ItemsAt returns the request for the items of a physical partition. The physical key from may
// contain only the partition key; if it has a sort key too, the items after it are read.
func (t *Table) ItemsAt(from attribute.Item, limit int) *api.Query {
	v, _ := from.Get(t.keyName())
	k := expression.KeyRange{Hash: []attribute.Value{v}}
	q := &api.Query{Read: api.Read{Table: t.Physical, Consistent: true, Limit: limit}, KeyCondition: k.Condition([]string{t.keyName()}, []string{t.sort.Name})}
	if from.Has(t.sort.Name) {
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

// IsStrict reports whether a table is strict.
func (t *Table) IsStrict() bool { return t.strict }

// MovingFrom returns the table in its new layout while items move to it from an old one.
func (t *Table) MovingFrom(old *Table) *Table {
	to := *t
	to.strict, to.from = true, old
	return &to
}

// Key checks a logical key and returns the physical one.
func (t *Table) Key(key attribute.Item) (attribute.Item, error) { return t.checkKey(key) }

// CheckHash returns an error if a partition key leaves no room for its shards.
func (t *Table) CheckHash(hash attribute.Value) error { return t.checkHash(hash) }

// Shard returns the shard of the item with a logical key.
func (t *Table) Shard(key attribute.Item) int {
	hash, _ := key.Get(t.hash.Name)
	sort, _ := key.Get(t.sort.Name)
	return t.shardOf(hash, sort)
}

// KeyOf returns the logical key of an item or a key.
func (t *Table) KeyOf(item attribute.Item) attribute.Item { return item.Only(t.hash.Name, t.sort.Name) }

// Locate returns the logical key of a physical item, and its shard.
func (t *Table) Locate(physical attribute.Item) (key attribute.Item, shard int, err error) {
	v, _ := physical.Get(PartitionKey)
	sort, _ := physical.Get(t.sort.Name)
	hash, shard, err := t.cut(v)
	return attribute.NewItem(attribute.Attribute{Name: t.hash.Name, Value: hash}, attribute.Attribute{Name: t.sort.Name, Value: sort}), shard, err
}

// Visible returns an item without its hidden attributes.
func Visible(item attribute.Item) attribute.Item { return visibleItem(item) }

// IsStub reports whether a physical item is the stub of a moved item.
func IsStub(item attribute.Item) bool { return item.Has(Moved) }

// StubOf returns the stub that a move in a generation leaves at the key's place in the table.
func (t *Table) StubOf(key attribute.Item, generation int64) attribute.Item {
	return t.physicalItem(t.KeyOf(key)).With(Moved, attribute.Int(generation))
}

// MovedTo returns a physical item as it is stored at another physical key.
func (t *Table) MovedTo(item, key attribute.Item) attribute.Item {
	pk, _ := key.Get(PartitionKey)
	return item.Without(Stamp).With(PartitionKey, pk)
}

// SortName returns the name of the sort key.
func (t *Table) SortName() string { return t.sort.Name }

var moved = []byte(`"` + Moved + `"`)

// isStub does what IsStub does for an encoded item.
func isStub(text attribute.Encoded) bool { return bytes.Contains(text, moved) }

// elsewhere reports whether a row does not belong in the shard from which it was read.
func (t *Table) elsewhere(row *Row) bool {
	if !t.strict {
		return false
	}
	key := t.KeyOf(row.Item)
	if row.At == t.Shard(key) {
		return false
	}
	return t.from == nil || row.At != t.from.Shard(key)
}

// places returns the shards in which the item with a partition key and a sort key may be.
func (t *Table) places(hash, sort attribute.Value) []int {
	at := t.shardOf(hash, sort)
	if t.from != nil {
		if was := t.from.shardOf(hash, sort); was != at {
			return []int{was, at}
		}
	}
	return []int{at}
}

// Scanning is a Scan of a table whose layout was, or is being, changed. The caller knows which
// items to show, so filter, projection and count are applied after that. Positions are physical
// keys with the generation in which the Scan began.
type Scanning struct {
	Request *api.Scan // of the physical table
	Began   int64     // 0: the position does not contain it

	table *Table
	asked *api.Scan
}

// Scanning returns the plan of a Scan in a generation. A position from before any change is a
// position in the table's first layout.
func (t *Table) Scanning(q *api.Scan, generation int64, first *Table) (*Scanning, error) {
	s := &Scanning{table: t, asked: q, Began: generation}
	logical := *q
	var at attribute.Value
	if q.Start != nil {
		v, marked := q.Start.Get(began)
		pk, _ := q.Start.Get(PartitionKey)
		s.Began = 0
		if marked {
			n, err := strconv.ParseInt(v.Text(), 10, 64)
			if err != nil || v.Kind() != attribute.N || pk.Kind() != attribute.S {
				return nil, errStart
			}
			s.Began, at = n, pk
		}
		logical.Start = visibleItem(q.Start)
	}
	ix, err := logical.Check(t.Logical)
	if err != nil {
		return nil, err
	}
	p := logical
	if p.Read, err = first.physicalRead(&logical.Read, ix); err != nil {
		return nil, err
	}
	if at.Kind() != attribute.Invalid {
		hash, _, err := t.cut(at)
		if asked, _ := q.Start.Get(t.hash.Name); err != nil || !asked.Equal(hash) {
			return nil, errStart
		}
		p.Start = p.Start.With(PartitionKey, at)
	}
	p.Filter, p.Projection, p.Select, p.Consistent = nil, nil, api.SelectDefault, true
	s.Request = &p
	return s, nil
}

var errStart = exception.Invalid("The provided starting key is invalid")

// Position returns the position after a physical item.
func (s *Scanning) Position(physical attribute.Item) (attribute.Item, error) {
	key, _, err := s.table.Locate(physical)
	if err != nil {
		return nil, err
	}
	pk, _ := physical.Get(PartitionKey)
	return key.With(PartitionKey, pk).With(began, attribute.Int(s.Began)), nil
}

// Show adds an item to an answer.
func (s *Scanning) Show(out *api.ItemsResponse, physical attribute.Item) {
	item := visibleItem(physical)
	out.ScannedCount++
	if !s.asked.Filter.Match(item) {
		return
	}
	out.Count++
	switch {
	case s.asked.Select == api.SelectCount:
	case s.asked.Projection != nil:
		out.Items = append(out.Items, s.asked.Projection.Apply(item).Encode())
	default:
		out.Items = append(out.Items, item.Encode())
	}
}

// Answer returns the Scan's empty answer.
func (s *Scanning) Answer() *api.ItemsResponse {
	out := &api.ItemsResponse{CountOnly: s.asked.Select == api.SelectCount}
	if !out.CountOnly {
		out.Items = []attribute.Encoded{}
	}
	return out
}

// These are conditions on items that move.
var (
	// NoStub is the condition that no stub is at a place.
	NoStub = mustBuild(func(b *expression.Builder) *expression.Condition {
		return b.Function("attribute_not_exists", expression.PathOperand(expression.Top(Moved)))
	})
)

func mustBuild(build func(b *expression.Builder) *expression.Condition) *expression.Condition {
	var b expression.Builder
	c := build(&b)
	if b.Err() != nil {
		panic(b.Err())
	}
	return c
}

// There returns the condition that an item is, or is not, at a place.
func (t *Table) There(is bool) *expression.Condition {
	f := "attribute_not_exists"
	if is {
		f = "attribute_exists"
	}
	return mustBuild(func(b *expression.Builder) *expression.Condition {
		return b.Function(f, expression.PathOperand(expression.Top(t.sort.Name)))
	})
}

// Both returns the condition that two conditions hold. The second may be nil.
func Both(c, d *expression.Condition) *expression.Condition {
	if d == nil {
		return c
	}
	var b expression.Builder // the store reports too many operators
	return b.And(c, d)
}

// AsSeen returns the condition that the item at a place is not a stub and is unchanged since it was
// read.
func (t *Table) AsSeen(item attribute.Item) *expression.Condition {
	var b expression.Builder
	c := b.Function("attribute_not_exists", expression.PathOperand(expression.Top(Stamp)))
	if v, ok := item.Get(Stamp); ok {
		c = b.Compare("=", expression.PathOperand(expression.Top(Stamp)), expression.ValueOperand(v))
	}
	return Both(Both(t.There(true), NoStub), c)
}

// HasHidden reports whether a text may contain a hidden attribute's name.
func HasHidden(text string) bool { return strings.Contains(text, HiddenPrefix) }
