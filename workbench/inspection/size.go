// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// Sizer computes how many bytes partitions and rows take in an SSTable of format big (versions na
// to nb, the default of Cassandra 4 and 5) before compression
// (org.apache.cassandra.db.rows.UnfilteredSerializer, Cell.Serializer). Cells come in the order of
// schema.Table.All.
type Sizer struct {
	table             *schema.Table
	keys, clustering  int
	statics           int
	timestamp, expiry int         // bytes of a row's timestamp in sixteenths, and of its expiry if rows have one
	own               map[int]int // mean bytes of a cell's own timestamp, by place
	order             []int       // places of the regular columns that rows have, in the order of SSTables; staticOrder: of statics
	staticOrder       []int
	hidden            int  // bytes of a shard in the partition key that a door hides
	read              bool // timestamps are known from rows
	least, most       int  // bounds of a row's timestamp bytes, if none was read
}

// NewSizer makes a Sizer. sample holds rows of the table with their times; nil: there are none.
func NewSizer(t *schema.Table, sample *Times) *Sizer {
	z := &Sizer{
		table: t, keys: len(t.PartitionKey), clustering: len(t.Clustering), statics: len(t.Statics),
		timestamp: 16 * assumedTimestamp, least: 1, most: 9,
	}
	if ttl, ok := t.Options["default_time_to_live"].(int); ok && ttl > 0 {
		z.expiry = 5
	}
	every := func(int) bool { return true }
	z.columns(every)
	if sample != nil {
		sample.into(z)
	}
	return z
}

// assumedTimestamp is the bytes of a timestamp about which nothing is known: as if written within
// hours of the first timestamp in its file.
const assumedTimestamp = 5

// columns sets the columns that rows have.
func (z *Sizer) columns(some func(place int) bool) {
	at := z.keys + z.clustering
	z.staticOrder, z.order = nil, nil
	for i := range z.table.Statics {
		if some(at + i) {
			z.staticOrder = append(z.staticOrder, i)
		}
	}
	for i := range z.table.Regulars {
		if some(at + z.statics + i) {
			z.order = append(z.order, i)
		}
	}
	sorted := func(order []int, columns []*schema.Column) {
		slices.SortStableFunc(order, func(a, b int) int {
			x, y := columns[a], columns[b]
			if multicell(x.Type) != multicell(y.Type) {
				return 2*count(multicell(x.Type)) - 1
			}
			return strings.Compare(x.Name, y.Name)
		})
	}
	sorted(z.staticOrder, z.table.Statics)
	sorted(z.order, z.table.Regulars)
}

// HiddenShard says that a door hides a column of four bytes in the partition key.
func (z *Sizer) HiddenShard() { z.hidden = 4 }

// Age says how long the table's columns have existed, for tables without readable timestamps. The
// Sizer assumes that rows were written evenly since then.
func (z *Sizer) Age(age time.Duration) {
	if z.read || age <= 0 {
		return
	}
	micros := float64(age.Microseconds())
	mean, from := 0.0, 0.0
	for n := 1; from < micros; n++ {
		to := math.Min(micros, math.Pow(2, float64(7*n)))
		mean += float64(n) * (to - from) / micros
		z.most, from = n, to
	}
	z.timestamp = int(math.Round(16 * mean))
}

// Guess says what the sizes assume; "": nothing.
func (z *Sizer) Guess() string {
	if z.read || z.table.Counter {
		return ""
	}
	return fmt.Sprintf("no column has a time that can be read: a row's timestamp is taken to have %.3g bytes, and may have %d to %d", float64(z.timestamp)/16, z.least, z.most)
}

// Partition returns the bytes of a partition without its rows: key, deletion time, end.
func (z *Sizer) Partition(cells [][]byte) int64 {
	n := 0
	for _, c := range cells[:z.keys] {
		n += len(c)
	}
	switch {
	case z.hidden > 0:
		n += z.hidden + 3*(z.keys+1)
	case z.keys > 1:
		n += 3 * z.keys
	}
	return int64(2 + n + 12 + 1)
}

// Row returns the bytes of row n of a partition, from 0. previous is the size of the row before it,
// or of the partition's beginning.
func (z *Sizer) Row(cells [][]byte, n, previous int64) int64 {
	size := 1
	blocks := (z.clustering + 31) / 32
	size += blocks
	for i, c := range z.table.Clustering {
		if v := cells[z.keys+i]; len(v) > 0 {
			size += written(c.Type, v)
		}
	}
	body := z.stamp(n) + z.expiry
	if z.table.Counter {
		body = 0 // an UPDATE leaves no mark of the row; each counter has its own timestamp
	}
	at := z.keys + z.clustering + z.statics
	return int64(size) + z.body(body, cells, at, z.table.Regulars, z.order, previous)
}

// stamp returns the bytes of row n's timestamp. Over many rows, they have the mean.
func (z *Sizer) stamp(n int64) int {
	t := int64(z.timestamp)
	return int((n*t+t+8)/16 - (n*t+8)/16)
}

// Static returns the bytes of the static row. If the table has static columns, every partition has
// one.
func (z *Sizer) Static(cells [][]byte) int64 {
	if z.statics == 0 {
		return 0
	}
	return 2 + z.body(0, cells, z.keys+z.clustering, z.table.Statics, z.staticOrder, 0)
}

func (z *Sizer) body(body int, cells [][]byte, at int, columns []*schema.Column, order []int, previous int64) int64 {
	complex := false
	for i, c := range columns {
		v := cells[at+i]
		if v == nil {
			continue
		}
		if multicell(c.Type) {
			complex = true
			body += z.collection(c.Type, v)
			continue
		}
		body += 1 + z.own[at+i]
		if z.statics > 0 && at < z.keys+z.clustering+z.statics && z.own[at+i] == 0 {
			body += z.stamp(0) // there is no row's timestamp to share
		}
		switch {
		case z.table.Counter:
			body += z.stamp(0) + counterContext + vint(counterContext)
		case len(v) > 0:
			body += written(c.Type, v)
		}
	}
	body += subset(cells, at, order)
	if complex {
		// An INSERT writes a deletion before each collection.
		for i, c := range columns {
			if cells[at+i] != nil && multicell(c.Type) {
				body += z.stamp(0) + 1
			}
		}
	}
	behind := vint(uint64(previous))
	return int64(vint(uint64(body+behind)) + behind + body)
}

// subset returns the bytes that say which columns a row has, if it does not have all: one bit for
// each column or, with many columns, the places of the present or the absent ones, whichever are
// fewer (Columns.Serializer.serializeSubset).
func subset(cells [][]byte, at int, order []int) int {
	present, last := 0, 0
	for i, c := range order {
		if cells[at+c] != nil {
			present++
		} else {
			last = i + 1
		}
	}
	switch {
	case present >= len(order):
		return 0
	case len(order) < 64:
		return (last + 6) / 7
	}
	n := vint(uint64(len(order) - present))
	there := present < len(order)/2
	for i, c := range order {
		if (cells[at+c] != nil) == there {
			n += vint(uint64(i))
		}
	}
	return n
}

// counterContext is the bytes of a counter that one node has counted: a header, the node's id, its
// clock and its count.
const counterContext = 2 + 2 + 32

// collection returns the bytes of a collection or user-defined type whose parts are separate cells.
func (z *Sizer) collection(t *value.Type, v []byte) int {
	size, n := 0, 0
	p := t.Parts(v)
	for p.Next() {
		part := p.Part()
		switch t.Kind {
		case value.Map:
			size += 1 + len(part) + vint(uint64(len(part)))
			if p.Next() {
				if item := p.Part(); len(item) > 0 {
					size += written(t.Elems[1], item)
				}
			}
		case value.Set:
			size += 1 + len(part) + vint(uint64(len(part)))
		case value.UDT:
			if part == nil {
				continue
			}
			size += 1 + 2
			if len(part) > 0 && n < len(t.Elems) {
				size += written(t.Elems[n], part)
			}
		default: // a list: a timeuuid for each element
			size += 1 + 17
			if len(part) > 0 {
				size += written(t.Elems[0], part)
			}
		}
		n++
	}
	return size + vint(uint64(n))
}

func multicell(t *value.Type) bool {
	return (t.Collection() || t.Kind == value.UDT) && !t.Frozen
}

// written returns the bytes of a value, with its length if the type does not fix it.
func written(t *value.Type, v []byte) int {
	if fixed(t) {
		return len(v)
	}
	return len(v) + vint(uint64(len(v)))
}

// fixed reports whether Cassandra writes values of a type without their length
// (AbstractType.valueLengthIfFixed). It does not for small integers, dates and times.
func fixed(t *value.Type) bool {
	switch t.Kind {
	case value.Boolean, value.Int, value.Bigint, value.Float, value.Double, value.UUID, value.Timeuuid, value.Timestamp:
		return true
	case value.Vector:
		return fixed(t.Elems[0])
	}
	return false
}

// vint returns the bytes of an unsigned vint.
func vint(n uint64) int {
	return min(9, (bits.Len64(n|1)+6)/7)
}

// Times holds the timestamps and times to live of some rows: for each timed column (places in
// schema.Table.All), two cells of 8 and 4 bytes.
type Times struct {
	table *schema.Table
	timed []int
	rows  []timedRow
	some  map[int]bool // columns that any row has
}

type timedRow struct {
	row   int64 // the row's own timestamp: assumed to be the one that most cells have
	cells []int64
	ttl   int32
}

// NewTimes makes an empty Times. timed holds the places of the columns in schema.Table.All.
func NewTimes(t *schema.Table, timed []int) *Times {
	return &Times{table: t, timed: timed, some: make(map[int]bool)}
}

// Add adds a row: its cells, followed by two cells for each timed column.
func (s *Times) Add(cells [][]byte) {
	n := len(cells) - 2*len(s.timed)
	for i, c := range cells[:n] {
		if c != nil {
			s.some[i] = true
		}
	}
	if n == 0 || len(s.rows) >= 4096 {
		return
	}
	r := timedRow{row: -1, cells: make([]int64, len(s.timed))}
	votes := map[int64]int{}
	for i := range s.timed {
		r.cells[i] = -1
		at := cells[n+2*i]
		if len(at) != 8 {
			continue
		}
		r.cells[i] = number(at)
		if ttl := cells[n+2*i+1]; len(ttl) == 4 {
			r.ttl = max(r.ttl, int32(number(ttl)))
		}
		votes[r.cells[i]]++
		if r.row < 0 || votes[r.cells[i]] > votes[r.row] || votes[r.cells[i]] == votes[r.row] && r.cells[i] < r.row {
			r.row = r.cells[i]
		}
	}
	if r.row >= 0 {
		s.rows = append(s.rows, r)
	}
}

func number(v []byte) (n int64) {
	for _, b := range v {
		n = n<<8 | int64(b)
	}
	return n
}

// into passes what the sample shows to a Sizer.
func (s *Times) into(z *Sizer) {
	if len(s.some) > 0 {
		z.columns(func(place int) bool { return s.some[place] })
	}
	if len(s.rows) == 0 {
		return
	}
	z.read = true
	least := s.rows[0].row
	for _, r := range s.rows {
		for _, c := range r.cells {
			if c >= 0 {
				least = min(least, c)
			}
		}
	}
	total, expiring := 0, 0
	own, seen := make(map[int]int), make(map[int]int)
	for _, r := range s.rows {
		total += vint(uint64(r.row - least))
		if r.ttl > 0 {
			expiring++
		}
		for i, c := range r.cells {
			if c < 0 {
				continue
			}
			seen[s.timed[i]]++
			if c != r.row {
				own[s.timed[i]] += vint(uint64(c - least))
			}
		}
	}
	z.timestamp = (16*total + len(s.rows)/2) / len(s.rows)
	z.own = make(map[int]int)
	for place, bytes := range own {
		z.own[place] = (bytes + seen[place]/2) / seen[place]
	}
	z.expiry = 0
	if expiring > len(s.rows)/2 {
		// The time to live, and its end, in seconds from the earliest.
		z.expiry = 1 + max(1, z.stamp(0)-2)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
