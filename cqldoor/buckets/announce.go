// SPDX-License-Identifier: Apache-2.0

package buckets

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/cqldoor/internal/rule"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/registry"
)

// For a table of strategy time, the directory (catalog.Buckets) lists the buckets of each logical
// partition. Before a door sends its first row to a bucket, it adds the bucket to the directory.
// Then it repeats in that bucket the recorded deletions that apply to all buckets. The door remembers
// the buckets that it has added lately, and does not add these again. Reads ask the directory each
// time, because other doors add buckets too. A read of only a few buckets does not need the directory.

// Buckets is a door's access to the directory.
type Buckets struct {
	Catalogue *catalog.Buckets
	Session   catalog.Session // applies recorded deletions to a bucket that is added for a row that moves
	Applier   Applier         // applies recorded deletions to a bucket that is added for a client's row
	UUID      func() [16]byte
	Known     registry.Recent // buckets that this door has added lately
	Latest    Latest
}

// Applier sends physical writes over a client's link, and waits until the store has executed them.
type Applier interface {
	ApplyEach(ctx context.Context, req *cqldoor.Request, ms plan.Mutations, params *wire.Params) error
}

// directory implements plan.Directory for one request.
type directory struct {
	ctx context.Context
	of  *Buckets
}

var _ plan.Directory = directory{}

// Directory returns the directory for a request.
func (x *Buckets) Directory(ctx context.Context) plan.Directory { return directory{ctx, x} }

// Buckets implements plan.Directory.
func (d directory) Buckets(t *plan.Table, key [][]byte, from, to int64, down bool, limit int) ([]int64, error) {
	return d.of.Catalogue.List(d.ctx, t.PhysicalID(), plan.AppendKey(nil, key), from, to, down, limit)
}

// BucketName appends a name for a bucket of a logical partition.
func BucketName(dst []byte, t *plan.Table, key [][]byte, bucket int64) []byte {
	id := t.PhysicalID()
	dst = append(dst, id[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(bucket))
	return plan.AppendKey(dst, key)
}

// Announce adds the bucket of a shard to the directory. The caller sends a client's row to the shard
// afterwards. Announce returns an error if the bucket was dropped.
func (x *Buckets) Announce(ctx context.Context, req *cqldoor.Request, t *plan.Table, key [][]byte, shard int) error {
	if known, err := x.knows(t, key, shard); known || err != nil {
		return err
	}
	// The door writes the directory with its own account, so it checks the client's rights first.
	if e, ok := req.Link.(*request.Coordinator); ok {
		if err := e.Ask(ctx, req.Version, false); err != nil {
			return err
		}
	}
	return x.add(ctx, t, key, t.BucketOf(shard), func(ms []plan.Mutation, stamp int64) error {
		p := wire.Params{Consistency: wire.Quorum}
		p.SetDefaultTimestamp(stamp)
		return x.Applier.ApplyEach(ctx, req, plan.Listed(ms), &p)
	})
}

// AnnounceMoved works as Announce does, for a row that is moved. The door sends all requests with its own
// account.
func (x *Buckets) AnnounceMoved(ctx context.Context, t *plan.Table, key [][]byte, shard int) error {
	if !t.Timed() || !rule.On(rule.BucketsAnnounced) {
		return nil
	}
	if known, err := x.knows(t, key, shard); known || err != nil {
		return err
	}
	return x.add(ctx, t, key, t.BucketOf(shard), func(ms []plan.Mutation, _ int64) error {
		for i := range ms {
			if _, err := x.Session.Query(ctx, wire.Quorum, ms[i].Statement.Text, request.BytesOf(ms[i].Values)...); err != nil {
				return err
			}
		}
		return nil
	})
}

// knows reports whether this door has added the bucket of a shard lately. It returns an error for a
// bucket that was dropped.
func (x *Buckets) knows(t *plan.Table, key [][]byte, shard int) (bool, error) {
	var scratch [128]byte
	bucket := t.BucketOf(shard)
	if floor := t.Layout.Floor; floor != 0 && bucket < floor && rule.On(rule.NothingBelowFloor) {
		return false, errBelow(t)
	}
	return x.Known.Has(BucketName(scratch[:0], t, key, bucket)), nil
}

// add adds a bucket to the directory. Then it repeats in the bucket, with send, the recorded deletions
// that apply to all buckets.
func (x *Buckets) add(ctx context.Context, t *plan.Table, key [][]byte, bucket int64, send func(ms []plan.Mutation, stamp int64) error) error {
	id, at := t.PhysicalID(), plan.AppendKey(nil, key)
	if err := x.Catalogue.Add(ctx, id, at, bucket); err != nil {
		return err
	}
	deletions, err := x.Catalogue.Deletions(ctx, id, at)
	if err != nil {
		return err
	}
	if !rule.On(rule.DeletionsRepeated) {
		deletions = nil
	}
	for _, d := range deletions {
		s, err := plan.DecodeSlice(d.Slice)
		if err != nil {
			return err
		}
		ms, err := t.DeleteIn(key, s, bucket, d.Stamp)
		if err == nil {
			err = send(ms, d.Stamp)
		}
		if err != nil {
			return err
		}
	}
	x.Known.Add(BucketName(nil, t, key, bucket))
	return nil
}

// ErrUnannounced means that the door must announce the bucket of a write before it passes the write on.
var ErrUnannounced = errors.New("buckets: the bucket is not announced")

// Announced reports whether this door has announced the bucket of a shard, so that it may send rows
// there. scratch is memory for the bucket's name.
func (x *Buckets) Announced(scratch []byte, t *plan.Table, key [][]byte, shard int) bool {
	bucket := t.BucketOf(shard)
	if floor := t.Layout.Floor; floor != 0 && bucket < floor {
		return false
	}
	return x.Known.Has(BucketName(scratch, t, key, bucket))
}

// Expires reports whether a write has a TTL that CheckKeep must check.
func Expires(w *plan.Write) bool {
	return Announces(w) && w.Table.Layout.Keep > 0 && w.Logical.TTL != nil
}

// AnnounceAll announces the buckets of a statement's physical writes, if the statement can add rows.
func (x *Buckets) AnnounceAll(ctx context.Context, req *cqldoor.Request, w *plan.Write, ms []plan.Mutation) error {
	if !Announces(w) {
		return nil
	}
	for i := range ms {
		if err := x.Announce(ctx, req, w.Table, ms[i].Key, ms[i].Shard); err != nil {
			return err
		}
	}
	return nil
}

// Announces reports whether a write can put a row into a bucket.
func Announces(w *plan.Write) bool {
	return w != nil && w.Table.Timed() && w.Logical.Kind != analysis.Delete && rule.On(rule.BucketsAnnounced)
}

// Record records a deletion of many buckets in the directory. A door that adds a bucket later repeats
// the deletion there.
func (x *Buckets) Record(ctx context.Context, req *cqldoor.Request, w *plan.Write, b *analysis.BoundWrite, params *wire.Params) error {
	wide := w.Wide(b)
	if len(wide) == 0 {
		return nil
	}
	if e, ok := req.Link.(*request.Coordinator); ok {
		if err := e.Ask(ctx, req.Version, false); err != nil {
			return err
		}
	}
	stamp := b.Timestamp
	if stamp == nil && params.Has(wire.QueryDefaultTimestamp) {
		stamp = &params.DefaultTimestamp
	}
	for _, key := range b.Keys.All() {
		at := plan.AppendKey(nil, key)
		for _, s := range wide {
			if err := x.Catalogue.Record(ctx, w.Table.PhysicalID(), at, x.UUID(), plan.EncodeSlice(s), stamp, recordedFor(w.Table)); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordedFor returns how many seconds the directory keeps a deletion: as long as the store keeps
// tombstones of the table, but at least an hour.
func recordedFor(t *plan.Table) int {
	grace, ok := t.Options["gc_grace_seconds"].(int)
	if !ok {
		grace = 864_000
	}
	return max(grace, 3600)
}
