// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"math/rand/v2"

	"github.com/evenkeel/evenkeel/workbench/keys"
)

// drawn is a random(n): its values are drawn from a seed, one for each row.
type drawn struct {
	n     int
	rnd   *rand.Rand
	value int // of the current row
}

func newDrawn(n int, seed, number uint64) *drawn {
	return &drawn{n: n, rnd: rand.New(rand.NewPCG(seed, number))}
}

func (d *drawn) draw() { d.value = 1 + d.rnd.IntN(d.n) }

// rollover is the expression rollover(rows). Its value is a number that counts up. The first
// rows of a key have 1; when the given number of rows is reached, the next ones have 2. Rows
// are counted for each combination of the key's other values, by the hash of that.
type rollover struct {
	each  int64
	rows  map[uint64]int64
	hash  uint64 // of the current row
	value int
}

// maxRollovers bounds the values of the other components that a rollover counts.
const maxRollovers = 1 << 20

func newRollover(p keys.Part) *rollover {
	return &rollover{each: int64(p.N), rows: make(map[uint64]int64)}
}

// look finds the current row's value; false where there are too many to count.
func (r *rollover) look(hash uint64) bool {
	n, ok := r.rows[hash]
	r.hash, r.value = hash, int(1+n/r.each)
	return ok || len(r.rows) < maxRollovers
}

// count counts the current row.
func (r *rollover) count() { r.rows[r.hash]++ }
