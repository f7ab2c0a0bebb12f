// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/items"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	protocol "github.com/evenkeel/evenkeel/dynamodoor/reshard"
	"github.com/evenkeel/evenkeel/dynamodoor/shift"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
	"github.com/evenkeel/evenkeel/reshard"
)

// survey holds the figures of a table that shall get another layout.
type survey struct {
	items, moves          int64
	bytes, bytesMoved     int64
	readUnits, writeUnits api.Units // of the items that move
	again                 bool      // the change surveys the table once more
}

// survey reads all items of a table. It also returns an error if one of them cannot move.
func (r *Mover) survey(ctx context.Context, e *tables.Entry, c *catalog.Change) (s survey, err error) {
	target, err := e.Target(c)
	if err != nil {
		return s, err
	}
	t := &shift.Table{Old: e.Plan, New: e.Plan.To(target), Key: target.Key}
	if c.Key != "" {
		return r.surveyKey(ctx, t)
	}
	s, err = r.surveyAll(ctx, t, func(attribute.Item) error { return nil })
	s.again = t.NeedsRoom()
	return s, err
}

// surveyAll surveys the items of a table. It also returns an error if check does for one of them.
func (r *Mover) surveyAll(ctx context.Context, t *shift.Table, check func(attribute.Item) error) (s survey, err error) {
	var counting sync.Mutex
	scan := func(segment, segments int) *api.Scan {
		return &api.Scan{Read: api.Read{Table: t.Old.Physical, Consistent: true}, Segment: segment, Segments: segments}
	}
	s.items, err = r.Items.EachItem(ctx, t.Old.Logical.Name, "the items of a table that is to have another layout are read", scan, func(_ context.Context, item attribute.Item) error {
		moves, err := t.Room(item)
		if err == nil {
			err = check(item)
		}
		counting.Lock()
		defer counting.Unlock()
		s.add(t.Old, item, moves)
		return err
	})
	return s, err
}

// surveyKey surveys the items of one key.
func (r *Mover) surveyKey(ctx context.Context, t *shift.Table) (s survey, err error) {
	err = r.Items.ShiftStore(new(tables.Pinned), time.Now().Add(items.Patience)).Each(ctx, t, func(item attribute.Item) error {
		moves, err := t.Room(item)
		if !plan.IsStub(item) {
			s.items++
			s.add(t.Old, item, moves)
		}
		return err
	})
	return s, err
}

// add counts an item. An item that moves is read once more by its key. One transaction, which
// counts twice, replaces it by a stub and puts it to its new place. Later its stub is deleted. Each of
// these writes changes an entry of each index that has the item.
func (s *survey) add(t *plan.Table, item attribute.Item, moves bool) {
	size := item.Size()
	s.bytes += int64(size)
	if !moves {
		return
	}
	s.moves++
	s.bytesMoved += int64(size)
	s.readUnits += api.ReadUnits(size, true)
	s.writeUnits += 2*api.WriteUnits(size, size).Transactional() + api.WriteUnits(0, 0)
	for _, n := range t.EntrySizes(item) {
		s.writeUnits += 3 * api.WriteUnits(n, n)
	}
}

// layoutText describes a shape that a number of shards does not, or returns "".
func layoutText(s plan.Shape) string {
	if s.Timed() || s.Rolls() {
		return s.String()
	}
	return ""
}

// passes is the number of times that all items are read: for the survey, to move them, to verify
// that, and to delete the stubs. A table is surveyed twice if its new layout can refuse an item that the old
// one takes.
const passes = 4

// outlook returns the cost of a change.
func (r *Mover) outlook(ctx context.Context, e *tables.Entry, w Wish) (o reshard.Outlook, err error) {
	o = reshard.Outlook{Table: e.Table, To: w.Shards, ToLayout: layoutText(w.Shape), Refused: []string{}, Notes: []string{}}
	if e.Layout != nil {
		is := From(e.Entry, w.key)
		o.From, o.FromLayout = is.Shards, layoutText(is)
	}
	if err := r.CheckChange(ctx, e, w); err != nil {
		o.Refused = append(o.Refused, exception.Of(err).Message)
		return o, nil
	}
	if refilled(From(e.Entry, ""), w.Shape) {
		o.Notes = append(o.Notes, "no item moves: the shards that a key has stay as they are, and the new numbers decide when it gets its next one")
		return o, nil
	}
	s, err := r.survey(ctx, e, w.aim(e.Entry))
	if err != nil {
		if !exception.Is(err, exception.Validation) {
			return o, err
		}
		o.Refused = append(o.Refused, exception.Of(err).Message)
	}
	reads := int64(passes)
	if s.again {
		reads++
	}
	if w.Rolls() { // the mover counts the items of each key, and reads those of large keys again
		reads += 2
	}
	s.onto(&o, reads)
	if e.Plan.Rolls() || w.Rolls() {
		o.Notes = append(o.Notes, "for each partition key, a door writes one more unit, to the directory of shards: the key gets no further shards during the change")
	}
	if w.Timed() {
		o.Notes = append(o.Notes, "for each bucket of time that a key gets, a door writes one more unit, to the directory of buckets")
	}
	return o, nil
}

// onto adds a survey's figures to the outlook of a change.
func (s *survey) onto(o *reshard.Outlook, passes int64) {
	o.Rows, o.RowsMoved, o.BytesMoved = s.items, float64(s.moves), s.bytesMoved
	pages := s.items/moverPage + 1
	o.Requests = 3*s.moves + passes*pages
	o.WriteUnits = s.writeUnits.Float()
	o.ReadUnits = s.readUnits.Float() + float64(passes*(s.bytes/api.ReadUnit+pages))
	o.Notes = append(o.Notes,
		"each item that moves takes one read and a transaction of two writes, which counts twice, and a stub in its old place, which is deleted at the end",
		"in each index that has such an item, these three writes change its entry, and count once more",
		"while it moves, its reads take two requests, or three; Queries are strongly consistent, and ask the new shards, too")
}

// changeStatus returns the progress of the change of a table's layout, or the figures of the last
// one.
func (r *Mover) changeStatus(ctx context.Context, name string) (s reshard.Status, err error) {
	e := r.Tables.Entry(name)
	if e == nil {
		return s, tables.NotThere(name)
	}
	s = reshard.Status{Table: e.Table, Phase: reshard.NoPhase}
	if e.Layout == nil {
		return s, nil
	}
	is := From(e.Entry, "")
	s.Generation, s.From, s.To, s.FromLayout, s.ToLayout = e.Layout.Generation, is.Shards, is.Shards, layoutText(is), layoutText(is)
	p, err := r.Catalog.Progress(ctx, name)
	if err != nil {
		return s, tables.DoorError(err)
	}
	r.sofar(&s, e, p)
	return s, nil
}

// Changes returns the changes of layout that are under way, as this door knows them without asking
// the store, sorted by table. It serves metrics. Only changes that this door carries out have
// figures.
func (r *Mover) Changes() []reshard.Status {
	var all []reshard.Status
	for name, e := range r.Tables.All() {
		if e.Change == nil || e.Layout == nil {
			continue
		}
		s := reshard.Status{Table: e.Table, Generation: e.Layout.Generation}
		kept, _ := r.kept.Load(name)
		p, _ := kept.(catalog.Progress)
		r.sofar(&s, e, p)
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b reshard.Status) int { return strings.Compare(a.Table, b.Table) })
	return all
}

// sofar fills in how far the change of a table has come, or had when it ended.
func (r *Mover) sofar(s *reshard.Status, e *tables.Entry, p catalog.Progress) {
	if p.ID == e.ID { // otherwise it belongs to an earlier table of that name
		s.RowsToMove, s.RowsTotal, s.RowsMoved, s.RowsVerified = p.Moves, max(p.Items, p.Total), p.Moved, p.Verified
	}
	if e.Change == nil {
		return
	}
	from, to := From(e.Entry, e.Change.Key), Towards(e.Change)
	s.Phase, s.From, s.To, s.Paused = e.Change.Step, from.Shards, to.Shards, e.Change.Paused
	s.FromLayout, s.ToLayout = layoutText(from), layoutText(to)
	s.Key, s.TakenBack = e.Change.Key, e.Change.Back
	s.Rate, s.ETASeconds = p.Rate, r.left(e, s.RowsTotal, p.Looked, p.Rate)
	if text, ok := r.problems.Load(e.Table); ok {
		s.Problem = text.(string)
	}
}

// left returns the number of seconds that a change still takes at a rate of items a second, or 0 if
// that is unknown.
func (r *Mover) left(e *tables.Entry, items, looked, rate int64) int64 {
	if rate <= 0 {
		return 0
	}
	caution := int64(r.Caution / time.Second)
	if e.Change.Hurry {
		caution = 0
	}
	switch e.Change.Step {
	case catalog.Preparing:
		return 3*items/rate + caution + 1
	case catalog.Dropping, catalog.Leaving:
		return 1
	}
	switch e.Shift.Step {
	case protocol.Moving:
		return max(0, 3*items-looked)/rate + caution + 1
	case protocol.Closing:
		return max(0, 2*items-looked)/rate + caution + 1
	case protocol.Settled:
		return items/rate + caution + 1
	case protocol.Cleaning:
		return max(0, items-looked)/rate + 1
	}
	return 3*items/rate + caution + 1
}
