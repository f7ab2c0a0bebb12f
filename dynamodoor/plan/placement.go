// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/shard"
)

// placement says in which shards the items of a table are, and which physical partition key a shard
// has.
type placement struct {
	keys
	name   string        // the logical table's, for errors
	Layout *shard.Layout // nil: the table itself is plain

	timing  *timing                            // nil: the strategy is not time
	rolled  func(hash attribute.Value) *Rolled // where the shards of a partition key begin; nil: not asked yet, or the strategy is not rollover
	adopted *adopted                           // nil: the table was not sharded by hand
	located map[string]int                     // shards of items that a Search found, by address; nil: there was no Search

	strict bool    // the layout was changed once: items that are not at their places are not shown
	from   *stored // during a change of the layout, the items in the old one; else nil
}

// place returns the placement of a table. affix is nil if the table was not sharded by hand.
func place(name string, k keys, layout *shard.Layout, affix *shard.Affix) placement {
	p := placement{keys: k, name: name, Layout: layout, timing: timingOf(layout)}
	if affix != nil {
		p.adopted = &adopted{k, name, affix, layout}
	}
	return p
}

// hidesKey reports whether the physical partition key is a hidden attribute.
func (p *placement) hidesKey() bool { return p.Layout != nil && p.adopted == nil && !p.IsPlain() }

// IsPlain reports whether all items are in shard.PlainPlace, the one place of a plain table that is
// becoming a sharded one.
func (p *placement) IsPlain() bool { return p.Layout != nil && p.Layout.Plain() }

// Holds reports whether a stored item, or a mover's position, is in this one of two physical tables.
func (p *placement) Holds(item attribute.Item) bool { return item.Has(PartitionKey) == p.hidesKey() }

// Beginning returns a mover's position before all items of the table.
func (p *placement) Beginning() attribute.Item {
	return attribute.NewItem(attribute.Attribute{Name: p.keyName(), Value: attribute.String("-")})
}

// keyName returns the name of the physical partition key of a table with a layout.
func (p *placement) keyName() string {
	if p.adopted != nil || p.IsPlain() {
		return p.hash.Name
	}
	return PartitionKey
}

// drawn reports whether an item may be in any shard, because the application drew the shards.
func (p *placement) drawn() bool { return p.adopted != nil && p.adopted.drawn() }

// mustSearch reports whether items must still be looked for.
func (p *placement) mustSearch() bool { return p.drawn() && p.located == nil }

// shards returns the shards of a logical partition. During a change of the layout, it returns those
// in both layouts.
func (p *placement) shards(hash attribute.Value) []int {
	if p.from == nil {
		return shard.AppendPlaces(nil, p.placesOf(hash))
	}
	return p.from.beside(p, hash)
}

// beside returns the places of a key in either of two layouts.
func (p *placement) beside(o *placement, hash attribute.Value) []int {
	return shard.AppendPlaces(nil, p.placesOf(hash), o.placesOf(hash))
}

// placesOf returns the places of a key in a layout without buckets of time.
func (p *placement) placesOf(hash attribute.Value) shard.Range {
	if p.Rolls() {
		return shard.Range{N: len(p.rolledOf(hash).Bounds) + 1, Base: p.Layout.Base}
	}
	s := p.Layout.Spread(valueBytes(hash))
	return s.Range
}

// shardOf returns the shard of an item by its key.
func (p *placement) shardOf(hash, sort attribute.Value) int {
	switch {
	case p.timing != nil:
		return p.Layout.OfSortKey(valueBytes(sort))
	case p.Rolls():
		return p.Layout.Base + p.rolledOf(hash).shardOf(sort)
	}
	return p.Layout.ShardOf(valueBytes(hash), valueBytes(sort))
}

// places returns the shards in which the item with a partition key and a sort key may be.
func (p *placement) places(hash, sort attribute.Value) []int {
	at := p.shardOf(hash, sort)
	if p.from != nil {
		if was := p.from.shardOf(hash, sort); was != at {
			return []int{was, at}
		}
	}
	return []int{at}
}

// Shard returns the shard of the item with a logical key.
func (p *placement) Shard(key attribute.Item) int { return p.shardOf(p.of(key)) }

// elsewhere reports whether a row does not belong in the shard from which it was read.
func (p *placement) elsewhere(row *Row) bool {
	if !p.strict {
		return false
	}
	key := p.KeyOf(row.Key)
	if row.At == p.Shard(key) {
		return false
	}
	return p.from == nil || row.At != p.from.Shard(key)
}

// partition returns the physical partition key of a shard of a logical partition.
func (p *placement) partition(hash attribute.Value, shard int) attribute.Value {
	switch {
	case p.IsPlain():
		return hash
	case p.adopted != nil:
		return attribute.String(p.adopted.affix.Join(hash.Text(), shard))
	}
	key := attribute.KeyText(hash)
	text := make([]byte, 0, len(key)+len("-n2147483648"))
	return attribute.String(string(appendPlace(append(append(text, key...), '-'), shard)))
}

// partitionOf returns the physical partition key of an item by its key.
func (p *placement) partitionOf(key attribute.Item) attribute.Value {
	hash, sort := p.of(key)
	if p.located != nil {
		if shard, found := p.located[address(hash, sort)]; found {
			return p.partition(hash, shard)
		}
	}
	return p.partition(hash, p.shardOf(hash, sort))
}

// cut returns the logical partition key and the shard of a physical one. A key of a table sharded
// by hand without a suffix stays unchanged, in shard 0.
func (p *placement) cut(v attribute.Value) (hash attribute.Value, place int, err error) {
	if p.IsPlain() {
		return v, shard.PlainPlace, nil
	}
	text := v.Text()
	if p.adopted != nil {
		key, shard, ok := p.adopted.cut(text)
		if !ok {
			return v, 0, nil
		}
		return attribute.String(key), shard, nil
	}
	i := strings.LastIndexByte(text, '-')
	if i < 0 {
		return hash, 0, exception.New(exception.InternalServerError, "partition %q of table %s has no shard", text, p.name)
	}
	if place, err = parsePlace(text[i+1:]); err != nil {
		return hash, 0, exception.New(exception.InternalServerError, "partition %q of table %s has no shard", text, p.name)
	}
	hash, err = attribute.ParseKeyText(text[:i], p.hash.Type)
	return hash, place, err
}

// CheckHash returns an error if a partition key leaves no room for the shard, or already has one.
func (p *placement) CheckHash(hash attribute.Value) error {
	if p.Layout == nil || p.IsPlain() {
		return nil
	}
	if p.adopted != nil {
		if err := p.adopted.checkHash(hash); err != nil {
			return err
		}
	}
	physical := p.partition(hash, p.longestPlace(hash))
	if n := len(physical.Text()); n > attribute.MaxHashSize {
		return exception.InvalidParameters("Size of hashkey %s has exceeded the maximum size limit of %d bytes by %d bytes: "+
			"in a write-sharded table it includes the shard and what is before it, and binary is in base64url; use a shorter value",
			p.hash.Name, attribute.MaxHashSize, n-attribute.MaxHashSize)
	}
	return nil
}

// guard adds a condition to c: an item that was found must still be where it was, if it would be
// created in another shard now.
func (p *placement) guard(c *expression.Condition, key attribute.Item) (*expression.Condition, error) {
	if p.located == nil {
		return c, nil
	}
	hash, sort := p.of(key)
	shard, found := p.located[address(hash, sort)]
	if !found || shard == p.shardOf(hash, sort) {
		return c, nil
	}
	var b expression.Builder
	there := b.Function("attribute_exists", expression.PathOperand(expression.Top(p.hash.Name)))
	if c != nil {
		there = b.And(there, c)
	}
	return there, b.Err()
}

// layoutText returns the table's layout in the form of its tag.
func (p *placement) layoutText() string {
	l := p.Layout
	if l == nil {
		return "sharded indexes alone"
	}
	words := []string{"strategy=" + l.Strategy.String()}
	switch l.Strategy {
	case shard.Time:
		words = []string{timedText(l.Width, l.Numbers)}
	case shard.Rollover:
		return strings.Join(append(words, fmt.Sprintf("rows=%d", l.Fill.Rows), fmt.Sprintf("max=%d", l.Max)), " ")
	}
	if p.adopted != nil {
		words = append([]string{"adopt=" + map[bool]string{false: "suffix", true: "prefix"}[p.adopted.affix.Front]}, words...)
	}
	return strings.Join(append(words, fmt.Sprintf("shards=%d", l.N)), " ")
}
