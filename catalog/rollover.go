// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/shard"
)

// Rollovers is the directory for tables of strategy rollover, which all doors share. It has a log
// for each table, and counts.
//
// The log has two entries for each shard of a logical partition after shard 1. The first one
// announces the shard, with its opening (shard.Opening): from then on readers visit the shard. The
// second one marks it open: when every door knows of the shard, the door that announced it lets
// the doors write there. A shard to which cells of any time are copied (shard.Always) has in its second entry
// from which time on clients' cells go there. Entries are numbered from 0 without gaps, and are never changed. So a door
// reads only the entries that it has not read yet, and a missing entry is noticed.
//
// The counts say how much each door has written to the shards of a key. A door reads those of one
// key when it looks at that key.
//
// All requests are at QUORUM.
type Rollovers struct {
	session Session
	door    [16]byte // names this run of the door
	part    int      // how many entries of a log are in one partition
}

// NewRollovers returns the directory, for a door that names itself in it. Create makes its tables
// together with the first table of strategy rollover.
func NewRollovers(s Session, door [16]byte) *Rollovers { return &Rollovers{s, door, logPart} }

// rolloverTables create the directory's tables. A partition of the log has logPart entries of one
// sharded table. A count expires, because nothing deletes it when its table is dropped.
var rolloverTables = []string{
	"CREATE TABLE IF NOT EXISTS evenkeel.rollovers (table_id uuid, part int, entry int, partition_key blob, shard int, opening bigint, PRIMARY KEY ((table_id, part), entry))",
	"CREATE TABLE IF NOT EXISTS evenkeel.rollover_counts (table_id uuid, partition_key blob, shard int, door uuid, rows bigint, bytes bigint, " +
		"PRIMARY KEY ((table_id, partition_key), shard, door)) WITH default_time_to_live = 7776000",
}

// logPart is how many entries of a log are in one partition.
const logPart = 10_000

// Rollover is one entry of a log.
type Rollover struct {
	Key   []byte // serialized partition key
	Shard int
	From  *int64 // the opening; in the second entry nil, or the time from which clients' cells go there
}

// Read returns the entries of a table's log from entry next on, up to the end of one partition of
// the log. It returns none if there are no more.
func (d *Rollovers) Read(ctx context.Context, table [16]byte, next int) ([]Rollover, error) {
	rows, err := d.session.Query(ctx, wire.Quorum, "SELECT entry, partition_key, shard, opening FROM evenkeel.rollovers WHERE table_id = ? AND part = ? AND entry >= ?",
		table[:], integer(next/d.part), integer(next))
	if err != nil {
		return nil, wrap("read the directory of rollovers", err)
	}
	out := make([]Rollover, len(rows))
	for i, r := range rows {
		n := r.Int("shard")
		if r.Int("entry") != int64(next+i) || n < 2 || n > shard.MaxShards {
			return nil, fmt.Errorf("read the directory of rollovers: entry %d of shard %d is where entry %d should be", r.Int("entry"), n, next+i)
		}
		out[i] = Rollover{Key: r["partition_key"], Shard: int(n)}
		if b := r["opening"]; len(b) == 8 {
			from := int64(binary.BigEndian.Uint64(b))
			out[i].From = &from
		}
	}
	return out, nil
}

// Append appends r to a table's log as entry number next. The caller has read all entries before it.
// If another door has appended that entry meanwhile, Append does nothing and returns false. After an
// error the entry may have been appended or not.
func (d *Rollovers) Append(ctx context.Context, table [16]byte, next int, r Rollover) (bool, error) {
	var from []byte
	if r.From != nil {
		from = bigint(*r.From)
	}
	result, err := d.session.Query(ctx, wire.Quorum, "INSERT INTO evenkeel.rollovers (table_id, part, entry, partition_key, shard, opening) VALUES (?, ?, ?, ?, ?, ?) IF NOT EXISTS",
		table[:], integer(next/d.part), integer(next), r.Key, integer(r.Shard), from)
	return len(result) > 0 && result[0].Bool("[applied]"), wrap("write the directory of rollovers", err)
}

// Count is how much one door has written to a shard of a key.
type Count struct {
	Shard       int
	Own         bool // it is this door
	Rows, Bytes int64
}

// Counts returns how many rows and bytes each door has written to the shards of a key.
func (d *Rollovers) Counts(ctx context.Context, table [16]byte, key []byte) ([]Count, error) {
	rows, err := d.session.Query(ctx, wire.Quorum, "SELECT shard, door, rows, bytes FROM evenkeel.rollover_counts WHERE table_id = ? AND partition_key = ?", table[:], key)
	if err != nil {
		return nil, wrap("read the directory of rollovers", err)
	}
	out := make([]Count, len(rows))
	for i, r := range rows {
		out[i] = Count{Shard: int(r.Int("shard")), Own: string(r["door"]) == string(d.door[:]), Rows: r.Int("rows"), Bytes: r.Int("bytes")}
	}
	return out, nil
}

// Share says how much this door has written to a shard of a key.
func (d *Rollovers) Share(ctx context.Context, table [16]byte, key []byte, n int, rows, bytes int64) error {
	_, err := d.session.Query(ctx, wire.Quorum, "INSERT INTO evenkeel.rollover_counts (table_id, partition_key, shard, door, rows, bytes) VALUES (?, ?, ?, ?, ?, ?)",
		table[:], key, integer(n), d.door[:], bigint(rows), bigint(bytes))
	return wrap("write the directory of rollovers", err)
}

// Forget deletes the log of a table that was dropped, if it has one.
func (d *Rollovers) Forget(ctx context.Context, table [16]byte) error {
	for part := 0; ; part++ {
		rows, err := d.session.Query(ctx, wire.Quorum, "SELECT entry FROM evenkeel.rollovers WHERE table_id = ? AND part = ? LIMIT 1", table[:], integer(part))
		if none := (*wire.Error)(nil); errors.As(err, &none) && none.Code == wire.CodeInvalid {
			return nil // the store has no such directory
		}
		if err != nil || len(rows) == 0 {
			return wrap("read the directory of rollovers", err)
		}
		if _, err := d.session.Query(ctx, wire.Quorum, "DELETE FROM evenkeel.rollovers WHERE table_id = ? AND part = ?", table[:], integer(part)); err != nil {
			return wrap("write the directory of rollovers", err)
		}
	}
}

func integer(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
