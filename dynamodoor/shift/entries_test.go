// SPDX-License-Identifier: Apache-2.0

package shift

import (
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/reshard"
)

// TestWhatAStubStandsFor checks where a Scan shows an item. If a move left the stub, the Scan shows the
// item at the stub's place. If the stub was put where nothing was, the Scan shows the item at its new place.
func TestWhatAStubStandsFor(t *testing.T) {
	item := attribute.NewItem(attribute.Attribute{Name: "r", Value: attribute.String("1")})
	for generation, ofMove := range map[int64]bool{0: false, 7: true} {
		stub := item.With(plan.Moved, attribute.Int(generation))
		for _, atOld := range []bool{true, false} {
			a := sight{atOld: atOld, old: stub, now: item}
			if a.decide(nil, reshard.None); a.show != (atOld == ofMove) {
				t.Errorf("a stub of generation %d, seen at the old place %v: shown %v", generation, atOld, a.show)
			}
		}
	}
}
