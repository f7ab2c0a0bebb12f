// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/partitioner"
)

// route says where the values that decide one shard come from: the terms of the partition key and
// of the `by` columns.
type route struct {
	key  []term
	by   []term
	home homeRule
}

// homeRule relates a route to the shard of the static columns.
type homeRule uint8

const (
	apart    homeRule = iota // the two are unrelated
	at                       // the route leads there
	together                 // the route must lead there
)

// one returns the route of a WHERE that binds the partition key and all `by` columns with =, or
// nil for any other WHERE.
func (t *placement) one(w *analysis.Where) *route {
	r := &route{}
	if len(w.Partition) != len(t.PartitionKey) {
		return nil
	}
	for _, p := range w.Partition {
		if p == nil || p.Kind != analysis.EQ {
			return nil
		}
		r.key = append(r.key, term{p.Term, -1})
	}
	for _, at := range t.by {
		b, ok := bound(w.Clustering, t.Clustering[at])
		if !ok {
			return nil
		}
		r.by = append(r.by, b)
	}
	return r
}

// home returns the route from a WHERE that binds the partition key to the shard of its static
// columns.
func (t *placement) home(w *analysis.Where) *route {
	key := *t
	key.by = nil
	r := key.one(w)
	if r != nil {
		r.home = at
	}
	return r
}

// Target is one shard of one logical partition, with the other values that slots stand for.
type Target struct {
	Key     [][]byte
	By      [][]byte
	Shard   int
	Cluster [][]byte     // a clustering key, or the bounds of a slice
	Set     []eval.Value // computed by the door
}

// target evaluates the route. The target's values use scratch if they fit. check says whether a key
// that Cassandra would refuse is an error.
func (r *route) target(t *placement, env *eval.Env, scratch [][]byte, check bool) (Target, error) {
	values := scratch[:0]
	for _, k := range r.key {
		v, err := k.bytes(env)
		if err != nil {
			return Target{}, err
		}
		values = append(values, v)
	}
	if check {
		if err := checkKey(values); err != nil {
			return Target{}, err
		}
	}
	n := len(values)
	for _, b := range r.by {
		v, err := b.bytes(env)
		if err != nil {
			return Target{}, err
		}
		values = append(values, v)
	}
	target := Target{Key: values[:n:n], By: values[n:]}
	if r.home == at {
		target.Shard = t.Home(target.Key)
		return target, nil
	}
	target.Shard = t.ShardOf(target.Key, target.By)
	if r.home == together && target.Shard != t.Home(target.Key) {
		return target, errTogether
	}
	return target, nil
}

// checkKey refuses a logical partition key that Cassandra would refuse. The store cannot check
// it: its key also has the shard.
func checkKey(key [][]byte) error {
	n := 0
	for _, v := range key {
		if v == nil {
			return nil // the store refuses it for another reason
		}
		n += len(v)
	}
	if len(key) > 1 {
		n += 3 * len(key)
	}
	switch {
	case n == 0:
		return wire.Invalidf("Key may not be empty")
	case n > partitioner.MaxComponent:
		return wire.Invalidf("Key length of %d is longer than maximum of %d", n, partitioner.MaxComponent)
	}
	n = 0
	for _, v := range key {
		n += len(v)
	}
	if n > longestKey(len(key)) {
		return tooLong(n, len(key))
	}
	return nil
}

// longestKey returns how many bytes the values of a logical partition key with so many columns
// may have. The store's key also has the shard, an int, and 3 bytes for each column.
func longestKey(columns int) int { return partitioner.MaxComponent - 4 - 3*(columns+1) }

func tooLong(n, columns int) error {
	return refused(fmt.Sprintf("a partition key of %d bytes is too long: the store keeps more beside it, so that at most %d are possible", n, longestKey(columns)),
		"use a shorter key, such as a hash of it")
}

// checkKeys refuses logical partition keys that the store cannot keep.
func checkKeys(columns int, keys *analysis.Tuples) error {
	if n, long := keys.Longer(longestKey(columns)); long {
		return tooLong(n, columns)
	}
	return nil
}
