// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/partitioner"
)

// Partition is a partition that was counted. Keys stay in memory: stored partitions have only their
// tokens.
type Partition struct {
	Token int64    `json:"token"`
	Key   [][]byte `json:"-"` // serialized values of the partition key; nil: only the token is known
	Rows  int64    `json:"rows"`
	Bytes int64    `json:"bytes"`

	Segment int `json:"segment,omitempty"` // the segment in which it was, if the store has segments
	Shard   int `json:"shard,omitempty"`   // a hidden shard that the caller knows
}

// Tally holds the counts of some ranges.
type Tally struct {
	Partitions int64     `json:"partitions"`
	Rows       int64     `json:"rows"`
	Bytes      int64     `json:"bytes"`       // on disk
	Read       int64     `json:"read"`        // bytes of values that came over the network
	RowSquares float64   `json:"row_squares"` // of partitions' rows, for intervals
	ByteSquare float64   `json:"byte_squares"`
	MaxRows    int64     `json:"max_rows"`
	MaxBytes   int64     `json:"max_bytes"`
	RowSizes   Histogram `json:"row_sizes"`
	ByteSizes  Histogram `json:"byte_sizes"`

	Largest []Partition `json:"largest"` // by bytes, the largest first
	Longest []Partition `json:"longest"` // by rows

	Keys    []KeyColumn  `json:"keys"`   // columns of the primary key, in order
	Tuples  Distinct     `json:"tuples"` // of clustering columns
	Shards  []ShardTally `json:"shards,omitempty"`
	Logical *Logical     `json:"logical,omitempty"`
	Indexes []*Logical   `json:"indexes,omitempty"` // of DynamoDB: the indexes' partitions, counted from the items
}

// Kept is how many of the largest partitions a Tally keeps.
const Kept = 50

// Distinct counts different values up to a limit.
type Distinct struct {
	hashes map[uint64]struct{}
	Many   bool `json:"many"` // more than distinctMost
}

const distinctMost = 1000

// Add counts a value by its hash.
func (d *Distinct) Add(hash uint64) {
	if d.Many {
		return
	}
	if d.hashes == nil {
		d.hashes = make(map[uint64]struct{})
	}
	d.hashes[hash] = struct{}{}
	if len(d.hashes) > distinctMost {
		d.Many, d.hashes = true, nil
	}
}

// N returns how many different values there are; if Many is set, there are at least N.
func (d *Distinct) N() int {
	if d.Many {
		return distinctMost + 1
	}
	return len(d.hashes)
}

func (d *Distinct) merge(o *Distinct) {
	if o.Many {
		d.Many, d.hashes = true, nil
		return
	}
	for h := range o.hashes {
		d.Add(h)
	}
}

// KeyColumn holds what was seen of a column of the primary key.
type KeyColumn struct {
	Distinct Distinct `json:"distinct"`
	Unit     int64    `json:"unit"` // of a timestamp: the greatest of 86,400,000, 3,600,000, 60,000, 1,000 and 1 ms that divides all values; 0: no value yet
}

var units = []int64{86_400_000, 3_600_000, 60_000, 1000, 1}

func (k *KeyColumn) time(ms int64) {
	if k.Unit == 0 {
		k.Unit = units[0]
	}
	for _, u := range units {
		if u <= k.Unit && ms%u == 0 {
			k.Unit = u
			return
		}
	}
}

func (k *KeyColumn) merge(o *KeyColumn) {
	k.Distinct.merge(&o.Distinct)
	if k.Unit == 0 || o.Unit != 0 && o.Unit < k.Unit {
		k.Unit = o.Unit
	}
}

// ShardTally holds the counts of a value of a shard column.
type ShardTally struct {
	Value      []byte `json:"value"` // serialized
	Partitions int64  `json:"partitions"`
	Rows       int64  `json:"rows"`
}

// shardsMost is the greatest number of values of a column that may count as a shard.
const shardsMost = 10_000

// Grouping says which columns of the partition key make the logical key. The other columns
// distinguish its physical partitions.
type Grouping struct {
	Logical []int // places in the partition key; all of them if a door hides the shard
	Shard   int   // place of the shard column; -1: it is hidden
}

// Counter counts a range's rows. Each range needs its own Counter.
type Counter struct {
	Tally
	table   *schema.Table
	sizer   *Sizer
	group   *Grouping
	open    bool
	now     Partition
	key     []byte // of now: the values, one after the other
	scratch []byte // the key of the current row
	logical []byte
	before  int64 // bytes of what was written last
	shards  map[string]*ShardTally
}

// NewCounter makes a counter. group is nil if keys are not spread over partitions.
func NewCounter(t *schema.Table, z *Sizer, group *Grouping) *Counter {
	c := &Counter{table: t, sizer: z, group: group}
	c.Tally.Keys = make([]KeyColumn, len(t.PartitionKey)+len(t.Clustering))
	if group != nil {
		c.Logical = NewLogical()
		c.shards = make(map[string]*ShardTally)
	}
	return c
}

// Row counts a row: its partition's token and its cells, in the order of schema.Table.All. Rows of
// a partition follow each other.
func (c *Counter) Row(token int64, cells [][]byte) {
	keys := len(c.table.PartitionKey)
	c.scratch = partitioner.AppendComposite(c.scratch[:0], cells[:keys]...)
	if !c.open || token != c.now.Token || !bytes.Equal(c.scratch, c.key) {
		c.close()
		c.begin(token, cells)
	}
	for _, v := range cells {
		c.Read += int64(len(v)) + 4
	}
	if len(c.table.Clustering) > 0 && cells[keys] == nil {
		return // a partition with only static columns
	}
	size := c.sizer.Row(cells, c.now.Rows, c.before)
	c.now.Rows++
	c.before = size
	c.now.Bytes += size
	tuple := partitioner.Hash(nil)
	for i := range c.table.Clustering {
		v := cells[keys+i]
		h := partitioner.Hash(v)
		tuple = tuple*0x9e3779b97f4a7c15 + h + 1
		c.column(keys+i, v, h)
	}
	if len(c.table.Clustering) > 0 {
		c.Tuples.Add(tuple)
	}
}

// column counts a value of the primary key.
func (c *Counter) column(i int, v []byte, hash uint64) {
	k := &c.Tally.Keys[i]
	k.Distinct.Add(hash)
	var of *schema.Column
	if n := len(c.table.PartitionKey); i < n {
		of = c.table.PartitionKey[i]
	} else {
		of = c.table.Clustering[i-n]
	}
	if isTimestamp(of.Type) && len(v) == 8 {
		k.time(number(v))
	}
}

func (c *Counter) begin(token int64, cells [][]byte) {
	keys := len(c.table.PartitionKey)
	c.open = true
	c.key = append(c.key[:0], c.scratch...)
	c.now = Partition{Token: token, Key: c.now.Key[:0]}
	c.now.Bytes = c.sizer.Partition(cells) + c.sizer.Static(cells)
	c.before = c.now.Bytes - 1
	for i, v := range cells[:keys] {
		c.column(i, v, partitioner.Hash(v))
	}
	// These slices point into the stored key. In a composite, each value follows its length.
	at := 0
	for _, v := range cells[:keys] {
		if keys > 1 {
			at += 2
		}
		c.now.Key = append(c.now.Key, c.key[at:at+len(v):at+len(v)])
		if at += len(v); keys > 1 {
			at++
		}
	}
}

// close counts the current partition.
func (c *Counter) close() {
	if !c.open {
		return
	}
	c.open = false
	p := c.now
	c.Partitions++
	c.Rows += p.Rows
	c.Bytes += p.Bytes
	c.RowSquares += float64(p.Rows) * float64(p.Rows)
	c.ByteSquare += float64(p.Bytes) * float64(p.Bytes)
	c.MaxRows, c.MaxBytes = max(c.MaxRows, p.Rows), max(c.MaxBytes, p.Bytes)
	c.RowSizes.Add(p.Rows)
	c.ByteSizes.Add(p.Bytes)
	c.Largest = keep(c.Largest, p, byBytes)
	c.Longest = keep(c.Longest, p, byRows)
	if c.group == nil {
		return
	}
	c.logical = c.logical[:0]
	for _, i := range c.group.Logical {
		c.logical = partitioner.AppendComposite(c.logical, p.Key[i], nil)
	}
	c.Logical.add(partitioner.Hash(c.logical), p)
	if at := c.group.Shard; at >= 0 {
		s := c.shards[string(p.Key[at])]
		if s == nil && len(c.shards) < shardsMost {
			s = &ShardTally{Value: bytes.Clone(p.Key[at])}
			c.shards[string(s.Value)] = s
		}
		if s != nil {
			s.Partitions++
			s.Rows += p.Rows
		}
	}
}

// End counts the last partition. After it, the Tally is complete.
func (c *Counter) End() {
	c.close()
	c.Shards = nil
	for _, s := range c.shards {
		c.Shards = append(c.Shards, *s)
	}
}

func byBytes(a, b Partition) int {
	return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Token, b.Token))
}

func byRows(a, b Partition) int {
	return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Token, b.Token))
}

// keep inserts p into a list of the first few by an order.
func keep(list []Partition, p Partition, less func(a, b Partition) int) []Partition {
	if len(list) == Kept && less(p, list[Kept-1]) >= 0 {
		return list
	}
	at, _ := slices.BinarySearchFunc(list, p, less)
	if p.Key != nil {
		p.Key = clone(p.Key)
	}
	list = slices.Insert(list, at, p)
	return list[:min(len(list), Kept)]
}

func clone(key [][]byte) [][]byte {
	own := make([][]byte, len(key))
	for i, v := range key {
		own[i] = bytes.Clone(v)
	}
	return own
}

// Merge adds the counts of other ranges.
func (t *Tally) Merge(o *Tally) {
	t.Partitions += o.Partitions
	t.Rows += o.Rows
	t.Bytes += o.Bytes
	t.Read += o.Read
	t.RowSquares += o.RowSquares
	t.ByteSquare += o.ByteSquare
	t.MaxRows, t.MaxBytes = max(t.MaxRows, o.MaxRows), max(t.MaxBytes, o.MaxBytes)
	t.RowSizes.Merge(&o.RowSizes)
	t.ByteSizes.Merge(&o.ByteSizes)
	for _, p := range o.Largest {
		t.Largest = keep(t.Largest, p, byBytes)
	}
	for _, p := range o.Longest {
		t.Longest = keep(t.Longest, p, byRows)
	}
	if t.Keys == nil {
		t.Keys = make([]KeyColumn, len(o.Keys))
	}
	for i := range o.Keys {
		t.Keys[i].merge(&o.Keys[i])
	}
	t.Tuples.merge(&o.Tuples)
	for _, s := range o.Shards {
		i := slices.IndexFunc(t.Shards, func(have ShardTally) bool { return bytes.Equal(have.Value, s.Value) })
		if i >= 0 {
			t.Shards[i].Partitions += s.Partitions
			t.Shards[i].Rows += s.Rows
		} else if len(t.Shards) < shardsMost {
			t.Shards = append(t.Shards, s)
		}
	}
	for len(t.Indexes) < len(o.Indexes) {
		t.Indexes = append(t.Indexes, NewLogical())
	}
	for i := range o.Indexes {
		t.Indexes[i].merge(o.Indexes[i])
	}
	if o.Logical != nil {
		if t.Logical == nil {
			t.Logical = NewLogical()
		}
		t.Logical.merge(o.Logical)
	}
}
