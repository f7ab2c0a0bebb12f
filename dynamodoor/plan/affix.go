// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/shard"
)

// An adopted table was sharded by hand and has the shard in the value of the partition key itself.
// It has no hidden attributes. The plan cuts the value on its way to the client. No expression may
// use it, because the store would see the shard.

// adopted is the physical form of the partition keys of such a table.
type adopted struct {
	keys
	name   string // the table's
	affix  *shard.Affix
	layout *shard.Layout
}

// drawn reports whether an item may be in any shard, because the application drew the shards.
func (a *adopted) drawn() bool { return a.layout.Strategy == shard.Random }

// cut returns the logical partition key and the shard of a physical one.
func (a *adopted) cut(physical string) (key string, shardOf int, ok bool) {
	key, shardOf, ok = a.affix.Cut(physical, shard.MaxShards)
	if !ok || shardOf > a.layout.Shards([]byte(key)) {
		return physical, 0, false
	}
	return key, shardOf, true
}

// side says where physical partition keys have the shard: at their "end" or "beginning".
func (a *adopted) side() string {
	if a.affix.Front {
		return "beginning"
	}
	return "end"
}

// allows returns the option that allows keys which look like ones with a shard.
func (a *adopted) allows() string {
	if a.affix.Front {
		return optionPrefixed + "=allow"
	}
	return optionSuffixed + "=allow"
}

// checkHash refuses a logical partition key that looks like a physical one, because an
// application that still adds the shard has probably sent it.
func (a *adopted) checkHash(hash attribute.Value) error {
	if a.affix.Alike {
		return nil
	}
	key, _, ok := a.cut(hash.Text())
	if !ok {
		return nil
	}
	return exception.InvalidParameters("partition key %s is %q, which has a shard at its %s: in table %s evenkeel adds it and takes it away; "+
		"leave it out (%q), or, if keys may look like that, adopt the table with %s", a.hash.Name, hash.Text(), a.side(), a.name, key, a.allows())
}

// readsHash returns the error for an expression that uses the partition key.
func (a *adopted) readsHash() error {
	return exception.InvalidParameters("an expression uses the value of %s: table %s was sharded by hand, so that it is stored with the shard at its %s, "+
		"and the store would compare or copy that; attribute_exists and attribute_not_exists are possible", a.hash.Name, a.name, a.side())
}

// cutInPlace cuts the shard off an item's partition key in the item's own memory. It also returns
// the shard, or 0 if there is none.
func (a *adopted) cutInPlace(item attribute.Encoded) (attribute.Encoded, int) {
	from, to := member(item, a.hash.Name)
	if from == to {
		return item, 0
	}
	const before, after = `{"S":"`, `"}`
	value := item[from:to]
	if bytes.HasPrefix(value, []byte(before)) && bytes.HasSuffix(value, []byte(after)) && bytes.IndexByte(value, '\\') < 0 {
		text := string(value[len(before) : len(value)-len(after)])
		key, shardOf, ok := a.cut(text)
		if !ok {
			return item, 0
		}
		if a.affix.Front {
			return slices.Delete(item, from+len(before), to-len(after)-len(key)), shardOf
		}
		return slices.Delete(item, from+len(before)+len(key), to-len(after)), shardOf
	}
	decoded, err := new(attribute.Decoder).Item(item)
	if err != nil {
		return item, 0 // the reader of the item reports the error
	}
	v, _ := decoded.Get(a.hash.Name)
	key, shardOf, ok := a.cut(v.Text())
	if !ok || v.Kind() != attribute.S {
		return item, 0
	}
	return decoded.With(a.hash.Name, attribute.String(key)).Encode(), shardOf
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

// start returns the logical key and the shard of an ExclusiveStartKey. If the application drew
// the shards, only an answer's LastEvaluatedKey tells the shard: it has the physical partition key.
func (a *adopted) start(start attribute.Item) (attribute.Item, int, error) {
	v, _ := start.Get(a.hash.Name)
	key, shardOf, ok := a.cut(v.Text())
	if !ok {
		return nil, 0, exception.Invalid("The provided starting key is invalid: in table %s, which was sharded by hand, "+
			"%s of an ExclusiveStartKey has the shard at its %s, as it is in LastEvaluatedKey", a.name, a.hash.Name, a.side())
	}
	return start.With(a.hash.Name, attribute.String(key)), shardOf, nil
}
