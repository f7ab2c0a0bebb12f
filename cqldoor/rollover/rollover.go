// SPDX-License-Identifier: Apache-2.0

package rollover

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// Under strategy rollover, each partition key has a current shard. An insert or update goes there,
// unless it is one that must reach all shards of the key (see write.Placer). When a door estimates that
// the current shard will soon be full (fullness.go), it adds the next shard in two steps:
//
//  1. It announces the shard: it appends an entry with the shard's opening to the directory
//     (catalog.Rollovers). The opening is a time in the future. Every door reads new entries when it
//     renews its lease, so one lease later every door knows the shard. A door that knows the shard
//     reads it, and sends it each deletion whose timestamp is not before the opening.
//  2. It marks the shard open: it appends a second entry. The shard is then the current one for writes
//     whose timestamp is not before the opening, as soon as the writing door's clock has passed the
//     opening. Writes with an earlier timestamp go to an earlier shard.
//
// A deletion must reach every cell that it deletes. Doors that do not know the shard do not send their
// deletions to it. This is safe if all these deletions are older than the opening: they have nothing to
// delete in the shard. So the announcing door adds to its clock
//
//   - announcing, in which the store must have stored the announcement,
//   - one lease, after which every door knows the shard,
//   - clockSkew, by which the store's clock may be ahead as another door knows it (StoreClock), and
//   - AheadOfClock, by which a deletion's timestamp may be ahead of that.
//
// If the store takes longer than announcing, the opening is too early. The door then never opens that
// shard, and announces another one.
//
// If a table with rows gets strategy rollover, a key begins with several shards, to which the mover copies cells
// of any time. The mover announces and opens them (first.go), while there are no cells in them.
//
// A plan.Table holds a snapshot of the directory. When the directory changes, the door publishes a new
// State. After an answer, the door repeats a request that it had planned on the old State, but only if
// the request may have missed a shard (package request). So a new shard of one key does not disturb requests
// on other keys.

const (
	// announcing is how long the store may take to store an announcement.
	announcing = time.Second

	// clockSkew is the largest difference between the store's times as two doors know them.
	clockSkew = time.Second

	// openingMargin is the first value of Rollovers.Margin.
	openingMargin = 20 * time.Millisecond
)

// Rollovers announces and opens shards of tables of strategy rollover.
type Rollovers struct {
	x         *tables.Schemas
	Catalogue *catalog.Rollovers
	Fills     Fills
	wake      chan struct{} // wakes Run: due has a new element

	Announcing   time.Duration // the constants, which tests change
	AheadOfClock time.Duration
	ClockSkew    time.Duration

	Margin atomic.Int64 // nanoseconds: how far an opening is ahead of the clock if there is no other door

	reading sync.Mutex            // locked after tables.Schemas.refreshes and before mu
	logs    map[[16]byte]*readLog // by the physical table's id; guarded by reading

	mu        sync.Mutex
	due       []*fill                    // the fills that Run must look at
	announced map[KeyShard]*announcement // the shards that this door has announced and not opened yet
	closed    map[KeyShard]time.Time     // the shards that any door has announced and none has opened: when this door read the announcement

	loggedFull sync.Map // table ids: this door has logged that a key of the table may have no further shard
	deleted    sync.Map // physical table's id → *atomic.Int64: the latest timestamp of a deletion that this door has sent
}

// KeyShard identifies a shard of a partition key.
type KeyShard struct {
	Table [16]byte
	Key   string // serialized
	Shard int
}

// announcement is an announcement that this door has appended to the directory.
type announcement struct {
	from    int64     // the opening
	stored  time.Time // when the store had stored it
	safe    bool      // deletions that do not reach the shard are older than the opening
	inState bool      // this door's State has the shard
}

// New returns the rollovers of a door, which read the tables in x.
func New(x *tables.Schemas) *Rollovers {
	var door [16]byte
	if uuid := x.Opts.UUID; uuid != nil {
		door = uuid()
	}
	o := &Rollovers{x: x, Catalogue: catalog.NewRollovers(x.Session, door), wake: make(chan struct{}, 1),
		logs: map[[16]byte]*readLog{}, announced: map[KeyShard]*announcement{}, closed: map[KeyShard]time.Time{},
		Announcing: announcing, AheadOfClock: AheadOfClock, ClockSkew: clockSkew}
	o.Margin.Store(int64(openingMargin))
	return o
}

// AheadOfClock is how far the timestamp of a deletion may be ahead of the store's time as the door knows it.
const AheadOfClock = 2 * time.Second
