package inspection

import (
	"math/bits"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// Sizer works out how many bytes partitions and rows take in an SSTable of format
// big (versions na to nb, Cassandra 4 and 5 by default) before compression
// (org.apache.cassandra.db.rows.UnfilteredSerializer, Cell.Serializer). Cells come
// in the order of schema.Table.All.
type Sizer struct {
	table                 *schema.Table
	keys, clustering      int
	statics               int
	timestamp, expiry     int         // bytes of a row's timestamp, and of its expiry where rows have one
	own                   map[int]int // bytes of a cell's own timestamp, on average, by place
	wanted, wantedStatics int         // columns that rows have at all; SSTables name no others
}

// NewSizer makes a Sizer; sample is rows of the table with their times, nil where
// there are none.
func NewSizer(t *schema.Table, sample *Times) *Sizer {
	z := &Sizer{
		table: t, keys: len(t.PartitionKey), clustering: len(t.Clustering), statics: len(t.Statics),
		timestamp: 5, // of hours
		wanted:    len(t.Regulars), wantedStatics: len(t.Statics),
	}
	if ttl, ok := t.Options["default_time_to_live"].(int); ok && ttl > 0 {
		z.expiry = 5
	}
	if sample != nil {
		sample.into(z)
	}
	return z
}

// Partition is the bytes of a partition without its rows: key, deletion time, end.
func (z *Sizer) Partition(cells [][]byte) int64 {
	n := 0
	for _, c := range cells[:z.keys] {
		n += len(c)
	}
	if z.keys > 1 {
		n += 3 * z.keys
	}
	return int64(2 + n + 12 + 1)
}

// Row is the bytes of a row; previous is what the one before it took, or the
// partition's beginning.
func (z *Sizer) Row(cells [][]byte, previous int64) int64 {
	size := 1
	blocks := (z.clustering + 31) / 32
	size += blocks
	for i, c := range z.table.Clustering {
		if v := cells[z.keys+i]; len(v) > 0 {
			size += written(c.Type, v)
		}
	}
	body := z.timestamp + z.expiry
	if z.table.Counter {
		body = 0 // an UPDATE leaves no mark of the row; each counter has its own timestamp
	}
	at := z.keys + z.clustering + z.statics
	return int64(size) + z.body(body, cells, at, z.table.Regulars, z.wanted, previous)
}

// Static is the bytes of the static row, which every partition has where the table
// has static columns.
func (z *Sizer) Static(cells [][]byte) int64 {
	if z.statics == 0 {
		return 0
	}
	return 2 + z.body(0, cells, z.keys+z.clustering, z.table.Statics, z.wantedStatics, 0)
}

func (z *Sizer) body(body int, cells [][]byte, at int, columns []*schema.Column, wanted int, previous int64) int64 {
	present, complex := 0, false
	for i, c := range columns {
		v := cells[at+i]
		if v == nil {
			continue
		}
		present++
		if multicell(c.Type) {
			complex = true
			body += z.collection(c.Type, v)
			continue
		}
		body += 1 + z.own[at+i]
		if z.statics > 0 && at < z.keys+z.clustering+z.statics && z.own[at+i] == 0 {
			body += z.timestamp // no row's timestamp to share
		}
		switch {
		case z.table.Counter:
			body += z.timestamp + counterContext + vint(counterContext)
		case len(v) > 0:
			body += written(c.Type, v)
		}
	}
	if present < wanted {
		body++ // which columns there are
		if wanted > 7 {
			body += (wanted - 1) / 8
		}
	}
	if complex {
		// INSERT of a collection writes a deletion before it, in each of them.
		for i, c := range columns {
			if cells[at+i] != nil && multicell(c.Type) {
				body += z.timestamp + 1
			}
		}
	}
	behind := vint(uint64(previous))
	return int64(vint(uint64(body+behind)) + behind + body)
}

// counterContext is the bytes of a counter that one node has counted: a header, its
// id, its clock and its count.
const counterContext = 2 + 2 + 32

// collection is the bytes of a collection or user-defined type whose parts are cells
// of their own.
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

// written is a value with its length, where its type does not give that.
func written(t *value.Type, v []byte) int {
	if fixed(t) {
		return len(v)
	}
	return len(v) + vint(uint64(len(v)))
}

// fixed says whether Cassandra writes values of a type without their length
// (AbstractType.valueLengthIfFixed): small integers, dates and times are not among
// them.
func fixed(t *value.Type) bool {
	switch t.Kind {
	case value.Boolean, value.Int, value.Bigint, value.Float, value.Double, value.UUID, value.Timeuuid, value.Timestamp:
		return true
	case value.Vector:
		return fixed(t.Elems[0])
	}
	return false
}

// vint is the bytes of an unsigned vint.
func vint(n uint64) int {
	return min(9, (bits.Len64(n|1)+6)/7)
}

// Times are the timestamps and times to live of some rows: of each of the timed
// columns (places in schema.Table.All), two cells of 8 and 4 bytes.
type Times struct {
	table *schema.Table
	timed []int
	rows  []timedRow
	some  map[int]bool // columns that any row has
}

type timedRow struct {
	row   int64 // the row's own, taken for the timestamp that most cells have
	cells []int64
	ttl   int32
}

// NewTimes takes times of rows; timed are the places of the columns in
// schema.Table.All.
func NewTimes(t *schema.Table, timed []int) *Times {
	return &Times{table: t, timed: timed, some: make(map[int]bool)}
}

// Add takes a row: its cells, and behind them two of each timed column.
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

// into gives a Sizer what the sample tells.
func (s *Times) into(z *Sizer) {
	at := z.keys + z.clustering
	if len(s.some) > 0 {
		z.wanted, z.wantedStatics = 0, 0
		for i := range z.table.Statics {
			z.wantedStatics += count(s.some[at+i])
		}
		for i := range z.table.Regulars {
			z.wanted += count(s.some[at+z.statics+i])
		}
	}
	if len(s.rows) == 0 {
		return
	}
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
	z.timestamp = (total + len(s.rows)/2) / len(s.rows)
	z.own = make(map[int]int)
	for place, bytes := range own {
		z.own[place] = (bytes + seen[place]/2) / seen[place]
	}
	z.expiry = 0
	if expiring > len(s.rows)/2 {
		// Time to live, and when it ends, in seconds from the earliest.
		z.expiry = 1 + max(1, z.timestamp-2)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
