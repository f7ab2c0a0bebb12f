package simulation

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/keys"
)

// Key is a key to simulate, and how its user wrote it.
type Key struct {
	Text string
	Expr *keys.Expr
}

// Options says what to simulate.
type Options struct {
	Keys         []Key
	Partitioner  Partitioner
	Partitions   int                    // 1..MaxPartitions
	Types        map[string]*value.Type // of columns, under Murmur3 and Random; text where not given
	Ring         *Ring                  // nodes, under Murmur3 and Random; nil for none
	CompareSalts []int                  // numbers of salts to compare, each with the one behind it
	Within       int64                  // a bound of the difference between two partitions to judge; negative for none
	Detail       bool                   // count each key's values, too, for plots (KeyReport.Detail)
}

// MaxPartitions bounds Options.Partitions.
const MaxPartitions = 1_000_000

// Validate says what is wrong with the options.
func (o *Options) Validate() error {
	if len(o.Keys) == 0 {
		return errors.New("no key is given")
	}
	if o.Partitions < 1 || o.Partitions > MaxPartitions {
		return fmt.Errorf("%d partitions: there must be 1 to %d", o.Partitions, MaxPartitions)
	}
	columns := o.Columns()
	for _, c := range slices.Sorted(maps.Keys(o.Types)) {
		if !o.Partitioner.Tokens() {
			return fmt.Errorf("column %q has a type, but %s hashes text", c, o.Partitioner)
		}
		if !slices.Contains(columns, c) {
			return fmt.Errorf("column %q has a type, but no key uses it", c)
		}
		switch t := o.Types[c]; t.Kind {
		case value.Ascii, value.Bigint, value.Blob, value.Boolean, value.Decimal, value.Double, value.Float, value.Int, value.Timestamp,
			value.UUID, value.Text, value.Varint, value.Timeuuid, value.Inet, value.Date, value.Time, value.Smallint, value.Tinyint:
		default:
			return fmt.Errorf("column %q: a %s is not read from text here; the simple types that a partition key may have are", c, t)
		}
	}
	if r := o.Ring; r != nil {
		switch {
		case !o.Partitioner.Tokens():
			return fmt.Errorf("nodes own ranges of tokens, and %s has none: choose murmur3 or random", o.Partitioner)
		case r.Nodes < 1 || r.Nodes > maxNodes:
			return fmt.Errorf("%d nodes: there must be 1 to %d", r.Nodes, maxNodes)
		case r.VNodes < 1 || r.VNodes > maxTokens || r.Nodes*r.VNodes > maxTokens:
			return fmt.Errorf("%d nodes of %d vnodes: there must be at least one vnode each, and at most %d in all", r.Nodes, r.VNodes, maxTokens)
		case r.RF < 1 || r.RF > r.Nodes:
			return fmt.Errorf("a replication factor of %d on %d nodes: it must be 1 to the number of nodes", r.RF, r.Nodes)
		}
	}
	if len(o.CompareSalts) > 0 {
		if len(o.CompareSalts) < 2 {
			return errors.New("comparing salts takes two numbers of them, or more")
		}
		for _, n := range o.CompareSalts {
			if n < 1 || n > shard.MaxShards {
				return fmt.Errorf("comparing salts: %d is not from 1 to %d", n, shard.MaxShards)
			}
		}
		if !slices.ContainsFunc(o.Keys, func(k Key) bool {
			return slices.ContainsFunc(k.Expr.Parts, func(p keys.Part) bool { return p.Function != keys.Column })
		}) {
			return errors.New("comparing salts: no key has a salt(…), shard(…) or code_points(…)")
		}
	}
	return nil
}

// Columns are the columns that the keys need, in the order in which Add takes them.
func (o *Options) Columns() []string {
	var columns []string
	for _, k := range o.Keys {
		for _, c := range k.Expr.Columns() {
			if !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}
