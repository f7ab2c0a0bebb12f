// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
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
