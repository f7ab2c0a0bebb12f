// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// Refuse returns all reasons why the layout of a table cannot be changed while the table is in use,
// or nothing if there is none. ks is the table's keyspace.
func Refuse(ks *schema.Keyspace, t *schema.Table, from, to *shard.Layout) []string {
	var why []string
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	switch {
	case from.Strategy == shard.Rollover && to.Strategy == shard.Rollover:
		add("of strategy 'rollover' only 'rows', 'bytes' and 'max' can be changed, in which no row moves")
	case from.Strategy == shard.Random || to.Strategy == shard.Random:
		add("strategy 'random' puts a row in any shard: its layout cannot be changed while the table is in use")
	}
	if len(from.Epochs) > 0 || len(from.Rows) > 0 || len(to.Epochs) > 0 || len(to.Rows) > 0 || (from.Keys.Len() > 0 || to.Keys.Len() > 0) && !ofKeys(from, to) {
		add("layouts with epochs or entries of keys cannot be changed by moving rows yet")
	}
	if t.Counter {
		add("counters are never copied: an increment that arrives while one is copied would be counted twice or not at all")
	}
	var open []string
	for _, c := range append(append([]*schema.Column(nil), t.Statics...), t.Regulars...) {
		if (c.Type.Collection() || c.Type.Kind == value.UDT) && !c.Type.Frozen {
			open = append(open, c.Name)
		}
	}
	if len(open) > 0 {
		add("columns %s are collections or user-defined types that are not frozen: their elements have write times of their own, which are not moved yet", strings.Join(open, ", "))
	}
	if len(t.Regulars) == 0 && len(t.Clustering) > 0 {
		add("the table has no columns beside its key: a row's own time to live cannot be read, so that it cannot be moved")
	}
	if grace, ok := t.Options["gc_grace_seconds"].(int); ok && grace < leastGrace {
		add("gc_grace_seconds is %d: tombstones have to outlive the change; set it to %d or more, for the time of the change", grace, leastGrace)
	}
	if n := datacentres(ks); n > 1 {
		add("keyspace %s is in %d data centres: changes are for one data centre yet", ks.Name, n)
	}
	if from.Equal(to) {
		add("the table has this layout already")
	}
	return why
}

// ofKeys reports whether two layouts differ only in the entries of keys.
func ofKeys(from, to *shard.Layout) bool {
	a, b := *from, *to
	a.Keys, b.Keys = nil, nil
	return a.Equal(&b)
}

// ToKey returns the layout in which a key has its own number of shards. key is serialized. As with
// To, rows move only to places that the key never had.
func ToKey(from *shard.Layout, key []byte, n int) (*shard.Layout, error) {
	if len(from.Epochs) > 0 {
		return nil, errors.New("a table with epochs of keys cannot give one key a number of shards of its own yet")
	}
	was := from.Spread(key)
	r := shard.Range{N: n, Base: was.Base}
	if n < was.N || from.Hash != shard.Murmur3 || len(was.Rows) > 0 || from.Last() > was.Last() {
		r.Base = from.Last()
	}
	switch _, own := from.Keys.Of(key); {
	case n < 1 || n > shard.MaxShards:
		return nil, fmt.Errorf("it cannot have %d shards, but 1 to %d", n, shard.MaxShards)
	case n == was.N && len(was.Rows) == 0:
		return nil, fmt.Errorf("it has %d shards already", n)
	case !own && from.Keys.Len() >= shard.MaxKeys:
		return nil, fmt.Errorf("%d keys of the table have numbers of shards of their own, which is as many as there may be", shard.MaxKeys)
	}
	to := *from
	to.Keys = from.Keys.With(1, map[string]shard.Spread{string(key): {Range: r}})
	to.Generation = 0
	return &to, nil
}

// leastGrace is the shortest gc_grace_seconds, in seconds, with which a table's layout can be
// changed. Hints may arrive for three hours, and a pass takes time.
const leastGrace = 86_400

// datacentres returns the number of data centres in a keyspace's replication.
func datacentres(ks *schema.Keyspace) int {
	if !strings.HasSuffix(ks.Replication["class"], "NetworkTopologyStrategy") {
		return 1
	}
	return len(ks.Replication) - 1
}

// To returns the layout that a table gets if the client asks for asked. A place to which a row may
// move was never used before. used is the highest shard number of any earlier layout of the table,
// including layouts of changes that were taken back.
//
// Under the jump hash, a row that moves when N grows gets a new number. So To keeps the base only
// if N grows, and only if the new numbers were never used.
func To(from, asked *shard.Layout, used int) *shard.Layout {
	to := *asked
	if plan.Apart(from, asked) {
		to.Generation = 0
		if from.Strategy == shard.Time && asked.Strategy == shard.Time && from.Floor != 0 && asked.Keep > 0 {
			to.Floor = asked.Grid().Of(from.Grid().Start(from.Floor))
		}
		return &to // a new table, in which no place was ever used
	}
	top := from.Base + from.N
	grows := asked.N >= from.N && asked.Hash == shard.Murmur3 && from.Hash == shard.Murmur3 && sameBy(from, asked)
	to.Base = from.Base
	if !grows || used > top {
		to.Base = max(used, top)
	}
	to.Generation = 0
	return &to
}

func sameBy(a, b *shard.Layout) bool {
	if len(a.By) != len(b.By) {
		return false
	}
	for i := range a.By {
		if a.By[i] != b.By[i] {
			return false
		}
	}
	return true
}
