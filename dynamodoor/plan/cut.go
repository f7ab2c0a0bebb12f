// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// cut is what is cut out of an item: its partition key, with a comma.
type cut struct {
	from, to int
	size     int // of the attribute
}

// of removes what is cut, in the item's own memory.
func (c cut) of(item attribute.Encoded) attribute.Encoded {
	return append(item[:c.from], item[c.to:]...)
}

// partitionCutter removes the partition key from one item after the other. Items of a partition often have it at
// the same place.
type partitionCutter struct {
	last cut
	text []byte // what was cut out of the last item; empty: it had no comma
}

// from removes the partition key from an item as cutPartition does.
func (c *partitionCutter) from(item attribute.Encoded) (rest attribute.Encoded, size int, ok bool) {
	if c.fits(item) {
		return c.last.of(item), c.last.size, true
	}
	at, ok := findPartition(item)
	if !ok {
		return item, 0, false
	}
	c.last, c.text = at, append(c.text[:0], item[at.from:at.to]...)
	if comma := byte(','); c.text[0] != comma && c.text[len(c.text)-1] != comma {
		c.text = c.text[:0]
	}
	return at.of(item), at.size, true
}

// fits reports whether the item has at the same place what was cut out of the last one.
func (c *partitionCutter) fits(item attribute.Encoded) bool {
	from, to := c.last.from, c.last.to
	return len(c.text) > 0 && to < len(item) && string(item[from:to]) == string(c.text) && isOfItem(item, from) && !hides(item[to:])
}

// cutPartition removes the partition key from an item of a table that hides it, in the item's own
// memory. It returns the size of the attribute. ok is false if another hidden attribute follows, or
// if the item is not in canonical form, in which names are sorted.
func cutPartition(item attribute.Encoded) (rest attribute.Encoded, size int, ok bool) {
	at, ok := findPartition(item)
	if !ok {
		return item, 0, false
	}
	return at.of(item), at.size, true
}

// findPartition returns what cutPartition cuts.
func findPartition(item attribute.Encoded) (at cut, ok bool) {
	const (
		name          = `"` + PartitionKey + `":`
		before, after = `{"S":"`, `"}`
	)
	from, to := partitionOf(item)
	value, isString := bytes.CutPrefix(item[from:to], []byte(before))
	value, closed := bytes.CutSuffix(value, []byte(after))
	from -= len(name)
	if !isString || !closed || from < 1 || string(item[from:from+len(name)]) != name || bytes.IndexByte(value, '\\') >= 0 || hides(item[to:]) {
		return cut{}, false
	}
	switch {
	case item[to] == ',':
		to++
	case item[from-1] == ',':
		from--
	}
	return cut{from, to, len(PartitionKey) + len(value)}, true
}

// hides reports whether the rest of an item begins with a hidden attribute.
func hides(rest []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(rest, []byte{','}), []byte(`"`+HiddenPrefix))
}

// partitionOf returns where the value of the partition key is in an item.
func partitionOf(item attribute.Encoded) (from, to int) {
	const name = `"` + PartitionKey + `":`
	at := bytes.Index(item, []byte(name))
	if at < 1 || !isOfItem(item, at) {
		return member(item, PartitionKey)
	}
	from = at + len(name)
	if n := bytes.IndexByte(item[from:], '}'); n >= 0 {
		to = from + n + 1
	}
	if to == 0 || bytes.Count(item[from:to], []byte{'"'}) != len(`""""`) { // the value has a brace
		return member(item, PartitionKey)
	}
	return from, to
}

// isOfItem reports whether the name that begins at a place is that of an attribute of the item. The name
// is that of such an attribute, unless a map is before it, or it is the end of a longer name: a backslash
// is before a quotation mark that belongs to a name.
func isOfItem(item attribute.Encoded, at int) bool {
	const ofMap = `"M":`
	return item[at-1] != '\\' && !bytes.Contains(item[:at], []byte(ofMap))
}
