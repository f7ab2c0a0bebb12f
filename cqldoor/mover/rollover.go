// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/shard"
)

// A table gets strategy rollover in a second physical table. Copied cells keep their times, but the further
// shards of a key have openings, and no cells from before. So before it copies a row, the mover gives each
// key its first shards, to which it copies cells of any time (shard.Always):
//
//  1. It surveys how many rows each key has, and announces the shards that they fill. From then on the doors
//     send deletions there, but no other write.
//  2. It publishes a generation, and waits at the barrier. Then no deletion is under way whose door does not
//     know the shards. The shards are still empty, so the deletions before had nothing to delete there.
//  3. It opens the shards, and begins to copy. Clients' cells go there if they are later than the deletions before.
//
// If another mover takes over, it surveys the table anew. It may announce further shards of a key, which the first
// mover's barrier did not wait for. So a mover opens as many shards of a key as it has announced itself.

// Rollovers is the part of the doors' directory of strategy rollover that the mover needs. table is the id of
// a physical table.
type Rollovers interface {
	// Rolled returns the shards that the keys of a table have, as far as this door knows.
	Rolled(table [16]byte) *shard.Rolled
	// Written returns the shards that the keys of a table have. Among them is each shard to which a door can have
	// written before the call.
	Written(ctx context.Context, table [16]byte) (*shard.Rolled, error)
	// Announce announces shards of a key that take copied cells of any time, until the key has n of them.
	Announce(ctx context.Context, table [16]byte, key []byte, n int) error
	// Open opens the first n shards of a key that take copied cells of any time. Every door knows them.
	Open(ctx context.Context, table [16]byte, key []byte, n int) error
}

// anywhere calls f for each physical partition that can have cells of a row at a place of strategy rollover. Other
// doors may open shards meanwhile, and this door may stand still while they do. So anywhere asks which shards
// there are until it learns of no further one.
func (p *pass) anywhere(ctx context.Context, r *row, at place, f func(place) error) error {
	table, key := p.table.of(at.side).PhysicalID(), plan.AppendKey(nil, r.key)
	for seen := 0; ; {
		rolled, err := p.table.rollovers.Written(ctx, table)
		if err != nil {
			return err
		}
		all := rolled.Shards(key)
		if seen == all {
			return nil
		}
		for ; seen < all; seen++ {
			if err := f(place{at.side, seen + 1}); err != nil {
				return err
			}
		}
	}
}

// survey estimates how many shards the rows of each partition key fill, in bounded memory.
type survey struct {
	fill shard.Fill
	most int                // how many keys it remembers
	full map[string]float64 // by serialized key, in shards
}

// surveyedKeys is the largest number of keys that a survey remembers.
const surveyedKeys = 1 << 20

func newSurvey(fill shard.Fill) *survey {
	return &survey{fill: fill, most: surveyedKeys, full: map[string]float64{}}
}

// count counts a row.
func (s *survey) count(r *row) {
	s.add(string(plan.AppendKey(nil, r.key)), s.fill.Part(1, int64(r.size())))
}

// add adds a part of a shard to a key. If there are too many keys, it forgets the emptier half, and takes as
// much from the others as the fullest forgotten key had (Misra and Gries). So no key has too much, and none
// lacks more than 2/most of all that was added.
func (s *survey) add(key string, part float64) {
	s.full[key] += part
	if len(s.full) <= s.most {
		return
	}
	middle := slices.Sorted(maps.Values(s.full))[len(s.full)/2]
	for key, full := range s.full {
		if s.full[key] = full - middle; full <= middle {
			delete(s.full, key)
		}
	}
}

// first says with which shards a partition key begins.
type first struct {
	key    string  // serialized
	shards int     // 1 to the layout's Max
	full   float64 // how full each of them is
}

// worthSharing is the least part of a shard that a survey shares with the doors. It is also their own one.
const worthSharing = 0.1

// firsts returns the shards with which the keys begin, in the order of the keys. It leaves out keys with so
// few rows that they need not be known. A key gets at most so many shards.
func (s *survey) firsts(most int) []first {
	out := []first{}
	for _, key := range slices.Sorted(maps.Keys(s.full)) {
		full := s.full[key]
		n := min(max(1, int(math.Ceil(full))), most)
		if each := full / float64(n); each >= worthSharing {
			out = append(out, first{key, n, each})
		}
	}
	return out
}

// prepare does what comes before the first row is copied. It counts the rows that move. Under a new layout
// of strategy rollover, it gives the keys their first shards. It returns false if the mover must wait at a
// barrier, and then call it again.
func (j *journey) prepare(ctx context.Context, only [][][]byte) (ready bool, err error) {
	p := j.pass(reshard.Wait, only)
	rolls := j.entry.Next.Strategy == shard.Rollover
	switch {
	case rolls && j.firsts != nil:
		return true, j.openFirsts(ctx)
	case rolls:
		p.survey = newSurvey(j.entry.Next.Fill)
	case j.record.Sofar.Total > 0:
		return true, nil
	}
	p.at = func(_ int64, _, _ counts) error { return j.progress(ctx, j.record.Sofar) } // a partial count is not a total
	got, err := p.run(ctx, math.MinInt64, counts{})
	if err != nil {
		return false, err
	}
	j.record.Settled.Total, j.record.Sofar.Total = got.Total, got.Total
	if rolls {
		return false, j.announceFirsts(ctx, p.survey)
	}
	return true, nil
}

// announceFirsts announces the first shards of the surveyed keys, and tells the doors how full they will be.
// If a key has several, it publishes a generation, at whose barrier every door knows them.
func (j *journey) announceFirsts(ctx context.Context, s *survey) error {
	table, to := j.entry.Second.ID, j.entry.Next
	shared := catalog.NewRollovers(j.opts.Session, table) // no door has this name, so that every door counts it
	firsts, several := s.firsts(to.Max), false
	for _, f := range firsts {
		if err := j.progress(ctx, j.record.Sofar); err != nil {
			return err
		}
		if err := j.opts.Rollovers.Announce(ctx, table, []byte(f.key), f.shards); err != nil {
			return err
		}
		rows, bytes := f.full*float64(to.Fill.Rows), f.full*float64(to.Fill.Bytes)
		if err := shared.Share(ctx, table, []byte(f.key), f.shards, int64(rows), int64(bytes)); err != nil {
			return err
		}
		several = several || f.shards > 1
	}
	j.firsts = firsts
	if !several {
		return nil
	}
	return j.publish(ctx, j.entry.Changing(j.entry.Next, *j.entry.Change))
}

// openFirsts opens the shards that announceFirsts has announced. Every door knows them.
func (j *journey) openFirsts(ctx context.Context) error {
	for _, f := range j.firsts {
		if f.shards == 1 {
			continue
		}
		if err := j.progress(ctx, j.record.Sofar); err != nil {
			return err
		}
		if err := j.opts.Rollovers.Open(ctx, j.entry.Second.ID, []byte(f.key), f.shards); err != nil {
			return err
		}
	}
	return nil
}
