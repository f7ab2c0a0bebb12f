// SPDX-License-Identifier: Apache-2.0

package capacity

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/stats"
)

// ThrottledSeconds is the chance of a throttled second that Recommended does not exceed.
const ThrottledSeconds = 0.001

// Plan answers a Request. It marshals to the output of `evenkeel shards --json`.
type Plan struct {
	Store           Store   `json:"target"`
	WritesPerSecond float64 `json:"writes_per_second"`
	ReadsPerSecond  float64 `json:"reads_per_second"`
	ItemBytes       int     `json:"item_bytes"`

	Minimum     int      `json:"minimum"`     // the formula, without headroom
	Recommended int      `json:"recommended"` // the least N that meets ThrottledSeconds
	Arithmetic  string   `json:"arithmetic"`  // of Minimum
	WriteUnits  int      `json:"write_units"` // of one write
	ReadUnits   float64  `json:"read_units"`  // of one read
	Options     []Option `json:"options"`     // the results of other N, ascending

	Reads    Reads    `json:"reads"`
	Hidden   Hidden   `json:"hidden_key"`
	Prewarm  Prewarm  `json:"prewarm"`
	Storage  Storage  `json:"storage"`
	Warnings []string `json:"warnings"`
}

// Option is the result of a number of shards.
type Option struct {
	Shards          int     `json:"shards"`
	Load            float64 `json:"load"`             // of a shard: its mean rate over its partition's limit, of writes or reads, whichever is worse
	ThrottledSecond float64 `json:"throttled_second"` // the chance that a second is throttled
	WritesRefused   float64 `json:"writes_refused"`   // share of all writes
}

// For plans the shards of a hot key.
func For(r Request) (*Plan, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	d := r.demand(r.ItemBytes)
	minimum, recommended, err := d.shards()
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Store: r.Store, WritesPerSecond: r.WritesPerSecond, ReadsPerSecond: r.ReadsPerSecond, ItemBytes: r.ItemBytes,
		Minimum: minimum, Recommended: recommended, Arithmetic: d.arithmetic(minimum),
		WriteUnits: d.writeUnits, ReadUnits: d.readUnits, Warnings: []string{},
	}
	for _, n := range interesting(minimum, recommended) {
		p.Options = append(p.Options, d.at(n))
	}
	p.Reads = d.costs(recommended, r.StrongReads)
	p.Storage = d.storage(r, recommended)
	p.Prewarm = d.prewarm(recommended)
	p.Hidden = d.hidden(r, recommended)
	p.warn()
	return p, nil
}

// demand is a Request in the store's units.
type demand struct {
	writes, reads float64 // per second
	writeUnits    int     // of one write
	readUnits     float64 // of one read
}

func (r *Request) demand(itemBytes int) demand {
	d := demand{writes: r.WritesPerSecond, reads: r.ReadsPerSecond, writeUnits: units(itemBytes, writeUnitBytes), readUnits: float64(units(itemBytes, readUnitBytes))}
	if !r.StrongReads {
		d.readUnits /= 2
	}
	return d
}

// minimumWrites computes the vendor's formula. minimumReads is similar.
func (d demand) minimumWrites() float64 {
	return ceil(d.writes * float64(d.writeUnits) / PartitionWriteUnits)
}
func (d demand) minimumReads() float64 { return ceil(d.reads * d.readUnits / PartitionReadUnits) }

// ceil rounds up, but ignores what the binary representation of a decimal rate adds.
func ceil(x float64) float64 { return math.Ceil(x * (1 - 1e-12)) }

func (d demand) arithmetic(minimum int) string {
	s := fmt.Sprintf("ceil(%s writes/s × %d WCU / %s WCU) = %s", Number(d.writes), d.writeUnits, Number(PartitionWriteUnits), Number(d.minimumWrites()))
	if d.reads > 0 {
		s += fmt.Sprintf("; ceil(%s reads/s × %s RCU / %s RCU) = %s", Number(d.reads), Number(d.readUnits), Number(PartitionReadUnits), Number(d.minimumReads()))
		s += fmt.Sprintf("; the greater: %s", Number(float64(minimum)))
	}
	return s
}

// shards finds the minimum and the recommended number.
func (d demand) shards() (minimum, recommended int, err error) {
	least := max(1, d.minimumWrites(), d.minimumReads())
	if least > shard.MaxShards {
		return 0, 0, tooMany(fmt.Sprintf("%s shards would be needed at least", Number(least)))
	}
	minimum = int(least)
	// The chance falls as N grows: search for the first N whose chance is small enough.
	recommended = minimum + sort.Search(shard.MaxShards-minimum+1, func(more int) bool {
		return d.throttled(minimum+more) <= ThrottledSeconds
	})
	if recommended > shard.MaxShards {
		return 0, 0, tooMany(fmt.Sprintf("%s shards bear it on average, but more than %s would be needed for headroom", Number(least), Number(shard.MaxShards)))
	}
	return minimum, recommended, nil
}

func tooMany(what string) error {
	return &Invalid{"WritesPerSecond", what + fmt.Sprintf("; a key has at most %s", Number(shard.MaxShards)), "shards are for one partition key: spread the load over more keys first (promote a column into the key), or batch small items"}
}

// at returns the result of n shards.
func (d demand) at(n int) Option {
	rate := d.writes / float64(n)
	fit := PartitionWriteUnits / d.writeUnits // writes that a shard can take per second
	return Option{
		Shards:          n,
		Load:            max(rate*float64(d.writeUnits)/PartitionWriteUnits, d.reads/float64(n)*d.readUnits/PartitionReadUnits),
		ThrottledSecond: d.throttled(n),
		WritesRefused:   stats.PoissonExcess(rate, fit) / rate,
	}
}

// throttled returns the chance that in a second at least one of n shards gets more than its
// partition can take.
func (d demand) throttled(n int) float64 {
	q := stats.PoissonAbove(d.writes/float64(n), PartitionWriteUnits/d.writeUnits)
	if d.reads > 0 {
		r := stats.PoissonAbove(d.reads/float64(n), int(PartitionReadUnits/d.readUnits))
		q += r - q*r
	}
	return -math.Expm1(float64(n) * math.Log1p(-min(1, q)))
}

// interesting returns the numbers of shards to show: from the minimum to beyond the recommended
// one, few enough to read.
func interesting(minimum, recommended int) []int {
	ns := []int{minimum, recommended, recommended + max(1, recommended/4), 2 * recommended}
	if between := recommended - minimum; between > 1 {
		ns = append(ns, minimum+between/3, minimum+between*2/3, recommended-1)
	}
	slices.Sort(ns)
	ns = slices.Compact(ns)
	return slices.DeleteFunc(ns, func(n int) bool { return n > shard.MaxShards })
}
