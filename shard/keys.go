// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// MaxKeys is how many keys of a table may have spreads of their own. They are part of the table's
// entry in the catalogue, and each step of a change writes the whole entry.
const MaxKeys = 1000

// Keys holds the logical partitions of a table that have spreads of their own. It is immutable.
// nil has no keys.
type Keys struct {
	generation int64
	spreads    map[string]Spread // by serialized partition key
	rows       bool              // some keys have epochs of rows
}

// NewKeys makes a set of keys with a generation. spreads is by serialized partition key; the
// caller must not use it afterwards.
func NewKeys(generation int64, spreads map[string]Spread) *Keys {
	k := &Keys{generation: generation, spreads: spreads}
	for _, s := range spreads {
		k.rows = k.rows || len(s.Rows) > 0
	}
	return k
}

// Generation returns the number of the set's state; 0 for nil.
func (k *Keys) Generation() int64 {
	if k == nil {
		return 0
	}
	return k.generation
}

// Len returns the number of keys.
func (k *Keys) Len() int {
	if k == nil {
		return 0
	}
	return len(k.spreads)
}

// Of returns the spread of a key, if the key has its own.
func (k *Keys) Of(key []byte) (Spread, bool) {
	if k == nil {
		return Spread{}, false
	}
	s, ok := k.spreads[string(key)]
	return s, ok
}

// All yields the keys and their spreads, in any order.
func (k *Keys) All() iter.Seq2[string, Spread] {
	if k == nil {
		return func(func(string, Spread) bool) {}
	}
	return maps.All(k.spreads)
}

// With returns the set of a later generation in which some keys have another spread. A spread
// without shards removes the key.
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

// Equal says whether two sets have the same keys with the same spreads.
func (k *Keys) Equal(o *Keys) bool {
	if k == o || k.Len() == 0 && o.Len() == 0 {
		return true
	}
	if k.Len() != o.Len() {
		return false
	}
	return maps.EqualFunc(k.spreads, o.spreads, Spread.Equal)
}

// Texts returns the spreads in the form that ParseKeys parses, by key in hexadecimal. It returns
// nil if there are none.
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

// ParseKeys parses the output of Texts.
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

// Changed returns, in order, the keys whose own spreads differ between two sets.
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
