// SPDX-License-Identifier: Apache-2.0

package cachefence

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Fence counts the writes that have begun and those under way, by what they may change.
type Fence[F any] struct {
	seed   maphash.Seed
	All    Epoch // writes that may change anything
	Tables [tableEpochs]TableEpoch
	slots  []Slot // each in the group with the same number
	groups [Groups]Group[F]
}

// These are the numbers of groups, epochs and slots. Keys or tables with equal hashes share one.
const (
	Groups      = 256
	tableEpochs = 256
	minSlots    = 1 << 12
	maxSlots    = 1 << 20
)

// Epoch counts writes.
type Epoch struct {
	count   atomic.Uint64 // writes that have begun
	writing atomic.Int64  // writes under way
	settled atomic.Int64  // when reads include all writes, Unix nanoseconds
}

// Begin first marks a write as under way and then counts it. A reader loads the count and then
// sees that no write is under way. So either its count includes this write, and the write has
// ended, or it finds a greater count later.
func (e *Epoch) Begin() {
	e.writing.Add(1)
	e.count.Add(1)
}

func (e *Epoch) End(settled int64) {
	Raise(&e.settled, settled)
	e.writing.Add(-1)
}

// Raise sets v to at least n.
func Raise(v *atomic.Int64, n int64) {
	for old := v.Load(); old < n && !v.CompareAndSwap(old, n); old = v.Load() {
	}
}

// TableEpoch holds the epochs of the tables with one hash.
type TableEpoch struct {
	Items   Epoch // writes to items whose keys are not known
	Defined Epoch // changes of the table itself
	Touched Epoch // writes to any item, and the two above
}

// Slot counts the writes to the keys with one hash. Its group's lock guards it.
type Slot struct {
	count   uint32
	writing uint32
	settled int64
}

// Group guards slots, and holds the reads under way that others may join.
type Group[F any] struct {
	sync.Mutex
	Flights map[uint64]F
	_       [48]byte // a cache line each
}

// New makes a fence for a cache of size bytes. Its slots take a sixteenth of them.
func New[F any](size int64) *Fence[F] {
	n := max(minSlots, min(maxSlots, uint64(size)/256))
	f := &Fence[F]{seed: maphash.MakeSeed(), slots: make([]Slot, 1<<(bits.Len64(n)-1))}
	for i := range f.groups {
		f.groups[i].Flights = make(map[uint64]F)
	}
	return f
}

func (f *Fence[F]) Bytes() int64 {
	return int64(unsafe.Sizeof(*f)) + int64(len(f.slots))*int64(unsafe.Sizeof(Slot{}))
}

func (f *Fence[F]) Hash(kind byte, key []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(f.seed)
	h.WriteByte(kind)
	h.Write(key)
	return h.Sum64()
}

func (f *Fence[F]) Table(name string) *TableEpoch {
	return &f.Tables[maphash.String(f.seed, name)%tableEpochs]
}

func (f *Fence[F]) Group(hash uint64) *Group[F] { return &f.groups[hash%Groups] }

func (f *Fence[F]) Slot(hash uint64) *Slot { return &f.slots[hash%uint64(len(f.slots))] }

// View holds the counts that a read depends on, at one moment. Counts only grow, so the sum is
// the same only if every count is.
type View struct {
	Count   uint64
	Whole   uint64 // of an item: the part of Count that is its table's
	Quiet   bool   // no write was under way
	Settled int64  // when the store's reads include all earlier writes, Unix nanoseconds
	Fresh   bool   // Settled has passed; At sets it
}

func (v *View) add(e *Epoch) {
	v.Count += e.count.Load()
	v.Quiet = v.Quiet && e.writing.Load() == 0
	v.Settled = max(v.Settled, e.settled.Load())
}

func (v *View) addSlot(s *Slot) {
	v.Count += uint64(s.count)
	v.Quiet = v.Quiet && s.writing == 0
	v.Settled = max(v.Settled, s.settled)
}

// At returns the view with Fresh as it is at the present time. now is asked only if a write needs
// time to settle.
func (v View) At(now func() time.Time) View {
	v.Fresh = v.Settled == 0 || v.Settled <= now().UnixNano()
	return v
}

// MayKeep says whether data read after v may be kept, if v holds.
func (v View) MayKeep() bool { return v.Quiet && v.Fresh }

// Holds says whether nothing has been written between v and now.
func (v View) Holds(now View) bool { return v.Quiet && now.Quiet && v.Count == now.Count }

// Wide returns the view of a table as a whole, without its keys.
func (f *Fence[F]) Wide(t *TableEpoch) View {
	v := View{Quiet: true}
	v.add(&f.All)
	v.add(&t.Items)
	v.add(&t.Defined)
	return v
}

// Item returns the view of an item. The caller holds its group's lock.
func (f *Fence[F]) Item(t *TableEpoch, hash uint64) View {
	v := f.Wide(t)
	v.Whole = v.Count
	v.addSlot(f.Slot(hash))
	return v
}

// Touched returns the view of all items of a table.
func (f *Fence[F]) Touched(t *TableEpoch) View {
	v := View{Quiet: true}
	v.add(&f.All)
	v.add(&t.Touched)
	return v
}

// Definition returns the view of a table's definition.
func (f *Fence[F]) Definition(t *TableEpoch) View {
	v := View{Quiet: true}
	v.add(&t.Defined)
	return v
}

// Begin counts a write to a key. The caller holds the group's lock.
func (s *Slot) Begin() {
	s.writing++
	s.count++
}

func (s *Slot) End(settled int64) {
	s.settled = max(s.settled, settled)
	s.writing--
}
