package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// PageSize is how many bytes of items a page reads: it ends with the item that
// reaches it. DynamoDB: 1 MB, before the filter.
const PageSize = 1 << 20

// query is the plan of a Query: of an index, of one shard or of several.
func (t *Table) query(q *api.Query) (Plan, error) {
	ix, k, err := q.Check(t.Logical)
	if err != nil {
		return nil, err
	}
	if ix != nil {
		return t.queryIndex(q, ix)
	}
	if err := checkPaths(slices.Values(q.Projection.Paths())); err != nil {
		return nil, err
	}
	if err := checkPaths(q.Filter.Paths()); err != nil {
		return nil, err
	}
	if err := t.checkLength(k.Hash[0]); err != nil {
		return nil, err
	}
	n := t.shards(k.Hash[0])
	if k.Op == expression.Equal {
		return t.queryShard(q, k, t.shardOf(k.Hash[0], k.Low)), nil
	}
	if n == 1 {
		return t.queryShard(q, k, 1), nil
	}
	f := &Fanout{table: t, query: q, keys: k}
	for s := range n {
		f.Shards = append(f.Shards, s+1)
	}
	if q.Start != nil {
		start, _ := q.Start.Get(t.sort.Name)
		f.Start = &Row{Sort: start}
	}
	return f, nil
}

// physicalRange is a range of one shard as a physical key condition.
func (t *Table) physicalRange(k expression.KeyRange, shard int) *expression.KeyCondition {
	k.Hash = []attribute.Value{t.partition(k.Hash[0], shard)}
	return k.Condition([]string{PartitionKey}, []string{t.sort.Name})
}

// queryShard is the plan of a Query that one shard answers.
func (t *Table) queryShard(q *api.Query, k expression.KeyRange, shard int) Plan {
	p := *q
	p.Table = t.Physical
	p.KeyCondition = t.physicalRange(k, shard)
	if q.Start != nil {
		p.Start = t.physicalStart(q.Start, nil)
	}
	return t.reading(&p, q.Start)
}

// Fanout is the plan of a Query that reads several shards. Who carries it out reads
// rows in order, as many as Page says, each shard by the requests of Fetch; gives
// them to Add; and, once that says that there are enough, answers with Answer.
type Fanout struct {
	Shards []int // to read
	Start  *Row  // read after this row; nil: from the beginning

	table *Table
	query *api.Query
	keys  expression.KeyRange
}

// Row is an item that was read.
type Row struct {
	Sort attribute.Value   // of the sort key: no two rows of a partition have the same
	Item attribute.Item    // without what is hidden
	Text attribute.Encoded // likewise
	Size int               // as an unsharded table has it
}

// Compare orders rows as the answer has them.
func (f *Fanout) Compare(a, b *Row) int {
	c, _ := attribute.Compare(a.Sort, b.Sort)
	if f.query.Backward {
		return -c
	}
	return c
}

// Err implements Plan.
func (f *Fanout) Err(err error) error { return visibleError(err) }

// String implements Plan.
func (f *Fanout) String() string {
	first := f.Fetch(f.Shards[0], f.Start, nil, 0)
	first.Limit = 0
	s := fmt.Sprintf("%d shards of %s, merged by %s\n  %s", len(f.Shards), f.table.Logical.Name, f.table.sort.Name, describe(first))
	if f.query.Filter != nil {
		s += fmt.Sprintf("\n  then filter %s", f.query.Filter)
	}
	if f.query.Projection != nil {
		s += fmt.Sprintf("\n  then projection %s", f.query.Projection)
	}
	if f.query.Select == api.SelectCount {
		s += "\n  then count"
	}
	if f.query.Limit > 0 {
		s += fmt.Sprintf("\n  then limit %d", f.query.Limit)
	}
	return s
}

// guess is how many rows a page is thought to have while nothing is known: such
// that a page of small items takes few rounds, and one of large items few rows too
// many.
const guess = 256

// Page is how many rows to read next, when so many have been read with so many
// bytes.
func (f *Fanout) Page(rows, bytes int) int {
	n := guess
	if rows > 0 {
		mean := max(1, bytes/rows)
		n = max(1, (PageSize-bytes+mean-1)/mean)
	}
	if f.query.Limit > 0 {
		n = min(n, f.query.Limit-rows)
	}
	return max(1, n)
}

// Fetch is the request for rows of one shard: the first limit ones after a row and
// up to another, in the order of the answer; nil is no bound. What comes may have
// rows beyond the bounds: Rows leaves them out.
func (f *Fanout) Fetch(shard int, after, upto *Row, limit int) *api.Query {
	t := f.table
	q := &api.Query{
		Read: api.Read{
			Table: t.Physical, Limit: limit, Consistent: f.query.Consistent, Capacity: f.query.Capacity,
		},
		Backward: f.query.Backward,
	}
	k := f.keys
	if upto != nil {
		k = f.upto(k, upto.Sort)
	}
	q.KeyCondition = t.physicalRange(k, shard)
	if after != nil {
		q.Start = attribute.NewItem(
			attribute.Attribute{Name: PartitionKey, Value: t.partition(f.keys.Hash[0], shard)},
			attribute.Attribute{Name: t.sort.Name, Value: after.Sort})
	}
	return q
}

// upto narrows a range to what comes up to a value of it: DynamoDB takes one
// condition on the sort key, so that a bound that is excluded may be let in.
func (f *Fanout) upto(k expression.KeyRange, v attribute.Value) expression.KeyRange {
	between := func(low, high attribute.Value) expression.KeyRange {
		if c, _ := attribute.Compare(low, high); c > 0 {
			low, high = high, low
		}
		k.Op, k.Low, k.High = expression.Between, low, high
		return k
	}
	if f.query.Backward {
		switch k.Op {
		case expression.Less, expression.LessOrEqual:
			return between(v, k.Low)
		case expression.BeginsWith:
			return between(v, last(k.Low))
		case expression.Between:
			return between(v, k.High)
		}
		k.Op, k.Low = expression.GreaterOrEqual, v
		return k
	}
	switch k.Op {
	case expression.Greater, expression.GreaterOrEqual, expression.BeginsWith, expression.Between:
		return between(k.Low, v)
	}
	k.Op, k.Low = expression.LessOrEqual, v
	return k
}

// last is the last sort key that begins with a prefix.
func last(prefix attribute.Value) attribute.Value {
	text := prefix.Text()
	left := attribute.MaxRangeSize - len(text)
	if prefix.Kind() == attribute.B {
		return attribute.Binary(text + strings.Repeat("\xff", max(0, left)))
	}
	var b strings.Builder
	b.WriteString(text)
	// The last characters of four, three, two and one bytes, as many as fit.
	for _, c := range []string{"\U0010ffff", "\uffff", "\u07ff", "\x7f"} {
		for ; left >= len(c); left -= len(c) {
			b.WriteString(c)
		}
	}
	return attribute.String(b.String())
}

// Rows returns the rows that an answer to a Fetch has within the bounds, and, where
// it has fewer than were asked for and there may be more (it was cut off, or began
// with rows outside the bounds), the request for what follows; else nil. d decodes
// the items: rows share its memory, and none of the answer's.
func (f *Fanout) Rows(d *attribute.Decoder, q *api.Query, r *api.ItemsResponse, after, upto *Row) (rows []Row, rest *api.Query, err error) {
	rows = make([]Row, 0, len(r.Items))
	beyond := false
	size := 0
	for _, text := range r.Items {
		size += len(text)
	}
	arena := make(attribute.Encoded, 0, size)
	for _, text := range r.Items {
		start := len(arena)
		arena = appendStripped(arena, text, "")
		text = arena[start:len(arena):len(arena)]
		item, err := d.Item(text)
		if err != nil {
			return nil, nil, fmt.Errorf("table %s has an item that is none: %w", f.table.Physical, err)
		}
		sort, ok := item.Get(f.table.sort.Name)
		if !ok {
			return nil, nil, exception.New(exception.InternalServerError, "table %s has an item without its sort key", f.table.Physical)
		}
		row := Row{Sort: sort, Item: item, Text: text, Size: item.Size()}
		if f.within(&row, after, upto) {
			rows = append(rows, row)
		} else if beyond = len(rows) > 0 || upto != nil && f.Compare(&row, upto) > 0; beyond {
			break
		}
	}
	if r.LastKey == nil || beyond || q.Limit > 0 && len(rows) >= q.Limit {
		return rows, nil, nil
	}
	next := *q
	next.Start = keep(r.LastKey)
	if next.Limit > 0 {
		next.Limit -= len(rows)
	}
	return rows, &next, nil
}

// keep copies a key out of an answer's memory.
func keep(key attribute.Item) attribute.Item {
	var d attribute.Decoder
	out, err := d.Item(key.Encode())
	if err != nil {
		return key
	}
	return out
}

func (f *Fanout) within(row, after, upto *Row) bool {
	return (after == nil || f.Compare(row, after) > 0) && (upto == nil || f.Compare(row, upto) <= 0) &&
		f.keys.Match([]attribute.Value{row.Sort})
}

// Result collects the page.
type Result struct {
	fanout *Fanout
	out    api.ItemsResponse
	bytes  int
	last   *Row
	full   bool
}

// Result returns the empty page.
func (f *Fanout) Result() *Result {
	r := &Result{fanout: f}
	if r.out.CountOnly = f.query.Select == api.SelectCount; !r.out.CountOnly {
		r.out.Items = []attribute.Encoded{}
	}
	return r
}

// Scanned is how many rows the page has before the filter, and how many bytes.
func (r *Result) Scanned() (rows, bytes int) { return r.out.ScannedCount, r.bytes }

// Last is the page's last row before the filter: what follows is read after it. It
// is nil while there is none.
func (r *Result) Last() *Row { return r.last }

// Add adds the rows that come next, as far as the page takes them. It is full when
// it has Limit rows or a megabyte.
func (r *Result) Add(rows []Row) (full bool) {
	q := r.fanout.query
	for i := range rows {
		if r.full {
			return true
		}
		row := &rows[i]
		r.last = row
		r.bytes += row.Size
		r.out.ScannedCount++
		if q.Filter.Match(row.Item) {
			r.out.Count++
			switch {
			case r.out.CountOnly:
			case q.Projection != nil:
				r.out.Items = append(r.out.Items, q.Projection.Apply(row.Item).Encode())
			default:
				r.out.Items = append(r.out.Items, row.Text)
			}
		}
		r.full = r.bytes >= PageSize || q.Limit > 0 && r.out.ScannedCount == q.Limit
	}
	return r.full
}

// Consumed adds what an answer to a Fetch took.
func (r *Result) Consumed(c *api.ConsumedCapacity) {
	if c == nil {
		return
	}
	if r.out.Capacity == nil {
		r.out.Capacity = &api.ConsumedCapacity{Table: r.fanout.table.Logical.Name, Detail: c.Detail, Display: c.Display}
	}
	r.out.Capacity.Add(c)
}

// Answer is the answer to the client. A page that is not full is the last.
func (r *Result) Answer() *api.ItemsResponse {
	if r.full {
		t := r.fanout.table
		r.out.LastKey = attribute.NewItem(
			attribute.Attribute{Name: t.hash.Name, Value: r.fanout.keys.Hash[0]},
			attribute.Attribute{Name: t.sort.Name, Value: r.last.Sort})
	}
	return &r.out
}
