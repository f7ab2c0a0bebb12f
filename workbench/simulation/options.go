// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/datetime"
	"github.com/evenkeel/evenkeel/workbench/keys"
)

// Key is a key to simulate, and its text as the user wrote it.
type Key struct {
	Text string
	Expr *keys.Expr
}

// Options says what to simulate.
type Options struct {
	Keys        []Key
	Partitioner Partitioner
	Partitions  int                    // 1..MaxPartitions
	Sweep       []int                  // numbers of partitions to count in addition
	Types       map[string]*value.Type // of columns, under partitioners with tokens; default: text
	// DateOrders says for columns whether the day or the month comes first in dates. If a column
	// has none and a date can be read in both ways, Add returns an *Ambiguous.
	DateOrders   map[string]datetime.Order
	Ring         *Ring    // nodes, under partitioners with tokens; nil: none
	CompareSalts []int    // numbers of salts to compare, each with the next
	Within       int64    // a limit to judge, for the difference between the fullest and the emptiest partition; negative: none
	Limit        Limit    // the user's own limits of a key's value
	Attributes   []string // columns to judge as partition keys by themselves (Report.Uniformity)
	Seed         uint64   // of random(…)
	Detail       bool     // report more about each key's values, for plots (KeyReport.Detail)
}

// Limit is the most that one value of a key may hold; 0: no limit.
type Limit struct {
	Rows  int64 `json:"rows,omitempty"`
	Bytes int64 `json:"bytes,omitempty"`
}

// MaxPartitions bounds Options.Partitions. MaxSweep bounds the length of Options.Sweep. MaxCounted
// bounds the keys and attributes together, which share the memory.
const (
	MaxPartitions = 1_000_000
	MaxSweep      = 32
	MaxCounted    = 2048
)

// Validate returns an error if the options are wrong.
func (o *Options) Validate() error {
	if len(o.Keys)+len(o.Attributes) == 0 {
		return errors.New("no key is given")
	}
	if n := len(o.Keys) + len(o.Attributes); n > MaxCounted {
		return fmt.Errorf("%d keys and attributes: there may be %d", n, MaxCounted)
	}
	all := 0
	for _, n := range append([]int{o.Partitions}, o.Sweep...) {
		if n < 1 || n > MaxPartitions {
			return fmt.Errorf("%d partitions: there must be 1 to %d", n, MaxPartitions)
		}
		all += n
	}
	if len(o.Sweep) >= MaxSweep || all > MaxPartitions {
		return fmt.Errorf("%d numbers of partitions, %d in all: there may be %d numbers, %d in all", len(o.Sweep)+1, all, MaxSweep, MaxPartitions)
	}
	if o.Limit.Rows < 0 || o.Limit.Bytes < 0 {
		return errors.New("a limit is negative")
	}
	columns := o.keyColumns()
	if o.Partitioner == Identity {
		for _, k := range o.Keys {
			if len(k.Expr.Parts) > 1 {
				return fmt.Errorf("key %s has %d components, and identity takes the one number of a key for its token: choose byte-ordered", k.Text, len(k.Expr.Parts))
			}
		}
	}
	for _, c := range slices.Sorted(maps.Keys(o.Types)) {
		if !o.Partitioner.Tokens() {
			return fmt.Errorf("column %q has a type, but %s takes text", c, o.Partitioner)
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
	for _, c := range slices.Sorted(maps.Keys(o.DateOrders)) {
		if !slices.Contains(columns, c) {
			return fmt.Errorf("column %q has an order of its dates, but no key uses it", c)
		}
	}
	if r := o.Ring; r != nil {
		switch {
		case !o.Partitioner.Tokens():
			return fmt.Errorf("nodes own ranges of tokens, and %s has none of a ring: choose murmur3, random or byte-ordered", o.Partitioner)
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
			return slices.ContainsFunc(k.Expr.Parts, func(p keys.Part) bool { return p.Function.Computed() })
		}) {
			return errors.New("comparing salts: no key has a salt(…), shard(…) or code_points(…)")
		}
	}
	return nil
}

// Columns returns the columns of the keys, and the attributes, in the order in which Add takes
// their values.
func (o *Options) Columns() []string {
	columns := o.keyColumns()
	for _, c := range o.Attributes {
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	return columns
}

// KeyColumns returns how many of Columns, from the first on, belong to keys.
func (o *Options) KeyColumns() int { return len(o.keyColumns()) }

// TimeColumns returns the columns of which a key takes the minute, hour, day, month or year.
func (o *Options) TimeColumns() (list []string) {
	for _, k := range o.Keys {
		for _, p := range k.Expr.Parts {
			if p.Function.Period() && !slices.Contains(list, p.Columns[0]) {
				list = append(list, p.Columns[0])
			}
		}
	}
	return list
}

func (o *Options) keyColumns() []string {
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
