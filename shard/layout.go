// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"slices"

	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// Strategy is a way to choose the shard of a row.
type Strategy uint8

const (
	Calculated Strategy = iota // by a hash of the By columns
	Random                     // drawn evenly for each write (Drawer)
	Time                       // by the bucket of time of By, and within the bucket by a hash of the whole clustering key
	Rollover                   // the key's current shard: the next one when the present one is full (Rolled)
)

// Anywhere says that any shard of a key can have cells of a row.
func (s Strategy) Anywhere() bool { return s == Random || s == Rollover }

func (s Strategy) String() string {
	switch s {
	case Random:
		return "random"
	case Time:
		return "time"
	case Rollover:
		return "rollover"
	}
	return "calculated"
}

// These are limits and defaults of a layout.
const (
	MaxShards     = 10_000
	DefaultColumn = "shard"
)

// Layout says how a table's logical partitions are spread over physical ones. It is immutable.
//
// The number of shards depends on the key (Spread). It comes from the first of these that exists:
// the key's own entry (Keys), the key's epoch (Epochs), the table's default (N, Base and Rows).
type Layout struct {
	Strategy   Strategy
	By         []string // clustering columns that are hashed; empty: all, in their order; Time: the one column with the time
	Hash       Hash     // Calculated only
	N          int      // default number of shards of a key; Shards or Spread returns a key's number
	Base       int      // by default a key has the places Base+1 to Base+N
	Rows       []RowEpoch
	Epochs     []KeyEpoch // sorted by From
	Column     string     // the additional partition-key column of the physical tables; "": see Plain
	Generation int64      // number of the table's layout; not an option
	Keys       *Keys      // not an option

	// Width is the length of a bucket, and N the number of shards in each. Time only; see Grid.
	Width timebucket.Width

	// Numbers says how a number in By counts the time: in timebucket.Seconds or Milliseconds; 0: By
	// has no numbers. Time only, of DynamoDB tables; it is not an option.
	Numbers timebucket.Kind

	// Keep is how long rows are kept, by the time in By; 0: for ever. Time only.
	Keep timebucket.Width

	// Floor is the first bucket that accepts rows. The buckets before it have been dropped. 0:
	// none has been dropped. It only rises. It is not an option.
	Floor int64

	// Fill says when a shard is full, and Max how many shards a key may have. Rollover only.
	Fill Fill
	Max  int

	// Rolled says how many shards the keys have. Rollover only. It is not an option.
	Rolled *Rolled

	// Drawn is how many shards are drawn for writes under Random: the first ones; 0: all. Readers
	// learn of new shards before anybody writes to them. It is not an option.
	Drawn int

	// Remains says that rows can be in shards where the layout does not put them: copies, and
	// rows that an earlier layout left behind. Readers skip them. It is not an option.
	Remains bool

	// Used is the highest number that a shard ever had, under earlier layouts and under changes
	// that were rolled back; 0: no higher than now. A place is never used twice. It is not an
	// option.
	Used int

	clock clock // column that decides Epochs; see Resolve
}

// Default returns the spread of keys that have no entry and are in no epoch.
func (l *Layout) Default() Spread { return Spread{Range{l.N, l.Base}, l.Rows} }

// Spread returns how the rows of a logical partition are spread. key is its serialized partition
// key.
func (l *Layout) Spread(key []byte) Spread {
	if l.Strategy == Rollover {
		return Spread{Range: Range{N: l.Rolled.Shards(key)}}
	}
	if s, ok := l.Keys.Of(key); ok {
		return s
	}
	if r, ok := l.epochOf(key); ok {
		return Spread{Range: r}
	}
	return l.Default()
}

// Shards returns the number of shards of a logical partition whose rows have no epochs. key is
// its serialized partition key. Spread returns which shards these are.
func (l *Layout) Shards(key []byte) int {
	s := l.Spread(key)
	return s.N
}

// Place returns the shard of a row under Calculated, among the places r. by holds the canonical
// serialized values of the By columns, in their order.
func (l *Layout) Place(r Range, by ...[]byte) int {
	return r.Base + l.Hash.shard(by, r.N)
}

// ShardOf returns the shard of a row under Calculated, if the key's rows have no epochs. key is
// the logical partition key. by holds the canonical serialized values of the By columns, in their
// order.
func (l *Layout) ShardOf(key []byte, by ...[]byte) int {
	s := l.Spread(key)
	return l.Place(s.Range, by...)
}

// HasRowEpochs says whether the shard of a row can also depend on its first clustering column.
func (l *Layout) HasRowEpochs() bool {
	return len(l.Rows) > 0 || l.Keys != nil && l.Keys.rows
}

// Last returns the highest place that any row can be in, now or under an earlier layout.
func (l *Layout) Last() int {
	d := l.Default()
	last := max(l.Used, d.Last(), l.Rolled.last())
	for _, e := range l.Epochs {
		last = max(last, e.Last())
	}
	for _, s := range l.Keys.All() {
		last = max(last, s.Last())
	}
	return last
}

// Equal says whether two layouts put each row in the same shard and use the same column.
func (l *Layout) Equal(m *Layout) bool {
	return l.Strategy == m.Strategy && slices.Equal(l.By, m.By) && l.Hash == m.Hash && l.Default().Equal(m.Default()) &&
		slices.Equal(l.Epochs, m.Epochs) && l.Column == m.Column && l.Width == m.Width && l.Numbers == m.Numbers && l.Keep == m.Keep &&
		l.Fill == m.Fill && l.Max == m.Max && l.Rolled.Equal(m.Rolled) && l.Keys.Equal(m.Keys)
}
