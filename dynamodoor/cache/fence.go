package cache

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

// fence counts the writes that begin, and those that are under way, by what they are to.
type fence struct {
	seed   maphash.Seed
	all    epoch // writes that may be to anything
	tables [tableEpochs]tableEpoch
	slots  []slot // each in the group of its number
	groups [groups]group
}

// Numbers of what several keys or tables share by their hashes. Powers of two.
const (
	groups      = 256
	tableEpochs = 256
	minSlots    = 1 << 12
	maxSlots    = 1 << 20
)

// epoch counts writes.
type epoch struct {
	count   atomic.Uint64 // that have begun
	writing atomic.Int64  // that are under way
	settled atomic.Int64  // when reads have them all, Unix nanoseconds
}

// begin says that a write is under way before it counts it: who loads the count and
// then sees that none is under way either has it in the count, and it has ended, or
// finds a greater count afterwards.
func (e *epoch) begin() {
	e.writing.Add(1)
	e.count.Add(1)
}

func (e *epoch) end(settled int64) {
	raise(&e.settled, settled)
	e.writing.Add(-1)
}

// raise sets v to at least n.
func raise(v *atomic.Int64, n int64) {
	for old := v.Load(); old < n && !v.CompareAndSwap(old, n); old = v.Load() {
	}
}

// tableEpoch is the epochs of the tables with one hash.
type tableEpoch struct {
	items   epoch // writes to items whose keys are not known
	defined epoch // changes of the table itself
	touched epoch // writes to any item, and all of the above
}

// slot counts the writes to the keys with one hash. Its group's mu guards it.
type slot struct {
	count   uint32
	writing uint32
	settled int64
}

// group is what guards slots, and the requests under way that may be shared.
type group struct {
	mu      sync.Mutex
	flights map[uint64]*flight
	_       [48]byte // a cache line each
}

// newFence makes a fence for a cache of size bytes, of which its slots take a
// sixteenth.
func newFence(size int64) *fence {
	n := max(minSlots, min(maxSlots, uint64(size)/256))
	f := &fence{seed: maphash.MakeSeed(), slots: make([]slot, 1<<(bits.Len64(n)-1))}
	for i := range f.groups {
		f.groups[i].flights = make(map[uint64]*flight)
	}
	return f
}

func (f *fence) bytes() int64 {
	return int64(unsafe.Sizeof(*f)) + int64(len(f.slots))*int64(unsafe.Sizeof(slot{}))
}

func (f *fence) hash(kind byte, key []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(f.seed)
	h.WriteByte(kind)
	h.Write(key)
	return h.Sum64()
}

func (f *fence) table(name string) *tableEpoch {
	return &f.tables[maphash.String(f.seed, name)%tableEpochs]
}

func (f *fence) group(hash uint64) *group { return &f.groups[hash%groups] }

func (f *fence) slot(hash uint64) *slot { return &f.slots[hash%uint64(len(f.slots))] }

// view is the counts that a read depends on, at one moment. Counts only grow, so
// that their sum is the same only if all of them are.
type view struct {
	count   uint64
	wide    uint64 // of an item: what of the count is its table's
	quiet   bool   // no write was under way
	settled int64  // from when on the store's reads have all writes that were, Unix nanoseconds
	fresh   bool   // it is from then on
}

func (v *view) add(e *epoch) {
	v.count += e.count.Load()
	v.quiet = v.quiet && e.writing.Load() == 0
	v.settled = max(v.settled, e.settled.Load())
}

func (v *view) addSlot(s *slot) {
	v.count += uint64(s.count)
	v.quiet = v.quiet && s.writing == 0
	v.settled = max(v.settled, s.settled)
}

// mayKeep tells whether what is read from v on may be kept, if v holds.
func (v view) mayKeep() bool { return v.quiet && v.fresh }

// holds tells whether nothing has been written from v to now.
func (v view) holds(now view) bool { return v.quiet && now.quiet && v.count == now.count }

// wide is the view of a table as a whole, without its keys.
func (f *fence) wide(t *tableEpoch) view {
	v := view{quiet: true}
	v.add(&f.all)
	v.add(&t.items)
	v.add(&t.defined)
	return v
}

// item is the view of an item. The caller holds its group's mu.
func (f *fence) item(t *tableEpoch, hash uint64) view {
	v := f.wide(t)
	v.wide = v.count
	v.addSlot(f.slot(hash))
	return v
}

// touched is the view of all items of a table.
func (f *fence) touched(t *tableEpoch) view {
	v := view{quiet: true}
	v.add(&f.all)
	v.add(&t.touched)
	return v
}

// definition is the view of a table's definition.
func (f *fence) definition(t *tableEpoch) view {
	v := view{quiet: true}
	v.add(&t.defined)
	return v
}

// begin counts a write to a key. The caller holds the group's mu.
func (s *slot) begin() {
	s.writing++
	s.count++
}

func (s *slot) end(settled int64) {
	s.settled = max(s.settled, settled)
	s.writing--
}
