// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/shard"
)

// Rollovers is the directory for tables of strategy rollover. It lists the shards of each logical
// partition that has more than shard 1. All doors share it.
//
// A shard has a row that announces it, with its opening (shard.Opening): from then on readers visit
// the shard. Of several doors that announce it at the same time one succeeds. When every door knows
// of the shard, the door that announced it marks it open, and doors may write to it. A shard also
// has one row for each door that says how much the door has written to it.
//
// A key has few rows, and most keys have none, so doors hold the whole directory of a table.
// All requests are at QUORUM.
type Rollovers struct {
	session Session
	door    [16]byte // names this run of the door
}

// NewRollovers returns the directory, for a door that names itself in it. Create makes its table
// together with the first table of strategy rollover.
func NewRollovers(s Session, door [16]byte) *Rollovers { return &Rollovers{s, door} }

// rolloverTable creates the directory's table. A partition of it is of one sharded table.
const rolloverTable = "CREATE TABLE IF NOT EXISTS evenkeel.rollovers (table_id uuid, partition_key blob, shard int, door uuid, opening bigint, open boolean, rows bigint, bytes bigint, " +
	"PRIMARY KEY (table_id, partition_key, shard, door))"

// ensureRollovers creates the directory's table if it does not exist.
func (c *Catalog) ensureRollovers(ctx context.Context) error {
	if _, err := c.opts.Session.Query(ctx, wire.LocalQuorum, rolloverTable); err != nil {
		return wrap("create the directory of rollovers", err)
	}
	c.Agree(ctx)
	d := NewRollovers(c.opts.Session, [16]byte{})
	return c.ready(ctx, func() error {
		_, err := d.Read(ctx, [16]byte{})
		return err
	})
}

// Rollover is one row of the directory.
type Rollover struct {
	Key     []byte // serialized partition key
	Shard   int
	Own     bool           // this door wrote the row
	Opening *shard.Opening // nil: the row does not announce the shard

	Rows, Bytes int64 // written by the row's door
}

// Read returns the directory of a table.
func (d *Rollovers) Read(ctx context.Context, table [16]byte) ([]Rollover, error) {
	rows, err := d.session.Query(ctx, wire.Quorum, "SELECT partition_key, shard, door, opening, open, rows, bytes FROM evenkeel.rollovers WHERE table_id = ?", table[:])
	if err != nil {
		return nil, wrap("read the directory of rollovers", err)
	}
	out := make([]Rollover, len(rows))
	for i, r := range rows {
		n := r.Int("shard")
		if n < 1 || n > shard.MaxShards {
			return nil, fmt.Errorf("read the directory of rollovers: shard %d", n)
		}
		out[i] = Rollover{Key: r["partition_key"], Shard: int(n), Own: string(r["door"]) == string(d.door[:]), Rows: r.Int("rows"), Bytes: r.Int("bytes")}
		if b := r["opening"]; len(b) == 8 {
			out[i].Opening = &shard.Opening{From: int64(binary.BigEndian.Uint64(b)), Open: r.Bool("open")}
		}
	}
	return out, nil
}

// Share says how much this door has written to a shard of a key.
func (d *Rollovers) Share(ctx context.Context, table [16]byte, key []byte, n int, rows, bytes int64) error {
	_, err := d.session.Query(ctx, wire.Quorum, "INSERT INTO evenkeel.rollovers (table_id, partition_key, shard, door, rows, bytes) VALUES (?, ?, ?, ?, ?, ?)",
		table[:], key, binary.BigEndian.AppendUint32(nil, uint32(n)), d.door[:], bigint(rows), bigint(bytes))
	return wrap("write the directory of rollovers", err)
}

// Announce announces shard n of a key, with its opening, and says how much this door has written
// to shard at. It returns false, and does neither, if the shard is announced already.
func (d *Rollovers) Announce(ctx context.Context, table [16]byte, key []byte, n int, from int64, at int, rows, bytes int64) (bool, error) {
	result, err := d.session.Query(ctx, wire.Quorum, "BEGIN BATCH "+
		"INSERT INTO evenkeel.rollovers (table_id, partition_key, shard, door, opening) VALUES (?, ?, ?, ?, ?) IF NOT EXISTS; "+
		"INSERT INTO evenkeel.rollovers (table_id, partition_key, shard, door, rows, bytes) VALUES (?, ?, ?, ?, ?, ?); APPLY BATCH",
		table[:], key, binary.BigEndian.AppendUint32(nil, uint32(n)), announcer[:], bigint(from),
		table[:], key, binary.BigEndian.AppendUint32(nil, uint32(at)), d.door[:], bigint(rows), bigint(bytes))
	return len(result) > 0 && result[0].Bool("[applied]"), wrap("write the directory of rollovers", err)
}

// Open marks a shard open that this door has announced.
func (d *Rollovers) Open(ctx context.Context, table [16]byte, key []byte, n int) error {
	_, err := d.session.Query(ctx, wire.Quorum, "INSERT INTO evenkeel.rollovers (table_id, partition_key, shard, door, open) VALUES (?, ?, ?, ?, true)",
		table[:], key, binary.BigEndian.AppendUint32(nil, uint32(n)), announcer[:])
	return wrap("write the directory of rollovers", err)
}

// Forget deletes the directory of a table that was dropped.
func (d *Rollovers) Forget(ctx context.Context, table [16]byte) error {
	_, err := d.session.Query(ctx, wire.Quorum, "DELETE FROM evenkeel.rollovers WHERE table_id = ?", table[:])
	return wrap("write the directory of rollovers", err)
}

// announcer stands in place of a door in the rows that announce shards.
var announcer [16]byte
