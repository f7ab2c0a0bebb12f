// SPDX-License-Identifier: Apache-2.0

package rollover

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// Under strategy rollover, each partition key has a current shard. An insert or update goes there, unless it
// must reach all shards of the key (see write.Placer). When a door estimates that the current shard will soon
// be full (fullness.go), it adds the next shard in two steps:
//
//  1. The door announces the shard. It appends an entry with the shard's opening to the directory
//     (catalog.Rollovers). The opening is a time in the future. Every door reads new entries when it
//     renews its lease, so one lease later every door knows the shard. A door that knows the shard
//     reads it. Such a door also sends the shard each deletion whose timestamp is not before the opening.
//  2. The door marks the shard open. It appends a second entry. When the clock of a writing door has passed
//     the opening, the shard is the current one for that door's writes whose timestamp is not before the
//     opening. Writes with an earlier timestamp go to an earlier shard.
//
// A deletion must reach every cell that it deletes. A door that does not know the shard does not send its
// deletions to it. This is safe if all these deletions are older than the opening, because then there is
// nothing in the shard for them to delete. So the opening is the announcing door's clock plus
//
//   - announcing, in which the store must store the announcement,
//   - one lease, after which every door knows the shard (leaseAndDrift),
//   - clockSkew, by which another door's estimate of the store's clock may be ahead (tables.StoreClock), and
//   - AheadOfClock, by which a deletion's timestamp may be ahead of that estimate.
//
// If the store takes longer than announcing, the opening is too early. The door then never opens that
// shard, and announces another one.
//
// If a table with rows gets strategy rollover, a key begins with several shards. The mover copies cells of any
// time to them. It announces and opens these shards (first.go) while there are no cells in them.
//
// A plan.Table holds a snapshot of the directory. When the directory changes, the door publishes a new
// State. If a request was planned on the old State and may have missed a shard, the door repeats it after the
// answer (package request). The door does not repeat other requests. So a new shard of one key does not disturb
// requests on other keys.

const (
	// announcing is how long the store may take to store an announcement.
	announcing = time.Second

	// clockSkew is the largest difference between two doors' estimates of the store's time.
	clockSkew = time.Second

	// openingMargin is the first value of Rollovers.Margin.
	openingMargin = 20 * time.Millisecond
)

// Rollovers announces and opens the shards of tables of strategy rollover.
type Rollovers struct {
	x         *tables.Schemas
	Catalogue *catalog.Rollovers
	Fills     Fills
	wake      chan struct{} // wakes Run: due has a new element

	Announcing   time.Duration // these three have the values of the constants; tests change them
	AheadOfClock time.Duration
	ClockSkew    time.Duration

	Margin atomic.Int64 // nanoseconds by which an opening is ahead of the clock if there is no other door

	reading sync.Mutex            // locked after tables.Schemas.refreshes and before mu
	logs    map[[16]byte]*readLog // by the physical table's id; guarded by reading

	mu        sync.Mutex
	due       []*fill                    // the fills that Run must look at
	announced map[KeyShard]*announcement // the shards that this door has announced and not opened yet
	closed    map[KeyShard]time.Time     // when this door read the announcement of a shard that no door has opened

	loggedFull sync.Map // physical table's id: this door has logged that a key of the table may have no further shard
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
	stored  time.Time // when the store answered that it has stored the announcement
	safe    bool      // all deletions that do not reach the shard are older than the opening
	inState bool      // this door's State has the shard
}

// New returns the Rollovers of a door. They serve the tables in x.
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

// AheadOfClock is how far the timestamp of a deletion may be ahead of the door's estimate of the store's time.
const AheadOfClock = 2 * time.Second
