// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/shard"
)

// side is one physical table of a change, with the mover's statements on it.
type side struct {
	physical *schema.Table
	plain    bool // it has no shards: all its rows are in shard.PlainPlace

	name    string
	columns []*schema.Column // the columns besides the key: statics, then regulars
	statics int              // number of static columns

	keys   string // SELECT of the key only, without WHERE
	full   string // SELECT of all columns, without WHERE
	times  string // like full, with the write time of each cell in the place of its value
	row    string // SELECT of one row's regular columns
	rows   string // SELECT of the regular columns of several rows of a partition, clustering columns first; empty: no clustering columns
	spread string // like rows, but for several shards of a key; selects the shard after the clustering columns; empty: no shards, or no clustering columns
	stat   string // SELECT of one partition's static columns
}

func newSide(physical *schema.Table, plain bool) *side {
	s := &side{physical: physical, plain: plain, statics: len(physical.Statics)}
	s.name = string(syntax.AppendName(nil, syntax.Name{Keyspace: physical.Keyspace, Name: physical.Name}))
	s.columns = append(append([]*schema.Column(nil), physical.Statics...), physical.Regulars...)

	key := slices.Concat(physical.PartitionKey, physical.Clustering)
	s.keys = "SELECT " + s.token() + ", " + list(key) + " FROM " + s.name
	s.full = "SELECT " + s.token() + ", " + list(key) + cells(s.columns, false) + " FROM " + s.name
	s.times = "SELECT " + s.token() + ", " + list(key) + cells(s.columns, true) + " FROM " + s.name
	s.row = "SELECT " + list(physical.PartitionKey[:1]) + cells(physical.Regulars, false) + " FROM " + s.name + " WHERE " + equal(key)
	if c, k := physical.Clustering, physical.PartitionKey; len(c) > 0 {
		in := " AND (" + list(c) + ") IN ?"
		if len(c) == 1 {
			in = " AND " + list(c) + " IN ?"
		}
		s.rows = "SELECT " + list(c) + cells(physical.Regulars, false) + " FROM " + s.name + " WHERE " + equal(k) + in
		if of, last := k[:len(k)-1], k[len(k)-1]; !plain {
			s.spread = "SELECT " + list(c) + ", " + ident(last) + cells(physical.Regulars, false) + " FROM " + s.name + " WHERE " + equal(of) + " AND " + ident(last) + " IN ?" + in
		}
	}
	s.stat = "SELECT " + list(physical.PartitionKey[:1]) + cells(physical.Statics, false) + " FROM " + s.name + " WHERE " + equal(physical.PartitionKey) + " LIMIT 1"
	return s
}

func (s *side) token() string { return "token(" + list(s.physical.PartitionKey) + ")" }

// scanned splits a row of a scan's result into its token, the row, and the static columns of its
// partition. The caller uses the static columns only for the first row of a partition.
func (s *side) scanned(raw [][]byte) (r row, statics []cell) {
	n, m := len(s.physical.PartitionKey), len(s.physical.Clustering)
	r.at.side = s
	if s.plain {
		r.key, r.at.shard = raw[1:n+1:n+1], shard.PlainPlace
	} else {
		r.key = raw[1:n:n]
		if at := raw[n]; len(at) == 4 {
			r.at.shard = int(int32(binary.BigEndian.Uint32(at)))
		}
	}
	r.clustering = raw[n+1 : n+1+m : n+1+m]
	r.there = m == 0 || r.clustering[0] != nil
	if rest := raw[n+1+m:]; len(rest) > 0 {
		all := readCells(rest)
		statics, r.cells = all[:s.statics], all[s.statics:]
	}
	return r, statics
}

// whole returns the columns that identify a row, or a physical partition for static columns.
func (s *side) whole(r *row) []*schema.Column {
	if r.clustering == nil {
		return s.physical.PartitionKey
	}
	return slices.Concat(s.physical.PartitionKey, s.physical.Clustering)
}

func (s *side) columnsOf(r *row) []*schema.Column {
	if r.clustering == nil {
		return s.physical.Statics
	}
	return s.physical.Regulars
}

// bind appends the values of a row's primary key at a place.
func (p place) bind(r *row, values [][]byte) [][]byte {
	values = append(values, r.key...)
	if !p.plain {
		values = append(values, integer(int32(p.shard)))
	}
	return append(values, r.clustering...)
}

// bindRows returns the values of the markers of rows. All are of one partition.
func (p place) bindRows(all []*row) [][]byte {
	of := *all[0]
	of.clustering = nil
	return append(p.bind(&of, nil), inList(all))
}

// bindSpread returns the values of the markers of spread. All rows have the same key. places has the place of each row.
func bindSpread(all []*row, places []place) [][]byte {
	var shards []int
	for _, at := range places {
		if !slices.Contains(shards, at.shard) {
			shards = append(shards, at.shard)
		}
	}
	in := integer(int32(len(shards)))
	for _, n := range shards {
		in = wire.AppendBytes(in, integer(int32(n)))
	}
	return append(slices.Clone(all[0].key), in, inList(all))
}

// inList encodes the clustering keys of rows as the list for the marker of an IN.
func inList(all []*row) []byte {
	in := integer(int32(len(all)))
	for _, r := range all {
		if len(r.clustering) == 1 {
			in = wire.AppendBytes(in, r.clustering[0])
			continue
		}
		var tuple []byte
		for _, c := range r.clustering {
			tuple = wire.AppendBytes(tuple, c)
		}
		in = wire.AppendBytes(in, tuple)
	}
	return in
}

// A pass over two physical tables goes over the old one first. Its position is then half a token:
// below 0 in the old table, 0 or above in the new one. Rounding makes the pass repeat some work,
// which is safe.

const half = 1 << 62

// position returns the position of a token in the first or the second side of a pass.
func position(token int64, second bool) int64 {
	if second {
		return token>>1 + half
	}
	return token>>1 - half
}

// tokenAt is the inverse of position.
func tokenAt(position int64) (token int64, second bool) {
	if position < 0 {
		return (position + half) << 1, false
	}
	if position == math.MaxInt64 {
		return math.MaxInt64, true
	}
	return (position - half) << 1, true
}
