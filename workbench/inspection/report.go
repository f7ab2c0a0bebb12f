// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/partitioner"
)

// Report is what an inspection says about a table.
type Report struct {
	Table      string      `json:"table"`
	At         time.Time   `json:"at"`
	Store      string      `json:"store"` // the store that answered
	Door       bool        `json:"door"`  // it is an evenkeel door
	Sharding   string      `json:"write_sharding,omitempty"`
	Whole      string      `json:"partitions_are,omitempty"` // if partitions are logical ones: why
	Coverage   Coverage    `json:"coverage"`
	Prediction *Prediction `json:"prediction,omitempty"`

	Totals
	Sizes   SizeSummary `json:"sizes"`
	Above   AboveCounts `json:"above"`
	Largest []Large     `json:"largest"` // by bytes
	Longest []Large     `json:"longest"` // by rows

	Logical *LogicalSummary `json:"logical,omitempty"`

	Nodes     []NodeLoad `json:"nodes"`
	NodesNote string     `json:"nodes_note,omitempty"`

	DynamoDB *DynamoTable `json:"dynamodb,omitempty"` // only of a DynamoDB table

	// Maps holds the partitions of the table and of its global indexes, if the store reports them.
	// They are as they were before the inspection read the table.
	Maps []*api.PartitionsResponse `json:"partition_maps,omitempty"`

	Growth     *Growth `json:"growth,omitempty"`
	GrowthNote string  `json:"growth_note,omitempty"`

	Key     Key            `json:"key"`
	Views   []View         `json:"views,omitempty"`
	Outside []Outside      `json:"outside"` // what CQL does not show
	Hidden  []HiddenAnswer `json:"unknown"`

	Curve *Curve `json:"-"` // of bytes; nil: no partition was read
}

// Coverage says how much of a table a report covers.
type Coverage struct {
	Mode     string  `json:"mode"`    // whole or sample
	Planned  float64 `json:"planned"` // share of the ring
	Read     float64 `json:"read"`
	Partial  bool    `json:"partial"` // less was read than planned
	Why      string  `json:"why,omitempty"`
	Unseen   string  `json:"unseen,omitempty"` // what a part of the table cannot show
	Ranges   int     `json:"ranges"`
	Done     int     `json:"ranges_done"`
	Requests int64   `json:"requests"`
	Rows     int64   `json:"rows"`
	Bytes    int64   `json:"bytes"` // over the network
	State    string  `json:"state,omitempty"`
}

// SizeSummary says how large partitions are.
type SizeSummary struct {
	Rows  Sizes  `json:"rows"`
	Bytes Sizes  `json:"bytes"`
	How   string `json:"how"`
}

// Sizes holds percentiles.
type Sizes struct {
	Mean float64  `json:"mean"`
	P50  Interval `json:"p50"`
	P75  Interval `json:"p75"`
	P90  Interval `json:"p90"`
	P95  Interval `json:"p95"`
	P99  Interval `json:"p99"`
	P999 Interval `json:"p999"`
	Max  float64  `json:"max"`          // of the partitions that were read
	Most Interval `json:"max_interval"` // of all partitions: in a sample at least Max, without an upper bound
}

// AboveCounts counts the partitions above limits.
type AboveCounts struct {
	Good Interval `json:"10_mb"`
	Most Interval `json:"100_mb"`
}

// Large is one of the largest partitions, with its key.
type Large struct {
	Key   []KeyValue `json:"key,omitempty"`
	Token int64      `json:"token"`
	Rows  int64      `json:"rows"`
	Bytes int64      `json:"bytes"`
	Share float64    `json:"share"` // of all bytes
}

// KeyValue is a column of a key with its value.
type KeyValue struct {
	Column string `json:"column"`
	Value  string `json:"value"`
}

// LogicalSummary describes logical partitions, whose rows are in several physical ones.
type LogicalSummary struct {
	Partitions   Interval `json:"partitions"`
	Rows         Sizes    `json:"rows"`
	Bytes        Sizes    `json:"bytes"`
	PhysicalMean float64  `json:"physical_mean"`
	PhysicalMax  float64  `json:"physical_max"`
	Largest      []Large  `json:"largest"`
	Evenness     float64  `json:"largest_over_mean"` // of the largest logical partition: its largest physical partition over the mean of its physical ones
	Note         string   `json:"note,omitempty"`
}

// View is a number that a node shows in system_views.
type View struct {
	Node   string  `json:"node"`
	Table  string  `json:"table"`
	Column string  `json:"column"`
	Value  float64 `json:"value"`
}

// Outside holds what another tool's output says.
type Outside struct {
	What       string    `json:"what"`
	From       string    `json:"from"`
	Partitions []Counted `json:"partitions,omitempty"`
	Text       string    `json:"text,omitempty"`
}

// Counted is a partition as another tool names it.
type Counted struct {
	Key   string  `json:"key"`
	Count float64 `json:"count"`
	Unit  string  `json:"unit"`
	Error float64 `json:"error,omitempty"` // Count may be too high by this
}

// HiddenAnswer is something that an inspection cannot know, with the command that shows it.
type HiddenAnswer struct {
	What    string `json:"what"`
	Command string `json:"command"`
}

// How explains the bytes, for people.
const How = "bytes as in an SSTable of one replica before compression, of live data: computed from the values read, with timestamps as a first sample has them; tombstones and overwritten values are not seen"

// Summary holds what a report needs besides the run.
type Summary struct {
	Schema      *schema.Table
	Replication map[string]string
	At          time.Time
	Last        *Last  // the previous inspection
	Sharding    string // what evenkeel does with the table, in a sentence
	Bucket      string // the length of a bucket, if the layout's strategy is time
	Shard       string // the layout's shard column, if it is visible
	Shards      int    // the number of shards, if a door hides the shard column and shows partitions one by one
	Whole       string // why partitions are logical ones, if a door gives them so
	Door        bool
	Top         int          // how many partitions to name
	DynamoDB    *DynamoTable // only of a DynamoDB table; then Schema has its key, and there are no nodes
	Why         string       // why it is partial
	Guess       string       // what the sizes assume (Sizer.Guess)
}

// Summarize makes the report of a run.
func Summarize(r *Run, s Summary) *Report {
	f := r.Covered()
	ri := &Report{
		Table: ident(s.Schema.Keyspace) + "." + ident(s.Schema.Name), At: s.At, Door: s.Door, Sharding: s.Sharding, Whole: s.Whole,
		Totals: r.Totals(), Key: KeyOf(s.Schema),
		Coverage: Coverage{
			Mode: "sample", Planned: r.Plan.Fraction, Read: f, Partial: !r.Complete(), Ranges: len(r.Plan.Ranges), Done: len(r.Done),
			Requests: r.Requests, Rows: r.Total.Rows, Bytes: r.Total.Read,
		},
		Outside: []Outside{}, Hidden: []HiddenAnswer{}, Largest: []Large{}, Longest: []Large{}, Nodes: []NodeLoad{},
	}
	if r.Plan.Fraction == 1 {
		ri.Coverage.Mode = "whole"
	}
	if ri.Coverage.Partial {
		ri.Coverage.Why = s.Why
	}
	if f < 1 {
		ri.Coverage.Unseen = unseen(f)
	}
	t := &r.Total
	s.nameShards(t.Largest, t.Longest)
	ri.Sizes = SizeSummary{Rows: sizes(&t.RowSizes, t.Rows, t.MaxRows, t.Partitions, f), Bytes: sizes(&t.ByteSizes, t.Bytes, t.MaxBytes, t.Partitions, f), How: How}
	if s.Guess != "" {
		ri.Sizes.How += "; " + s.Guess
	}
	ri.Above = AboveCounts{Good: above(&t.ByteSizes, GoodBytes, f), Most: above(&t.ByteSizes, MostBytes, f)}
	ri.Curve = t.ByteSizes.curve(f, t.MaxBytes)
	for i, p := range t.Largest {
		if i < s.Top {
			ri.Largest = append(ri.Largest, large1(s.Schema, p, ri.Bytes.Value))
		}
	}
	for i, p := range t.Longest {
		if i < s.Top {
			ri.Longest = append(ri.Longest, large1(s.Schema, p, ri.Bytes.Value))
		}
	}
	ri.logicalPartitions(r, &s)
	if s.Door {
		ri.NodesNote = "unknown from here: an evenkeel door shows itself as one node; inspect one of its backend's nodes for the ring"
	} else {
		ri.Nodes = r.Loads(s.Replication)
		if len(ri.Nodes) < 2 {
			ri.NodesNote = "there is one node: it has everything"
		}
	}
	ri.Growth = growthOf(s.Last, r, s.At)
	switch {
	case ri.Growth != nil:
		for i := range ri.Growth.Largest {
			g := &ri.Growth.Largest[i]
			g.Name = Text(keyOf(s.Schema, g.Key, g.Shard), g.Token)
		}
		if len(ri.Growth.Largest) > s.Top {
			ri.Growth.Largest = ri.Growth.Largest[:s.Top]
		}
	case s.Last == nil:
		ri.GrowthNote = "unknown: this is the first inspection; the next one compares with it"
	default:
		ri.GrowthNote = "the last inspection was a moment ago: too short to tell growth"
	}
	if s.DynamoDB != nil {
		ri.dynamoDB(r, &s)
		return ri
	}
	ri.Key.Findings = findings(s.Schema, r, ri, s.Bucket)
	return ri
}

// Last returns what the next inspection compares with.
func (r *Run) Last(at time.Time) *Last {
	f := r.Covered()
	t := r.Totals()
	l := &Last{At: at, Covered: f, Partitions: t.Partitions, Rows: t.Rows, Bytes: t.Bytes, Max: float64(r.Total.MaxBytes), Largest: r.Total.Largest}
	l.P50 = r.Total.ByteSizes.Quantile(0.5, 1, r.Total.MaxBytes).Value
	l.P99 = r.Total.ByteSizes.Quantile(0.99, 1, r.Total.MaxBytes).Value
	return l
}

// unseen says what a reading of a part of the ring cannot show.
func unseen(f float64) string {
	return fmt.Sprintf("a partition that is alone of its size is missed with a chance of %.3g%%: the largest of all may be far larger than the largest that was read, the sums of rows and bytes hold only if none is, and of 1 in 1,000 partitions little is known", 100*(1-f))
}

func sizes(h *Histogram, sum, most, n int64, f float64) Sizes {
	s := Sizes{Max: float64(most), Most: exactly(float64(most))}
	if f < 1 {
		s.Most.High = math.Inf(1)
	}
	if n > 0 {
		s.Mean = float64(sum) / float64(n)
	}
	for _, q := range []struct {
		at *Interval
		q  float64
	}{{&s.P50, 0.5}, {&s.P75, 0.75}, {&s.P90, 0.9}, {&s.P95, 0.95}, {&s.P99, 0.99}, {&s.P999, 0.999}} {
		*q.at = h.Quantile(q.q, f, most)
	}
	return s
}

// above estimates how many partitions are above a limit.
func above(h *Histogram, limit, f float64) Interval {
	n := 0.0
	for b, count := range h.buckets {
		if middle(b) > limit {
			n += float64(count)
		}
	}
	if f >= 1 {
		return exactly(n)
	}
	if h.n == 0 {
		return Interval{0, 0, math.Inf(1)}
	}
	wide := z99 * math.Sqrt((1-f)*n)
	return Interval{n / f, math.Max(n, (n-wide)/f), math.Max(n+wide, poissonHigh(n)) / f}
}

func large1(t *schema.Table, p Partition, total float64) Large {
	l := Large{Token: p.Token, Rows: p.Rows, Bytes: p.Bytes, Key: keyOf(t, p.Key, p.Shard)}
	if total > 0 {
		l.Share = float64(p.Bytes) / total
	}
	return l
}

// keyOf returns a partition's key, with its hidden shard if that is known.
func keyOf(t *schema.Table, key [][]byte, shard int) []KeyValue {
	all := KeyValues(t, key)
	if all != nil && shard > 0 {
		all = append(all, KeyValue{"shard", strconv.Itoa(shard)})
	}
	return all
}

// nameShards finds the shards of partitions, which a door hides, from their known tokens.
func (s *Summary) nameShards(lists ...[]Partition) {
	for _, list := range lists {
		for i := range list {
			p := &list[i]
			if len(p.Key) != len(s.Schema.PartitionKey) {
				continue
			}
			key := append(slices.Clone(p.Key), nil)
			for n := 1; n <= s.Shards && p.Shard == 0; n++ {
				key[len(p.Key)] = binary.BigEndian.AppendUint32(nil, uint32(n))
				if partitioner.Murmur3(partitioner.AppendComposite(nil, key...)) == p.Token {
					p.Shard = n
				}
			}
		}
	}
}

// KeyValues returns the values of a partition key as text; nil: the key is unknown.
func KeyValues(t *schema.Table, key [][]byte) []KeyValue {
	if len(key) != len(t.PartitionKey) {
		return nil
	}
	out := make([]KeyValue, len(key))
	for i, c := range t.PartitionKey {
		out[i] = KeyValue{c.Name, valueText(c.Type, key[i])}
	}
	return out
}

func valueText(t *value.Type, v []byte) string {
	if text, ok := t.Text(v); ok && t.Kind != value.Blob {
		return text
	}
	return string(t.Format(nil, v))
}

// Text formats a key for people, or its token if the key is unknown.
func Text(key []KeyValue, token int64) string {
	if key == nil {
		return fmt.Sprintf("token %d", token)
	}
	parts := make([]string, len(key))
	for i, k := range key {
		parts[i] = k.Column + "=" + k.Value
	}
	return strings.Join(parts, ", ")
}

// logicalOf summarizes logical partitions. A sample of the ring says nothing about them, because
// their physical partitions are all over the ring.
func logicalOf(t *schema.Table, l *Logical, f float64, top int, total float64, declared bool) *LogicalSummary {
	if l == nil {
		return nil
	}
	if f < 1 {
		if !declared {
			return nil
		}
		return &LogicalSummary{Largest: []Large{}, Note: "unknown from a sample: a logical partition's physical ones are all over the ring; --whole reads them all"}
	}
	var rows, bytes Histogram
	var rowSum, byteSum, maxRows, maxBytes, physical, maxPhysical int64
	list := l.list()
	for _, k := range list {
		rows.Add(k.Rows)
		bytes.Add(k.Bytes)
		rowSum, byteSum, physical = rowSum+k.Rows, byteSum+k.Bytes, physical+k.Physical
		maxRows, maxBytes, maxPhysical = max(maxRows, k.Rows), max(maxBytes, k.Bytes), max(maxPhysical, k.Physical)
	}
	n := int64(len(list))
	if n == 0 {
		return nil
	}
	s := &LogicalSummary{
		Partitions: total1(float64(n), l.Share()), PhysicalMean: float64(physical) / float64(n), PhysicalMax: float64(maxPhysical), Largest: []Large{},
		Rows: sizes(&rows, rowSum, maxRows, n, l.Share()), Bytes: sizes(&bytes, byteSum, maxBytes, n, l.Share()),
	}
	if l.halve > 0 {
		s.Note = fmt.Sprintf("of 1 in %d logical partitions, chosen by hash", 1<<l.halve)
	}
	for i, k := range list {
		if i == top {
			break
		}
		s.Largest = append(s.Largest, large1(t, Partition{Token: k.Token, Key: k.key, Rows: k.Rows, Bytes: k.Bytes}, total))
	}
	s.Evenness = float64(list[0].Most) * float64(list[0].Physical) / math.Max(1, float64(list[0].Bytes))
	return s
}

func total1(n, f float64) Interval { return total(n, n, 1, f) }
