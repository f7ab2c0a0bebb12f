// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/livetable"
)

// Partition is a part of a table with a limit of units per second, in an embedded engine that
// enforces the limits of Amazon Keyspaces.
type Partition struct {
	Number int
	Mode   string // the table's: PROVISIONED or PAY_PER_REQUEST
	From   *int64 // the token at which it begins; nil: it is the first
	// FromKey and FromClustering say where it begins if that is within a token: a whole partition
	// key, and a beginning of a clustering key.
	FromKey, FromClustering []string

	Share       float64 // of all tokens; 0: it lies within one token
	Bytes       int64   // written since the engine started
	Since       time.Time
	Read, Write PartitionUse

	MaxRead, MaxWrite float64       // units per second
	SplitAfter        time.Duration // negative: never

	Keys     []PartitionKey // hottest first
	KeyCount int            // how many keys have rows
	More     bool           // there may be more than KeyCount
}

// PartitionUse is what requests took of a partition: in the last whole second, and since the engine
// started.
type PartitionUse struct {
	Units, UnitsTotal float64
	Throttled         float64
	ThrottledTotal    int64
	ThrottledOwnTotal int64 // of ThrottledTotal, those that met the partition's own limit, not the table's
}

// PartitionKey is a physical partition key, with its values as text, and its load in the last ten
// to twenty seconds.
type PartitionKey struct {
	Values    []string
	Units     float64
	Throttled int64
}

// Partitions reads the partitions to which the store's limits apply. It returns none if the store
// does not show them: Cassandra has no such limits, and Keyspaces does not publish its partitions.
func (t *Table) Partitions(ctx context.Context) ([]Partition, error) {
	found, err := system{t.session}.query(ctx, "", "SELECT * FROM system_views.evenkeel_partitions WHERE keyspace_name = ? AND table_name = ?",
		[]byte(t.at.Keyspace), []byte(t.at.Table))
	switch {
	case err != nil && code(err) != 0:
		return nil, nil // stores differ in their errors for a table that they do not have
	case err != nil:
		return nil, t.reading(err)
	}
	var all []Partition
	for _, r := range found {
		p, err := partitionOf(r)
		if err != nil {
			return nil, &livetable.Error{At: t.at.Name(), Err: fmt.Errorf("its partitions: %w", err), Hint: "is the server of another version than this command?"}
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Partition) int { return a.Number - b.Number })
	return all, nil
}

var (
	texts    = value.ListOf(value.Native(value.Text), true)
	keyUse   = value.TupleOf(texts, value.Native(value.Double), value.Native(value.Bigint))
	keysUsed = value.ListOf(keyUse, true)
)

func partitionOf(r catalog.Row) (Partition, error) {
	double := func(name string) float64 {
		if v := r[name]; len(v) == 8 {
			return math.Float64frombits(binary.BigEndian.Uint64(v))
		}
		return 0
	}
	use := func(one, many string) PartitionUse {
		return PartitionUse{Units: double(one + "_units"), UnitsTotal: double(one + "_units_total"), Throttled: double(many + "_throttled"), ThrottledTotal: integer(r[many+"_throttled_total"]), ThrottledOwnTotal: integer(r[many+"_throttled_own_total"])}
	}
	p := Partition{
		Number: int(integer(r["partition"])), Mode: string(r["throughput_mode"]), Share: double("share"), Bytes: integer(r["bytes"]), Since: time.UnixMilli(integer(r["since"])).UTC(),
		Read: use("read", "reads"), Write: use("write", "writes"), MaxRead: double("max_read_units"), MaxWrite: double("max_write_units"),
		SplitAfter: time.Duration(double("split_after_seconds") * float64(time.Second)),
		KeyCount:   int(integer(r["key_count"])), More: string(r["more_keys"]) == "\x01",
		FromKey: elements(r["from_key"]), FromClustering: elements(r["from_clustering"]),
	}
	if v := r["from_token"]; v != nil {
		from := integer(v)
		p.From = &from
	}
	if p.Number < 1 || p.MaxWrite <= 0 {
		return p, fmt.Errorf("partition %d takes %v write units a second", p.Number, p.MaxWrite)
	}
	if err := keysUsed.Validate(r["keys"]); err != nil {
		return p, fmt.Errorf("keys of partition %d: %w", p.Number, err)
	}
	for all := keysUsed.Parts(r["keys"]); all.Next(); {
		var k PartitionKey
		one := keyUse.Parts(all.Part())
		for i := 0; one.Next(); i++ {
			switch i {
			case 0:
				k.Values = elements(one.Part())
			case 1:
				k.Units = math.Float64frombits(uint64(integer(one.Part())))
			case 2:
				k.Throttled = integer(one.Part())
			}
		}
		p.Keys = append(p.Keys, k)
	}
	return p, nil
}

// elements returns the elements of a serialized list of text.
func elements(v []byte) (all []string) {
	for p := texts.Parts(v); p.Next(); {
		all = append(all, string(p.Part()))
	}
	return all
}
