// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// MaxKeys is how many keys of a table may have a spread of their own. They are a part of the
// table's entry in the catalogue, which each step of a change writes as a whole.
const MaxKeys = 1000

// Keys are the logical partitions of a table that have a spread of their own. They are
// immutable; nil has none.
type Keys struct {
	generation int64
	spreads    map[string]Spread // by serialized partition key
	rows       bool              // some have epochs of rows
}

// NewKeys makes a set of keys of a generation, by serialized partition key. The map is
// the set's from then on.
func NewKeys(generation int64, spreads map[string]Spread) *Keys {
	k := &Keys{generation: generation, spreads: spreads}
	for _, s := range spreads {
		k.rows = k.rows || len(s.Rows) > 0
	}
	return k
}

// Generation counts the states of a table's keys; 0 is that of none.
func (k *Keys) Generation() int64 {
	if k == nil {
		return 0
	}
	return k.generation
}

// Len is how many keys there are.
func (k *Keys) Len() int {
	if k == nil {
		return 0
	}
	return len(k.spreads)
}

// Of is the spread of a key that has one of its own.
func (k *Keys) Of(key []byte) (Spread, bool) {
	if k == nil {
		return Spread{}, false
	}
	s, ok := k.spreads[string(key)]
	return s, ok
}

// All are the keys and their spreads, in no order.
func (k *Keys) All() iter.Seq2[string, Spread] {
	if k == nil {
		return func(func(string, Spread) bool) {}
	}
	return maps.All(k.spreads)
}

// With is the set of a later generation, in which some keys have another spread; one
// without shards gives up the key's own.
func (k *Keys) With(generation int64, changed map[string]Spread) *Keys {
	spreads := make(map[string]Spread, k.Len()+len(changed))
	maps.Insert(spreads, k.All())
	for key, s := range changed {
		if s.N == 0 {
			delete(spreads, key)
		} else {
			spreads[key] = s
		}
	}
	return NewKeys(generation, spreads)
}

// Equal says whether two sets have the same keys, spread alike.
func (k *Keys) Equal(o *Keys) bool {
	if k == o || k.Len() == 0 && o.Len() == 0 {
		return true
	}
	if k.Len() != o.Len() {
		return false
	}
	return maps.EqualFunc(k.spreads, o.spreads, Spread.Equal)
}

// Texts are the keys and their spreads as ParseKeys reads them, by the key in hexadecimal;
// nil for none.
func (k *Keys) Texts() map[string]string {
	if k.Len() == 0 {
		return nil
	}
	out := make(map[string]string, k.Len())
	for key, s := range k.All() {
		out[hex.EncodeToString([]byte(key))] = s.String()
	}
	return out
}

// ParseKeys reads what Texts writes.
func ParseKeys(generation int64, texts map[string]string) (*Keys, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	spreads := make(map[string]Spread, len(texts))
	for text, spread := range texts {
		key, err := hex.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a serialized partition key", text)
		}
		if spreads[string(key)], err = ParseSpread(spread); err != nil {
			return nil, fmt.Errorf("key 0x%s: %w", text, err)
		}
	}
	return NewKeys(generation, spreads), nil
}

// Changed are the keys whose own spreads differ in two sets, in order.
func (k *Keys) Changed(o *Keys) []string {
	var out []string
	for key, s := range k.All() {
		if other, ok := o.Of([]byte(key)); !ok || !s.Equal(other) {
			out = append(out, key)
		}
	}
	for key := range o.All() {
		if _, ok := k.Of([]byte(key)); !ok {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
