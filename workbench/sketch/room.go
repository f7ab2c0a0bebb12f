// SPDX-License-Identifier: Apache-2.0

package sketch

// Room is the memory that several samples may take together, in bytes. A full sample takes more
// while there is any. When there is none, the largest samples give up half of theirs, so that
// samples of few keys keep all their keys. It is for one goroutine.
type Room struct {
	whole   int
	left    int
	tenants []tenant

	// Free lets also samples grow whose keys come once each.
	Free bool
}

// tenant is a sample in a room.
type tenant interface {
	bytes() int
	shrink()
}

// NewRoom makes a room of that many bytes, in addition to the initial size of each sample.
func NewRoom(bytes int) *Room { return &Room{whole: bytes, left: bytes} }

// Join adds the size of another room, whose samples are merged into those of this room and then
// dropped.
func (r *Room) Join(other *Room) {
	r.whole += other.whole
	r.left += other.whole
}

// more reports whether a sample may double its size. It shrinks the largest samples if it must.
func (r *Room) more(t tenant) bool {
	need := t.bytes()
	for r.left < need {
		var largest tenant
		for _, o := range r.tenants {
			// A sample that has no more than this one will have keeps its size.
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
