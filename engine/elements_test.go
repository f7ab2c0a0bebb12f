// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/engine/storage"
)

func numbered(n int) []storage.Cell {
	cells := make([]storage.Cell, n)
	for i := range cells {
		cells[i].Value = binary.BigEndian.AppendUint32(nil, uint32(i))
	}
	return cells
}

// Elements are removed as from a slice.
func TestElements(t *testing.T) {
	for n := range 40 {
		draw := rand.New(rand.NewPCG(1, uint64(n)))
		e, want := newElements(numbered(n)), numbered(n)
		for len(want) > 0 {
			i := draw.IntN(len(want))
			if got := e.cells[e.at(i)]; string(got.Value) != string(want[i].Value) {
				t.Fatalf("%d: element %d is %x, not %x", n, i, got.Value, want[i].Value)
			}
			if draw.IntN(3) > 0 {
				e.remove(e.at(i))
				want = slices.Delete(want, i, i+1)
			}
			if got := e.all(); e.left != len(want) || len(got) != len(want) || !slices.EqualFunc(got, want, func(a, b storage.Cell) bool { return string(a.Value) == string(b.Value) }) {
				t.Fatalf("%d: %d elements are left, not %d", n, len(got), len(want))
			}
		}
	}
}

// The work for as many removals as there are elements grows little faster than their
// number.
func TestElementsWork(t *testing.T) {
	work := func(n int) int {
		e := newElements(numbered(n))
		for e.left > 0 {
			e.remove(e.at(0))
		}
		return e.steps
	}
	if one, four := work(10_000), work(40_000); four > 5*one {
		t.Errorf("%d steps for 10,000 elements, %d for 40,000", one, four)
	}
}
