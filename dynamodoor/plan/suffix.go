// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/shard"
)

// An adopted table was sharded by hand and has the shard in the value of the partition key itself.
// It has no hidden attributes. The plan cuts the value on its way to the client. No expression may
// use it, because the store would see the shard.

// drawn reports whether an item may be in any shard, because the application drew the shards.
func (t *Table) drawn() bool { return t.suffix != nil && t.Layout.Strategy == shard.Random }

// cutSuffix returns the logical partition key and the shard of a physical one.
func (t *Table) cutSuffix(physical string) (key string, shardOf int, ok bool) {
	key, shardOf, ok = t.suffix.Cut(physical, shard.MaxShards)
	if !ok || shardOf > t.Layout.Shards([]byte(key)) {
		return physical, 0, false
	}
	return key, shardOf, true
}

// checkSuffix refuses a logical partition key that looks like a physical one, because an
// application that still adds suffixes has probably sent it.
func (t *Table) checkSuffix(hash attribute.Value) error {
	if t.suffix == nil || t.suffix.Suffixed {
		return nil
	}
	key, _, ok := t.cutSuffix(hash.Text())
	if !ok {
		return nil
	}
	return exception.InvalidParameters("partition key %s is %q, which has a shard at its end: in table %s evenkeel adds it and takes it away; "+
		"leave it out (%q), or, if keys may end like that, adopt the table with suffixed=allow", t.hash.Name, hash.Text(), t.Logical.Name, key)
}

// checkCondition refuses hidden attributes in a condition or a filter, and conditions that the
// store would answer wrongly.
func (t *Table) checkCondition(c *expression.Condition) error {
	if err := checkPaths(c.Paths()); err != nil {
		return err
	}
	if t.suffix != nil && c.Reads(t.hash.Name) {
		return t.readsHash()
	}
	return nil
}

// readsHash returns the error for an expression that uses the partition key.
func (t *Table) readsHash() error {
	return exception.InvalidParameters("an expression uses the value of %s: table %s was sharded by hand, so that it is stored with the shard at its end, "+
		"and the store would compare or copy that; attribute_exists and attribute_not_exists are possible", t.hash.Name, t.Logical.Name)
}

// show converts an item of the table into the client's, in its own memory. The table is nil for an
// item of a plain table, which stays unchanged.
func (t *Table) show(item attribute.Encoded) attribute.Encoded {
	switch {
	case t == nil:
		return item
	case t.suffix == nil:
		return stripInPlace(item)
	}
	item, _ = t.cutInPlace(item)
	return item
}

// showCopy does what show does, but leaves the item itself unchanged.
func (t *Table) showCopy(item attribute.Encoded) attribute.Encoded {
	if t != nil && t.suffix == nil {
		return Strip(item)
	}
	return t.show(slices.Clone(item))
}

// showItem returns a decoded item as the client knows it.
func (t *Table) showItem(item attribute.Item) attribute.Item {
	if t.suffix == nil {
		return visibleItem(item)
	}
	v, ok := item.Get(t.hash.Name)
	if key, _, suffixed := t.cutSuffix(v.Text()); ok && suffixed {
		return item.With(t.hash.Name, attribute.String(key))
	}
	return item
}

// cutInPlace cuts the suffix of an item's partition key in the item's own memory. It also returns
// the shard, or 0 if there is none.
func (t *Table) cutInPlace(item attribute.Encoded) (attribute.Encoded, int) {
	from, to := member(item, t.hash.Name)
	if from == to {
		return item, 0
	}
	const before, after = `{"S":"`, `"}`
	value := item[from:to]
	if bytes.HasPrefix(value, []byte(before)) && bytes.HasSuffix(value, []byte(after)) && bytes.IndexByte(value, '\\') < 0 {
		text := string(value[len(before) : len(value)-len(after)])
		key, shardOf, ok := t.cutSuffix(text)
		if !ok {
			return item, 0
		}
		return slices.Delete(item, from+len(before)+len(key), to-len(after)), shardOf
	}
	decoded, err := new(attribute.Decoder).Item(item)
	if err != nil {
		return item, 0 // the reader of the item reports the error
	}
	v, _ := decoded.Get(t.hash.Name)
	key, shardOf, ok := t.cutSuffix(v.Text())
	if !ok || v.Kind() != attribute.S {
		return item, 0
	}
	return decoded.With(t.hash.Name, attribute.String(key)).Encode(), shardOf
}

// member returns the range of the value of a member of an object. The range is empty if there is no
// such member.
func member(object []byte, name string) (from, to int) {
	var r jsontext.Reader
	r.Reset(object)
	for r.Object(); r.Next(); {
		is := r.Name() == name
		raw := r.Raw()
		if is && r.Err() == nil {
			return r.Offset() - len(raw), r.Offset()
		}
	}
	return 0, 0
}

// drawnStart returns the logical key and the shard of an ExclusiveStartKey. If the application drew
// the shards, only an answer's LastEvaluatedKey tells the shard: it has the physical partition key.
func (t *Table) drawnStart(start attribute.Item) (attribute.Item, int, error) {
	v, _ := start.Get(t.hash.Name)
	key, shardOf, ok := t.cutSuffix(v.Text())
	if !ok {
		return nil, 0, exception.Invalid("The provided starting key is invalid: in table %s, which was sharded by hand, "+
			"%s of an ExclusiveStartKey has the shard at its end, as it is in LastEvaluatedKey", t.Logical.Name, t.hash.Name)
	}
	return start.With(t.hash.Name, attribute.String(key)), shardOf, nil
}

// address returns the key of an item for a map.
func address(hash, sort attribute.Value) string {
	return strconv.Itoa(len(hash.Text())) + ":" + hash.Text() + sort.Text()
}
