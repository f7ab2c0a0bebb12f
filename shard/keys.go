package shard

import (
	"iter"
	"maps"
)

// MaxKeys is how many keys of a table may have a spread of their own. Doors hold all:
// so many are a few MB.
const MaxKeys = 100_000

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
