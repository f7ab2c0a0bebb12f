// SPDX-License-Identifier: Apache-2.0

package request

import (
	"crypto/md5"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestKnownIDsAreBounded fills the table of ids.
func TestKnownIDsAreBounded(t *testing.T) {
	const limit = 1 << 20
	ids := newKnownIDs(limit)
	hot := md5.Sum([]byte("hot"))
	ids.Put(&Known{ID: hot})
	kept := 0
	for i := range 100_000 {
		id := md5.Sum(fmt.Append(nil, i%50_000))
		ids.Put(&Known{ID: id, Size: rand.IntN(1000)})
		if ids.Get(hot[:]) == nil {
			t.Fatalf("what is used is given up, after %d", i)
		}
	}
	bytes := 0
	for i := range ids {
		s := &ids[i]
		bytes += s.bytes
		kept += len(s.all)
		if len(s.ring) != len(s.all) {
			t.Errorf("%d in the ring, %d known", len(s.ring), len(s.all))
		}
		for at, k := range s.ring {
			if s.all[k.ID] != k || k.at != at {
				t.Fatalf("the ring has another at %d", at)
			}
		}
	}
	if bytes > limit || kept < 500 {
		t.Errorf("%d ids take %d bytes", kept, bytes)
	}
}
