// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"math/rand/v2"

	"github.com/evenkeel/evenkeel/workbench/keys"
)

// drawn is a random(n): a value is drawn for each row, from a seed.
type drawn struct {
	n     int
	rnd   *rand.Rand
	value int // of the current row
}

func newDrawn(n int, seed, number uint64) *drawn {
	return &drawn{n: n, rnd: rand.New(rand.NewPCG(seed, number))}
}

func (d *drawn) draw() { d.value = 1 + d.rnd.IntN(d.n) }

// rollover is the expression rollover(rows). Its value is a number that counts up. The first rows
// of a key have 1. When they reach the given number of rows, the next ones have 2. It counts rows
// for each combination of the key's other values, by the hash of the combination.
type rollover struct {
	each  int64
	rows  map[uint64]int64
	hash  uint64 // of the current row
	value int
}

// maxRollovers is the greatest number of combinations of the other components that a rollover
// counts.
const maxRollovers = 1 << 20

func newRollover(p keys.Part) *rollover {
	return &rollover{each: int64(p.N), rows: make(map[uint64]int64)}
}

// look finds the current row's value. It returns false if there are too many combinations to count.
func (r *rollover) look(hash uint64) bool {
	n, ok := r.rows[hash]
	r.hash, r.value = hash, int(1+n/r.each)
	return ok || len(r.rows) < maxRollovers
}

// count counts the current row.
func (r *rollover) count() { r.rows[r.hash]++ }
