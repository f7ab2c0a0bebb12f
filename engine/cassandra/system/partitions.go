// SPDX-License-Identifier: Apache-2.0

package system

import (
	"encoding/binary"
	"math"

	"github.com/evenkeel/evenkeel/cql/value"
)

// PartitionsTable is the name of a table of system_views. An engine that enforces a store's limits
// shows in it the partitions of tables, the units that they take, and the keys that share them.
// Cassandra has no such table.
const PartitionsTable = "evenkeel_partitions"

const partitionsDefinition = "system_views." + PartitionsTable + ": keyspace_name text key; table_name text key; partition int clustering; " +
	"bytes bigint; from_clustering frozen<list<text>>; from_key frozen<list<text>>; from_token bigint; key_count int; " +
	"keys frozen<list<frozen<tuple<frozen<list<text>>, double, bigint>>>>; max_read_units double; max_write_units double; more_keys boolean; " +
	"read_units double; read_units_total double; reads_throttled double; reads_throttled_own_total bigint; reads_throttled_total bigint; share double; since timestamp; " +
	"split_after_seconds double; throughput_mode text; " +
	"write_units double; write_units_total double; writes_throttled double; writes_throttled_own_total bigint; writes_throttled_total bigint"

// Partition is a row of PartitionsTable. Keys and clusterings are lists of values as text.
type Partition struct {
	Keyspace, Table string
	Number          int // from 1

	From           *int64 // the token at which it begins; nil in the first partition
	FromKey        []string
	FromClustering []string

	Mode              string // the table's mode: PROVISIONED or PAY_PER_REQUEST
	Share             float64
	Bytes             int64
	Since             int64 // milliseconds since 1970
	Read, Write       Use
	MaxRead, MaxWrite float64 // units a second
	SplitAfter        float64 // seconds; negative: never

	Keys     []KeyUse // hottest first
	KeyCount int      // the number of keys with rows
	More     bool     // there are more keys than KeyCount
}

// Use is the load of a partition.
type Use struct {
	Units, UnitsTotal float64
	Throttled         float64
	ThrottledTotal    int64
	ThrottledOwnTotal int64 // the part of ThrottledTotal that met the partition's own limit
}

// KeyUse is the load of a partition key.
type KeyUse struct {
	Key       []string
	Units     float64
	Throttled int64
}

// Row returns the partition's row.
func (p *Partition) Row() Row {
	r := Row{
		"keyspace_name": []byte(p.Keyspace), "table_name": []byte(p.Table), "partition": integer(p.Number),
		"throughput_mode": []byte(p.Mode), "share": double(p.Share), "bytes": long(p.Bytes), "since": long(p.Since),
		"key_count": integer(p.KeyCount), "more_keys": boolean(p.More),
		"max_read_units": double(p.MaxRead), "max_write_units": double(p.MaxWrite), "split_after_seconds": double(p.SplitAfter),
		"read_units": double(p.Read.Units), "read_units_total": double(p.Read.UnitsTotal), "reads_throttled": double(p.Read.Throttled), "reads_throttled_total": long(p.Read.ThrottledTotal), "reads_throttled_own_total": long(p.Read.ThrottledOwnTotal),
		"write_units": double(p.Write.Units), "write_units_total": double(p.Write.UnitsTotal), "writes_throttled": double(p.Write.Throttled), "writes_throttled_total": long(p.Write.ThrottledTotal), "writes_throttled_own_total": long(p.Write.ThrottledOwnTotal),
	}
	if p.From != nil {
		r["from_token"] = long(*p.From)
	}
	if p.FromKey != nil {
		r["from_key"] = list(p.FromKey)
	}
	if p.FromClustering != nil {
		r["from_clustering"] = list(p.FromClustering)
	}
	keys := value.AppendCount(nil, len(p.Keys))
	for _, k := range p.Keys {
		one := value.AppendPart(nil, list(k.Key))
		one = value.AppendPart(one, double(k.Units))
		keys = value.AppendPart(keys, value.AppendPart(one, long(k.Throttled)))
	}
	r["keys"] = keys
	return r
}

func double(f float64) []byte { return binary.BigEndian.AppendUint64(nil, math.Float64bits(f)) }
