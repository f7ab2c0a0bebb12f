// SPDX-License-Identifier: Apache-2.0

package sketch

// Room is what several samples may take together, in bytes. A sample that is full takes
// more while there is any; when there is none, the largest ones give up half of theirs, so
// that those of few keys keep all of them. It is for one goroutine.
type Room struct {
	whole   int
	left    int
	tenants []tenant
}

// tenant is a sample in a room.
type tenant interface {
	bytes() int
	shrink()
}

// NewRoom has so many bytes, beside the size that each sample is made with.
func NewRoom(bytes int) *Room { return &Room{whole: bytes, left: bytes} }

// Join adds another room, whose samples are merged into those here and then given up.
func (r *Room) Join(other *Room) {
	r.whole += other.whole
	r.left += other.whole
}

// more says whether a sample may take as much again as it has.
func (r *Room) more(t tenant) bool {
	need := t.bytes()
	for r.left < need {
		var largest tenant
		for _, o := range r.tenants {
			// Who has no more than this one will have keeps it.
			if o.bytes() > 2*need && (largest == nil || o.bytes() > largest.bytes()) {
				largest = o
			}
		}
		if largest == nil {
			return false
		}
		before := largest.bytes()
		largest.shrink()
		r.left += before - largest.bytes()
	}
	r.left -= need
	return true
}
