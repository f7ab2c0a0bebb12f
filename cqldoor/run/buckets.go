// SPDX-License-Identifier: Apache-2.0

package run

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
	"github.com/evenkeel/evenkeel/registry"
)

// For a table of strategy time, the directory (catalog.Buckets) lists the buckets of each logical
// partition. Before the door sends the first row of a bucket, it adds the bucket to the
// directory. Then it repeats in that bucket the recorded deletions that apply to all buckets. The
// door does this once for each bucket and remembers it. Reads ask the directory each time,
// because other doors add buckets too. A read of only a few buckets does not need the directory.

// buckets is a door's access to the directory.
type buckets struct {
	catalogue *catalog.Buckets
	applier   *applier // applies recorded deletions to a bucket that is being added
	uuid      func() [16]byte
	known     registry.Recent // buckets that this door has added
}

// directory is the directory as one request reads it.
type directory struct {
	ctx context.Context
	of  *buckets
}

var _ plan.Directory = directory{}

// directory returns the directory for a request.
func (x *buckets) directory(ctx context.Context) plan.Directory { return directory{ctx, x} }

// Buckets implements plan.Directory.
func (d directory) Buckets(t *plan.Table, key [][]byte, from, to int64, down bool, limit int) ([]int64, error) {
	return d.of.catalogue.List(d.ctx, t.ID, plan.AppendKey(nil, key), from, to, down, limit)
}

// bucketName appends a name for a bucket of a logical partition.
func bucketName(dst []byte, t *plan.Table, key [][]byte, bucket int64) []byte {
	dst = append(dst, t.ID[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(bucket))
	return plan.AppendKey(dst, key)
}

// announce adds the bucket of a shard to the directory before a row is sent there.
func (x *buckets) announce(ctx context.Context, req *cqldoor.Request, t *plan.Table, key [][]byte, shard int) error {
	var scratch [128]byte
	bucket := t.BucketOf(shard)
	if floor := t.Layout.Floor; floor != 0 && bucket < floor && rule.On(rule.NothingBelowFloor) {
		return errBelow(t)
	}
	name := bucketName(scratch[:0], t, key, bucket)
	if x.known.Has(name) {
		return nil
	}
	// The door's own account writes the directory, so the client's rights are checked first.
	if e, ok := req.Link.(*coordinator); ok {
		if err := e.ask(ctx, req.Version, false); err != nil {
			return err
		}
	}
	id, at := t.ID, name[len(t.ID)+8:]
	if err := x.catalogue.Add(ctx, id, at, bucket); err != nil {
		return err
	}
	deletions, err := x.catalogue.Deletions(ctx, id, at)
	if err != nil {
		return err
	}
	if !rule.On(rule.DeletionsRepeated) {
		deletions = nil
	}
	for _, d := range deletions {
		if err := x.repeat(ctx, req, t, key, bucket, d); err != nil {
			return err
		}
	}
	x.known.Add(name)
	return nil
}

// repeat applies a deletion of all buckets to a bucket that is being added.
func (x *buckets) repeat(ctx context.Context, req *cqldoor.Request, t *plan.Table, key [][]byte, bucket int64, d catalog.BucketDeletion) error {
	s, err := plan.DecodeSlice(d.Slice)
	if err != nil {
		return err
	}
	ms, err := t.DeleteIn(key, s, bucket)
	if err != nil {
		return err
	}
	p := wire.Params{Consistency: wire.Quorum}
	p.SetDefaultTimestamp(d.Stamp)
	return x.applier.applyEach(ctx, req, plan.Listed(ms), &p)
}

// errUnannounced says that a write cannot be passed on before its bucket is announced.
var errUnannounced = errors.New("run: the bucket is not announced")

// announced says whether the bucket of a shard has been announced, so that rows may be sent
// there.
func (x *buckets) announced(scratch []byte, t *plan.Table, key [][]byte, shard int) bool {
	bucket := t.BucketOf(shard)
	if floor := t.Layout.Floor; floor != 0 && bucket < floor {
		return false
	}
	return x.known.Has(bucketName(scratch, t, key, bucket))
}

// expires says whether a write has a TTL that checkKeep must check.
func expires(w *plan.Write) bool {
	return announces(w) && w.Table.Layout.Keep > 0 && w.Logical.TTL != nil
}

// announceAll announces the buckets of a statement's writes, if the statement adds rows.
func (x *buckets) announceAll(ctx context.Context, req *cqldoor.Request, w *plan.Write, ms []plan.Mutation) error {
	if !announces(w) {
		return nil
	}
	for i := range ms {
		if err := x.announce(ctx, req, w.Table, ms[i].Key, ms[i].Shard); err != nil {
			return err
		}
	}
	return nil
}

// announces says whether a write can put a row into a bucket.
func announces(w *plan.Write) bool {
	return w != nil && w.Table.Timed() && w.Logical.Kind != analysis.Delete && rule.On(rule.BucketsAnnounced)
}

// record records a deletion of many buckets. Buckets that are added later need it too.
func (x *buckets) record(ctx context.Context, req *cqldoor.Request, w *plan.Write, b *analysis.BoundWrite, params *wire.Params) error {
	wide := w.Wide(b)
	if len(wide) == 0 {
		return nil
	}
	if e, ok := req.Link.(*coordinator); ok {
		if err := e.ask(ctx, req.Version, false); err != nil {
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
			if err := x.catalogue.Record(ctx, w.Table.ID, at, x.uuid(), plan.EncodeSlice(s), stamp, recordedFor(w.Table)); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordedFor returns for how many seconds a deletion is recorded: as long as the store keeps
// tombstones of the table, but at least an hour.
func recordedFor(t *plan.Table) int {
	grace, ok := t.Options["gc_grace_seconds"].(int)
	if !ok {
		grace = 864_000
	}
	return max(grace, 3600)
}
