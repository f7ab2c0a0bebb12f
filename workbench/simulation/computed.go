// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/keys"
)

// computed is a salt, shard or code_points part, with counts of its values. Keys with the same part
// share it.
type computed struct {
	part    keys.Part
	text    string
	columns []int
	value   int  // of the current row
	null    bool // the current row has no value

	rows   int64
	counts []int64 // by value, from least on
	least  int     // 0 for salts, 1 for shards
	layout *shard.Layout

	variants []*computed // of code_points: the other parts that are possible with the same columns
	moves    []*move
}

// move counts the rows that change place between two numbers of salts.
type move struct {
	from, to     int
	modulo, jump int64
}

func newComputed(part keys.Part, column func(string) int, compare []int) *computed {
	c := plainComputed(part, column)
	for i := 1; i < len(compare); i++ {
		c.moves = append(c.moves, &move{from: compare[i-1], to: compare[i]})
	}
	if part.Function == keys.CodePoints {
		if prime := part; nextPrime(part.N) <= shard.MaxShards {
			prime.N = nextPrime(part.N)
			c.variants = append(c.variants, plainComputed(prime, column))
		}
		murmur := part
		murmur.Function = keys.Shard
		c.variants = append(c.variants, plainComputed(murmur, column))
	}
	return c
}

func plainComputed(part keys.Part, column func(string) int) *computed {
	c := &computed{part: part, text: part.String(), counts: make([]int64, part.N), least: 1}
	for _, name := range part.Columns {
		c.columns = append(c.columns, column(name))
	}
	if part.Function == keys.Salt {
		c.least = 0
	} else {
		c.layout = part.Layout()
	}
	return c
}

// of computes the part for a number of salts or shards.
func (c *computed) of(p Partitioner, by [][]byte, n int) int {
	if c.layout == nil {
		return p.mod(by[0], n)
	}
	l := *c.layout
	l.N = n
	return l.ShardOf(nil, by...)
}

// modulo returns the part as hash modulo n, as tables that are salted by hand have it. For a shard
// it takes murmur3 as the hash.
func (c *computed) modulo(p Partitioner, by [][]byte, n int) int {
	if c.part.Function == keys.Shard {
		return Murmur3.mod(joined(by), n)
	}
	return c.of(p, by, n)
}

// jump computes write_sharding's default: murmur3 and jump hash.
func jump(by [][]byte, n int) int {
	l := shard.Layout{N: n}
	return l.ShardOf(nil, by...)
}

// count counts the row's value, its variants and its moves.
func (c *computed) count(p Partitioner, by [][]byte) {
	c.rows++
	c.counts[c.value-c.least]++
	for _, v := range c.variants {
		v.rows++
		v.counts[v.of(p, by, v.part.N)-v.least]++
	}
	for _, m := range c.moves {
		if c.modulo(p, by, m.from) != c.modulo(p, by, m.to) {
			m.modulo++
		}
		if jump(by, m.from) != jump(by, m.to) {
			m.jump++
		}
	}
}

// nextPrime returns the least prime above n.
func nextPrime(n int) int {
	for n++; ; n++ {
		prime := n > 1
		for d := 2; d*d <= n && prime; d++ {
			prime = n%d != 0
		}
		if prime {
			return n
		}
	}
}
