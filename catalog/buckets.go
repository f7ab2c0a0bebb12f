// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// Buckets is the directory for tables of strategy time. It lists the buckets of each logical
// partition, and the deletions that apply to all buckets of the partition. All doors share it.
//
// A door adds a bucket to the directory before it sends the bucket's first row. Then it reads
// which deletions the bucket must have too. A door that deletes a range of many buckets records
// the deletion. Then it reads which buckets exist. All requests are at QUORUM. So either the
// second door sees the bucket, or the first door sees the deletion.
type Buckets struct {
	session Session
}

// NewBuckets returns the directory. Create makes its tables together with the first table of
// strategy time.
func NewBuckets(s Session) *Buckets { return &Buckets{s} }

// bucketTables creates the directory's tables. A partition of them holds one logical partition of
// a table.
var bucketTables = []string{
	"CREATE TABLE IF NOT EXISTS evenkeel.buckets (table_id uuid, partition_key blob, bucket bigint, PRIMARY KEY ((table_id, partition_key), bucket))",
	"CREATE TABLE IF NOT EXISTS evenkeel.bucket_deletions (table_id uuid, partition_key blob, id uuid, slice blob, stamp bigint, PRIMARY KEY ((table_id, partition_key), id))",
}

const whereBuckets = " WHERE table_id = ? AND partition_key = ?"

// List returns at most limit buckets of a partition, from bucket from up to bucket to, both
// included. It returns the first ones in ascending order, or, if down is set, the last ones in
// descending order.
func (b *Buckets) List(ctx context.Context, table [16]byte, key []byte, from, to int64, down bool, limit int) ([]int64, error) {
	cql := "SELECT bucket FROM evenkeel.buckets" + whereBuckets + " AND bucket >= ? AND bucket <= ?"
	if down {
		cql += " ORDER BY bucket DESC"
	}
	rows, err := b.session.Query(ctx, wire.Quorum, cql+" LIMIT "+strconv.Itoa(limit), table[:], key, bigint(from), bigint(to))
	if err != nil {
		return nil, wrap("read the directory of buckets", err)
	}
	out := make([]int64, len(rows))
	for i, r := range rows {
		if len(r["bucket"]) != 8 {
			return nil, fmt.Errorf("read the directory of buckets: a bucket of %d bytes", len(r["bucket"]))
		}
		out[i] = int64(binary.BigEndian.Uint64(r["bucket"]))
	}
	return out, nil
}

// Add adds a bucket of a partition.
func (b *Buckets) Add(ctx context.Context, table [16]byte, key []byte, bucket int64) error {
	_, err := b.session.Query(ctx, wire.Quorum, "INSERT INTO evenkeel.buckets (table_id, partition_key, bucket) VALUES (?, ?, ?)", table[:], key, bigint(bucket))
	return wrap("write the directory of buckets", err)
}

// BucketDeletion is a deletion that must be repeated in buckets which are added later.
type BucketDeletion struct {
	Slice []byte // encoded by the door that recorded it
	Stamp int64  // microseconds since 1970
}

// Deletions returns the recorded deletions of a partition.
func (b *Buckets) Deletions(ctx context.Context, table [16]byte, key []byte) ([]BucketDeletion, error) {
	rows, err := b.session.Query(ctx, wire.Quorum, "SELECT slice, stamp, writetime(slice) AS written FROM evenkeel.bucket_deletions"+whereBuckets, table[:], key)
	if err != nil {
		return nil, wrap("read the directory of buckets", err)
	}
	var out []BucketDeletion
	for _, r := range rows {
		stamp := r["stamp"]
		if stamp == nil {
			stamp = r["written"]
		}
		if len(stamp) != 8 {
			return nil, fmt.Errorf("read the directory of buckets: a deletion's time has %d bytes", len(stamp))
		}
		out = append(out, BucketDeletion{r["slice"], int64(binary.BigEndian.Uint64(stamp))})
	}
	return out, nil
}

// Record records a deletion for as many seconds as a tombstone is kept. Its time is stamp, or, if
// stamp is nil, the present time of the store's clock.
func (b *Buckets) Record(ctx context.Context, table [16]byte, key []byte, id [16]byte, slice []byte, stamp *int64, seconds int) error {
	var at []byte
	if stamp != nil {
		at = bigint(*stamp)
	}
	_, err := b.session.Query(ctx, wire.Quorum, "INSERT INTO evenkeel.bucket_deletions (table_id, partition_key, id, slice, stamp) VALUES (?, ?, ?, ?, ?) USING TTL "+strconv.Itoa(seconds),
		table[:], key, id[:], slice, at)
	return wrap("write the directory of buckets", err)
}

// Remove removes a dropped bucket of a partition.
func (b *Buckets) Remove(ctx context.Context, table [16]byte, key []byte, bucket int64) error {
	_, err := b.session.Query(ctx, wire.Quorum, "DELETE FROM evenkeel.buckets"+whereBuckets+" AND bucket = ?", table[:], key, bigint(bucket))
	return wrap("write the directory of buckets", err)
}

// Forget removes everything about a physical table that is gone. A store that never had a table of
// strategy time has no directory, and nothing to forget.
func (b *Buckets) Forget(ctx context.Context, table [16]byte) error {
	err := b.EachKey(ctx, table, func(key []byte) error {
		for _, name := range []string{"buckets", "bucket_deletions"} {
			if _, err := b.session.Query(ctx, wire.Quorum, "DELETE FROM evenkeel."+name+whereBuckets, table[:], key); err != nil {
				return wrap("write the directory of buckets", err)
			}
		}
		return nil
	})
	if none := (*wire.Error)(nil); errors.As(err, &none) && none.Code == wire.CodeInvalid {
		return nil
	}
	return err
}

// keysAtOnce is how many partitions of the directory one request reads.
const keysAtOnce = 1000

// EachKey calls f for the partition keys of a table in the directory. It may call f twice for a
// key.
func (b *Buckets) EachKey(ctx context.Context, table [16]byte, f func(key []byte) error) error {
	last, limit := bigint(-1<<63), keysAtOnce
	for {
		rows, err := b.session.Query(ctx, wire.Quorum, "SELECT DISTINCT table_id, partition_key, token(table_id, partition_key) AS at FROM evenkeel.buckets "+
			"WHERE token(table_id, partition_key) >= ? LIMIT "+strconv.Itoa(limit), last)
		if err != nil {
			return wrap("read the directory of buckets", err)
		}
		for _, r := range rows {
			if string(r["table_id"]) != string(table[:]) {
				continue
			}
			if err := f(r["partition_key"]); err != nil {
				return err
			}
		}
		if len(rows) < limit {
			return nil
		}
		next := rows[len(rows)-1]["at"]
		if string(next) == string(last) {
			limit *= 2 // more partitions than that share one token
		}
		last = next
	}
}

func bigint(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
