// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// Change describes how a table's layout is being changed. Entry.Layout holds the old layout. Each
// time a door publishes the change, it raises the generation of that layout.
type Change struct {
	Step   string // name in package reshard
	Shards int    // new number of shards of each key, or of each bucket of time
	Base   int    // the places are Base+1 to Base+Shards, or those of buckets with this base
	Key    string // the one key of the change, as attribute.KeyText writes it; empty: all keys without places of their own
	Plain  bool   // the table shall look plain
	// Bucket is the length of the new buckets of time; 0: there are none. Numbers is what a sort key
	// that is a number counts.
	Bucket  timebucket.Width
	Numbers timebucket.Kind
	Rows    int64 // the number of items that fill a shard under rollover; 0: the new strategy is another one
	Max     int   // the largest number of shards of a key under rollover
	Began   int64 // the layout's generation when the change began
	Back    bool  // it is taken back: when it is done, another change gives the keys their earlier number of shards
	Paused  bool
	Hurry   bool // skip waits that are only for caution
	// Beyond says that the table has indexes or a stream. Doors of release 0.2.0 do not know what to
	// show of these during a change. In the stored form the step then has a name that they do not
	// know, so that they refuse all requests on the table.
	Beyond bool
	// Second is the name of another physical table, if a plain table becomes a sharded one. In step
	// Dropping, it is the first table, which the mover deletes.
	Second   string
	SecondID string // its TableId, from the end of step Preparing on
}

// These are the steps of a change that has a second physical table, before, after and instead of
// those of package reshard. A change to rollover begins with step preparing, too. Doors of earlier releases know neither them nor the layout of a plain
// table, and serve nothing of a table that has one.
const (
	Preparing = "preparing" // all doors learn of the change; the mover makes the second table, and chooses the shards of a rollover
	Dropping  = "dropping"  // all items are in the second table; the mover deletes the first one
	Leaving   = "leaving"   // the change is taken back; the mover deletes the second table
)

// timedPrefix begins the stored name of a step if the old or the new layout has buckets of time, or had
// some before, or if the new one is one of strategy rollover. Doors of release 0.2.0 do not know the name, and serve nothing of the table.
const timedPrefix = "buckets, "

// beyond is the end of the stored name of a step if Change.Beyond is true.
const beyond = "+"

// change is a Change in its stored form.
type change struct {
	M struct {
		Step     text `json:"step"`
		Shards   num  `json:"shards"`
		Paused   bit  `json:"paused"`
		Hurry    bit  `json:"hurry"`
		Base     num  `json:"base"`
		Key      text `json:"key"`
		Plain    bit  `json:"plain"`
		Back     bit  `json:"back"`
		Second   text `json:"second"`
		SecondID text `json:"second_id"`

		Began  *num  `json:"began,omitempty"`
		Rows   *num  `json:"rows,omitempty"`
		Max    *num  `json:"max,omitempty"`
		Bucket *text `json:"bucket,omitempty"`
		Unit   *text `json:"unit,omitempty"`
	}
}

func (i *item) setChange(e *Entry) {
	if e.Floor > 0 {
		n := number(e.Floor)
		i.Floor = &n
	}
	if c := e.Change; c != nil {
		i.Change = new(change)
		step := c.Step
		if c.Beyond {
			step += beyond
		}
		if e.Layout.Strategy == shard.Time || c.Bucket > 0 || c.Rows > 0 || afterBuckets(e.Layout) {
			step = timedPrefix + step
		}
		i.Change.M.Step, i.Change.M.Shards, i.Change.M.Paused, i.Change.M.Hurry = text{step}, number(int64(c.Shards)), bit{c.Paused}, bit{c.Hurry}
		i.Change.M.Base, i.Change.M.Key, i.Change.M.Plain, i.Change.M.Back = number(int64(c.Base)), text{c.Key}, bit{c.Plain}, bit{c.Back}
		i.Change.M.Second, i.Change.M.SecondID = text{c.Second}, text{c.SecondID}
		if c.Began > 0 {
			n := number(c.Began)
			i.Change.M.Began = &n
		}
		if c.Rows > 0 {
			rows, most := number(c.Rows), number(int64(c.Max))
			i.Change.M.Rows, i.Change.M.Max = &rows, &most
		}
		if c.Bucket > 0 {
			i.Change.M.Bucket, i.Change.M.Unit = &text{c.Bucket.String()}, &text{units[c.Numbers]}
		}
	}
}

func (i *item) readChange(e *Entry) (err error) {
	if i.Floor != nil {
		if e.Floor, err = strconv.ParseInt(i.Floor.N, 10, 64); err != nil {
			return fmt.Errorf("the catalogue's entry of %s: floor %q", i.Table.S, i.Floor.N)
		}
	}
	if c := i.Change; c != nil {
		step, marked := strings.CutSuffix(strings.TrimPrefix(c.M.Step.S, timedPrefix), beyond)
		e.Change = &Change{Step: step, Beyond: marked, Paused: c.M.Paused.BOOL, Hurry: c.M.Hurry.BOOL, Key: c.M.Key.S, Plain: c.M.Plain.BOOL, Back: c.M.Back.BOOL, Second: c.M.Second.S, SecondID: c.M.SecondID.S}
		if c.M.Base.N != "" {
			if e.Change.Base, err = strconv.Atoi(c.M.Base.N); err != nil {
				return fmt.Errorf("the catalogue's entry of %s: base %q", i.Table.S, c.M.Base.N)
			}
		}
		if e.Change.Shards, err = strconv.Atoi(c.M.Shards.N); err != nil {
			return fmt.Errorf("the catalogue's entry of %s: shards %q", i.Table.S, c.M.Shards.N)
		}
		if c.M.Began != nil {
			if e.Change.Began, err = strconv.ParseInt(c.M.Began.N, 10, 64); err != nil {
				return fmt.Errorf("the catalogue's entry of %s: a change that began in generation %q", i.Table.S, c.M.Began.N)
			}
		}
		if c.M.Rows != nil && c.M.Max != nil {
			if e.Change.Rows, err = strconv.ParseInt(c.M.Rows.N, 10, 64); err == nil {
				e.Change.Max, err = strconv.Atoi(c.M.Max.N)
			}
			if err != nil {
				return fmt.Errorf("the catalogue's entry of %s: a change to shards of %q items", i.Table.S, c.M.Rows.N)
			}
		}
		if c.M.Bucket != nil && c.M.Unit != nil {
			if e.Change.Bucket, err = timebucket.Parse(c.M.Bucket.S); err == nil {
				e.Change.Numbers, err = unitOf(c.M.Unit.S)
			}
			if err != nil {
				return fmt.Errorf("the catalogue's entry of %s: %w", i.Table.S, err)
			}
		}
	}
	return nil
}

// Progress is the progress of a change's mover. It is an item of its own, because doors compare
// entries to see whether a table has changed.
type Progress struct {
	ID         string // TableId of the table
	Generation int64  // the generation of the layout in the step that Position belongs to
	Position   string // position that the mover's pass over the table has reached
	Items      int64  // items in the table when the change began
	Moves      int64  // items that have another place in the new layout
	Looked     int64  // items read in the pass that Position belongs to
	Total      int64  // items that the pass of step moving has seen
	Moved      int64  // items that the mover has moved; once all are verified, those that requests moved, too
	Arrived    int64  // verified items in their new places
	Verified   int64  // verified items
	Rate       int64  // items read in a second, recently
	Beat       int64  // number of times that Progress was written; it grows while a mover works
}

// progress is a Progress in its stored form.
type progress struct {
	Table      text `json:"table"`
	ID         text `json:"id"`
	Generation num  `json:"generation"`
	Position   text `json:"position"`
	Items      num  `json:"items"`
	Moves      num  `json:"moves"`
	Looked     num  `json:"looked"`
	Rate       num  `json:"rate"`
	Arrived    num  `json:"arrived"`
	Total      num  `json:"total"`
	Moved      num  `json:"moved"`
	Verified   num  `json:"verified"`
	Beat       num  `json:"beat"`
}

// progressKey returns the catalogue's key of a table's progress. No table has such a name.
func progressKey(table string) string { return table + "/change" }

// Progress returns the progress of a table's mover, or a zero Progress if none is stored.
func (c *Catalog) Progress(ctx context.Context, table string) (p Progress, err error) {
	var found struct{ Item *progress }
	err = c.call(ctx, "GetItem", map[string]any{"TableName": Table, "ConsistentRead": true, "Key": map[string]any{"table": text{progressKey(table)}}}, &found)
	if is(err, exception.ResourceNotFound) {
		return p, nil
	}
	if err != nil || found.Item == nil {
		return p, err
	}
	p.ID, p.Position = found.Item.ID.S, found.Item.Position.S
	for to, from := range map[*int64]num{
		&p.Generation: found.Item.Generation, &p.Total: found.Item.Total, &p.Moved: found.Item.Moved, &p.Verified: found.Item.Verified, &p.Beat: found.Item.Beat,
		&p.Items: found.Item.Items, &p.Moves: found.Item.Moves, &p.Looked: found.Item.Looked, &p.Rate: found.Item.Rate, &p.Arrived: found.Item.Arrived,
	} {
		if from.N == "" {
			continue // an earlier version of the door did not write it
		}
		if *to, err = strconv.ParseInt(from.N, 10, 64); err != nil {
			return p, fmt.Errorf("the catalogue's progress of %s: %q", table, from.N)
		}
	}
	return p, nil
}

// KeepProgress stores the progress of a table's mover.
func (c *Catalog) KeepProgress(ctx context.Context, table string, p Progress) error {
	return c.call(ctx, "PutItem", map[string]any{"TableName": Table, "Item": progress{
		Table: text{progressKey(table)}, ID: text{p.ID}, Generation: number(p.Generation), Position: text{p.Position},
		Items: number(p.Items), Moves: number(p.Moves), Looked: number(p.Looked), Rate: number(p.Rate), Arrived: number(p.Arrived),
		Total: number(p.Total), Moved: number(p.Moved), Verified: number(p.Verified), Beat: number(p.Beat),
	}}, nil)
}
