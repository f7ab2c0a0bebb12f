// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// PageSize is the number of bytes of items that a page reads. A page ends with the item that
// reaches it. DynamoDB: 1 MB, before the filter.
const PageSize = 1 << 20

// query returns the plan of a Query on an index, on one shard or on several.
func query(t *Table, q *api.Query) (Plan, error) {
	asked, startShard := q, 0
	if t.drawn() && q.Start != nil {
		logical := *q
		var err error
		if logical.Start, startShard, err = t.adopted.start(q.Start); err != nil {
			return nil, err
		}
		q = &logical
	}
	var at position
	if q.Index != "" && q.Start.Has(began) { // an answer during or after a change of the layout gave this position
		logical := *q
		var err error
		if at, logical.Start, err = t.position(q.Start); err != nil {
			return nil, err
		}
		q, asked = &logical, &logical
	}
	ix, k, err := q.Check(t.Logical)
	if err != nil {
		return nil, err
	}
	if err := checkPaths(slices.Values(q.Projection.Paths())); err != nil {
		return nil, err
	}
	if err := t.checkCondition(q.Filter); err != nil {
		return nil, err
	}
	f := &Fanout{table: t, query: q, keys: k, index: ix, ties: ix != nil || t.drawn()}
	var all []int
	switch {
	case ix != nil && !t.local(ix):
		in := t.indexes.sharded(ix.Name)
		if in == nil {
			return queryIndex(t, asked, ix)
		}
		s := in.layout.Default()
		all = s.Places()
		f.shardOf = func(key attribute.Item) int { return in.shardOf(&t.keys, key) }
		f.partition = func(shard int) (names []string, values []attribute.Value) {
			return append([]string{in.attribute()}, ix.Key.Hash...), append([]attribute.Value{attribute.Int(int64(shard))}, k.Hash...)
		}
	case t.Layout == nil:
		return forward(t, q), nil
	default:
		if err := t.CheckHash(k.Hash[0]); err != nil {
			return nil, err
		}
		switch {
		case ix == nil && (t.Timed() || t.from != nil && t.from.Timed()):
			f.timed = true
		case ix == nil && t.Rolls():
			f.rolls = true
			start, _ := q.Start.Get(t.sort.Name)
			all = f.inRange(k.Hash[0], start)
		default:
			all = t.shards(k.Hash[0])
		}
		f.shardOf = func(key attribute.Item) int {
			sort, _ := key.Get(t.sort.Name)
			return t.shardOf(k.Hash[0], sort)
		}
		f.partition = func(shard int) ([]string, []attribute.Value) {
			at := t.at(shard)
			return []string{at.keyName()}, []attribute.Value{at.partition(k.Hash[0], shard)}
		}
	}
	f.sort = t.sort.Name
	if ix != nil {
		f.sort = ""
		if len(ix.Key.Range) == 1 {
			f.sort = ix.Key.Range[0]
		}
	}
	switch {
	case ix == nil && k.Op == expression.Equal && !t.drawn():
		f.Shards, f.timed, f.rolls = t.places(k.Hash[0], k.Low), false, false
	default:
		f.Shards = all
	}
	if len(f.Shards) == 1 && !t.drawn() && !t.strict {
		return f.one(f.Shards[0]), nil
	}
	if q.Start != nil {
		f.Start = f.row(q.Start, startShard)
	}
	if f.marks() {
		f.began = t.Layout.Generation
		if q.Start != nil {
			f.startAt(at)
		}
	}
	return f, nil
}

// forward returns the plan of a Query on a plain table with sharded indexes.
func forward(t *Table, q *api.Query) Plan {
	p := *q
	p.Table = t.Physical
	return reading(t, &p)
}

// one returns the plan of the Query if one shard answers it.
func (f *Fanout) one(shard int) Plan {
	p := *f.query
	p.Table = f.table.Physical
	p.KeyCondition = f.condition(f.keys, shard)
	if f.query.Start != nil {
		p.Start = f.table.physicalStart(f.query.Start, f.index)
	}
	return reading(f.table, &p)
}

// condition returns the physical key condition for a range in one shard.
func (f *Fanout) condition(k expression.KeyRange, shard int) *expression.KeyCondition {
	names, values := f.partition(shard)
	k.Hash = values
	return k.Condition(names, []string{f.sort})
}

// Fanout is the plan of a Query that reads several shards. The caller reads rows in order, as many
// as Page returns, and reads each shard with the requests of Fetch. It passes the rows to
// Result.Add. When Add reports that the page is full, the caller answers with Result.Answer.
type Fanout struct {
	Shards []int // the shards to read
	Start  *Row  // read after this row; nil: from the beginning
	timed  bool  // Shards are those of one of Parts
	rolls  bool  // Parts has one of Shards at a time

	table *Table
	query *api.Query
	index *schema.Index // nil: the Query is on the table itself
	keys  expression.KeyRange
	sort  string // the sort key by which rows are read; empty: the index has none
	ties  bool   // rows may have equal sort keys
	began int64  // the generation in which the read of an index began whose positions are marked

	shardOf   func(key attribute.Item) int
	partition func(shard int) (names []string, values []attribute.Value)
	seq       atomic.Int64 // sequence number of the last row
}

// Row is an item that was read. Most rows that a Fanout reads are not in its page. So a row is not
// decoded before the page takes it, and a page decodes one row after the other: a decoded item can
// take many times the bytes of its text.
type Row struct {
	Sort attribute.Value   // value of the sort key
	Key  attribute.Item    // the keys of the table and the index; nil if Sort is enough to order rows
	Text attribute.Encoded // without hidden attributes, unless Size is 0
	Size int               // its size in an unsharded table; 0: not known yet

	At   int  // the shard of the table in which it was
	Stub bool // it is what remains of an item that moved to another shard

	shard int
	seq   int64 // orders rows from one shard
}

// row returns a position after the item with these keys in a shard. For shard 0, the keys determine
// the shard.
func (f *Fanout) row(key attribute.Item, shard int) *Row {
	if shard == 0 {
		shard = f.shardOf(key)
	}
	r := &Row{Key: key, shard: shard}
	r.Sort, _ = key.Get(f.sort)
	return r
}

// marks reports whether positions are marked: the table's layout was changed once, and items have
// moved, or move, in the order of an index.
func (f *Fanout) marks() bool { return f.table.strict && f.index != nil }

// startAt sets where the item of the row to start after was. A position without marks is one in the
// layout before the change.
func (f *Fanout) startAt(p position) {
	f.Start.At = p.place
	if f.began = p.began; !p.marked {
		was := &f.table.placement
		if was.from != nil {
			was = &was.from.placement
		}
		f.Start.At = was.Shard(f.Start.Key)
	}
	if f.table.local(f.index) {
		f.Start.shard = f.Start.At
	}
}

// Index returns the index that is read, or nil for the table.
func (f *Fanout) Index() *schema.Index { return f.index }

// Compare orders rows as in the answer: by the sort key, then by shard, then as the store orders
// them within a shard.
func (f *Fanout) Compare(a, b *Row) int {
	c, _ := attribute.Compare(a.Sort, b.Sort)
	if c == 0 && f.ties {
		c = cmp.Compare(a.shard, b.shard)
	}
	if f.query.Backward {
		c = -c
	}
	if c == 0 && f.ties {
		c = cmp.Compare(a.seq, b.seq)
	}
	return c
}

// Err implements Plan.
func (f *Fanout) Err(err error) error { return visibleError(err, nil) }

// String implements Plan.
func (f *Fanout) String() string {
	some, text := f.Shards, fmt.Sprintf("%d shards", len(f.Shards))
	switch {
	case f.rolls:
		text = f.rolledText()
	case f.Moves():
		return fmt.Sprintf("the places of two layouts of %s, by slices of time, merged by %s", f.name(), f.sort)
	case f.timed:
		first, last := f.span()
		some = []int{f.table.timing.place(first, 0)}
		text = f.table.timing.describe(first, last)
	}
	s := fmt.Sprintf("%s of %s, merged by %s", text, f.name(), f.sort)
	if fetch := f.Fetch(some[0], f.Start, nil, 0); fetch != nil {
		s += "\n  " + fetch.Describe()
	}
	var then []string
	f.thenText(&then)
	for _, text := range then {
		s += "\n  then " + text
	}
	return s
}

// guess is the number of rows that a page is assumed to have before any row is known. With it, a
// page of small items takes few rounds, and a page of large items reads only a few rows too many.
const guess = 256

// Limited reports whether the client has limited the number of rows.
func (f *Fanout) Limited() bool { return f.query.Limit > 0 }

// Page returns the number of rows to read next, after rows with a number of bytes have been read.
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

// name returns the name of the table or index that is read.
func (f *Fanout) name() string {
	if f.index != nil {
		return f.table.Logical.Name + "/" + f.index.Name
	}
	return f.table.Logical.Name
}

// Fetch returns the request for rows of one shard: the first limit rows after a row and up to
// another, in the order of the answer. A nil row means no bound. The answer may have rows beyond
// the bounds, which Rows leaves out. Fetch returns nil if there can be no such rows.
func (f *Fanout) Fetch(shard int, after, upto *Row, limit int) *api.Query {
	q := &api.Query{
		Read: api.Read{
			Table: f.table.at(shard).Physical, Limit: limit, Consistent: f.query.Consistent, Capacity: f.query.Capacity, Select: f.table.selects(&f.query.Read, f.index),
		},
		Backward: f.query.Backward,
	}
	k := f.keys
	if f.index != nil {
		q.Index = f.index.Name
	}
	if after != nil || upto != nil {
		i := intervalOf(&k)
		if upto != nil && !f.narrow(&i, upto, shard, true) {
			return nil
		}
		switch {
		case after == nil:
		case !f.ties:
			// Sort keys are unique, so any shard can continue after one.
			key := attribute.NewItem(attribute.Attribute{Name: f.sort, Value: after.Sort})
			names, values := f.partition(shard)
			q.Start = key.With(names[0], values[0])
		case after.shard == shard:
			q.Start = f.physicalStart(after)
		case !f.narrow(&i, after, shard, false):
			return nil
		}
		if i.empty() {
			return nil
		}
		if f.sort != "" && (upto != nil || q.Start == nil) {
			k = i.keyRange(k)
		}
	}
	q.KeyCondition = f.condition(k, shard)
	return q
}

// physicalStart returns the position after a row in its own shard.
func (f *Fanout) physicalStart(row *Row) attribute.Item {
	switch {
	case f.table.drawn():
		return f.table.startIn(row.Key, f.index, f.table.partition(f.keys.Hash[0], row.shard))
	case f.marks():
		return f.table.physicalStartIn(row.Key, f.index, f.partitionOf(row))
	}
	return f.table.physicalStart(row.Key, f.index)
}

// partitionOf returns the physical partition from which a row of an index is.
func (f *Fanout) partitionOf(row *Row) attribute.Value {
	hash, _ := f.table.of(row.Key)
	return f.table.partition(hash, row.At)
}

// narrow narrows an interval of a shard to the rows up to a row of any shard, or after it. It
// returns false if there can be none.
func (f *Fanout) narrow(i *interval, row *Row, shard int, upto bool) bool {
	// ties says whether rows of this shard with the row's sort key are on the wanted side of the
	// row.
	ties := !f.ties
	if f.ties {
		c := cmp.Compare(shard, row.shard)
		if f.query.Backward {
			c = -c
		}
		ties = upto && c <= 0 || !upto && c > 0
	}
	if f.sort == "" {
		return ties
	}
	v := row.Sort
	switch {
	case upto != f.query.Backward && ties:
		*i = i.to(v)
	case upto != f.query.Backward:
		*i = i.to(before(v))
	case ties:
		*i = i.from(v)
	default:
		*i = i.from(after(v))
	}
	return true
}

// selects returns what to select. For a local index, it selects all attributes if the client asks
// for attributes that the index does not have.
func (t *Table) selects(r *api.Read, ix *schema.Index) api.Select {
	if !t.local(ix) || ix.Projection.Type == schema.ProjectAll {
		return api.SelectDefault
	}
	if r.Select == api.SelectAll {
		return api.SelectAll
	}
	has := append(api.StartNames(t.Logical, ix), ix.Projection.NonKey...)
	for _, p := range r.Projection.Paths() {
		if !slices.Contains(has, p.Name) {
			return api.SelectAll
		}
	}
	return api.SelectDefault
}

// Rows returns the rows of an answer to a Fetch that are within the bounds. If it has fewer than
// were requested and more may exist, because the answer was cut off or began with rows outside the
// bounds, rest is the request for the following rows; otherwise rest is nil. d decodes their
// keys. Rows share the memory of d, but not that of the answer.
func (f *Fanout) Rows(d *attribute.Decoder, at int, q *api.Query, r *api.ItemsResponse, after, upto *Row) (rows []Row, rest *api.Query, err error) {
	rows = make([]Row, 0, len(r.Items))
	var names []string // of the keys; nil: the sort key is enough
	if !f.bySortKey() {
		names = api.StartNames(f.table.Logical, f.index)
	}
	beyond := false
	size := 0
	for _, text := range r.Items {
		size += len(text)
	}
	arena := make(attribute.Encoded, 0, size)
	for _, text := range r.Items {
		start := len(arena)
		arena = append(arena, text...)
		row := Row{Text: arena[start:len(arena):len(arena)], At: at, Stub: f.table.from != nil && isStub(text)}
		shard := 0
		if f.table.adopted != nil {
			row.Text, shard = f.table.adopted.cutInPlace(row.Text)
		}
		if f.marks() {
			if row.At, err = f.placeOf(d, text); err != nil {
				return nil, nil, err
			}
		}
		if err := f.readKeys(d, &row, names); err != nil {
			return nil, nil, err
		}
		if f.table.elsewhere(&row) || f.strays(&row) {
			continue
		}
		if f.ties {
			switch row.seq = f.seq.Add(1); {
			case f.table.drawn():
				row.shard = shard
			case f.marks():
				row.shard = at
			default:
				row.shard = f.shardOf(row.Key)
			}
		}
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

// placeOf returns the shard of the table in which the item of an index's entry is.
func (f *Fanout) placeOf(d *attribute.Decoder, entry attribute.Encoded) (int, error) {
	from, to := member(entry, PartitionKey)
	if from == to {
		return 0, exception.New(exception.InternalServerError, "index %s has an entry without its partition", f.name())
	}
	v, err := d.Value(entry[from:to])
	if err != nil {
		return 0, f.noItem(err)
	}
	_, place, err := f.table.cut(v)
	return place, err
}

// readSort reads the sort key of an encoded row.
func (f *Fanout) readSort(d *attribute.Decoder, row *Row) (err error) {
	from, to := member(row.Text, f.sort)
	if from == to {
		return f.noSort()
	}
	if row.Sort, err = d.Value(row.Text[from:to]); err != nil {
		return f.noItem(err)
	}
	return nil
}

// readKeys reads the keys with some names, or only the sort key if names is nil.
func (f *Fanout) readKeys(d *attribute.Decoder, row *Row, names []string) (err error) {
	if names == nil {
		return f.readSort(d, row)
	}
	if f.table.adopted == nil {
		row.Text = stripInPlace(row.Text) // before the keys share its memory
	}
	if row.Key, err = d.Some(row.Text, names...); err != nil {
		return f.noItem(err)
	}
	if f.sort == "" {
		return nil
	}
	var ok bool
	if row.Sort, ok = row.Key.Get(f.sort); !ok {
		return f.noSort()
	}
	return nil
}

// item decodes a row, and notes its size. The item is in the memory of d, the row's sort key in that
// of keys.
func (f *Fanout) item(d, keys *attribute.Decoder, row *Row) (attribute.Item, error) {
	if row.Size == 0 && row.Key == nil && f.table.adopted == nil {
		row.Text = stripInPlace(row.Text)
		if f.sort != "" { // it was in the memory that has moved
			if err := f.readSort(keys, row); err != nil {
				return nil, err
			}
		}
	}
	item, err := d.Item(row.Text)
	if err != nil {
		return nil, f.noItem(err)
	}
	row.Size = item.Size()
	return item, nil
}

func (f *Fanout) noItem(err error) error {
	return fmt.Errorf("table %s has an item that is none: %w", f.table.Physical, err)
}

func (f *Fanout) noSort() error {
	return exception.New(exception.InternalServerError, "table %s has an item without its sort key", f.table.Physical)
}

// Measure finds the sizes of rows. keys is the decoder of their keys.
func (f *Fanout) Measure(keys *attribute.Decoder, rows []Row) error {
	var d attribute.Decoder
	for i := range rows {
		if _, err := f.item(&d, keys, &rows[i]); err != nil {
			return err
		}
		d.Reset()
	}
	return nil
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
		(f.keys.Op == expression.NoRange || f.keys.Match([]attribute.Value{row.Sort}))
}

// Result collects the page.
type Result struct {
	fanout *Fanout
	out    api.ItemsResponse
	bytes  int
	last   *Row
	full   bool
	own    int // how many items share no memory with a gathered answer

	decoder attribute.Decoder // of one row at a time
	keys    attribute.Decoder // of rows' sort keys
}

// Result returns an empty page.
func (f *Fanout) Result() *Result {
	r := &Result{fanout: f}
	if r.out.CountOnly = f.query.Select == api.SelectCount; !r.out.CountOnly {
		r.out.Items = []attribute.Encoded{}
	}
	return r
}

// Scanned returns the number of rows in the page before the filter, and their bytes.
func (r *Result) Scanned() (rows, bytes int) { return r.out.ScannedCount, r.bytes }

// Full reports whether the page takes no more rows.
func (r *Result) Full() bool { return r.full }

// Last returns the page's last row before the filter, after which the next page begins. It returns
// nil if the page has no row yet.
func (r *Result) Last() *Row { return r.last }

// Add adds the next rows, as far as the page takes them, and reports whether the page is full. It
// is full if it has Limit rows or a megabyte.
func (r *Result) Add(rows []Row) (full bool, err error) {
	for i := range rows {
		if r.full {
			return true, nil
		}
		if err := r.add(&rows[i]); err != nil {
			return false, err
		}
	}
	return r.full, nil
}

// add adds a row. It decodes the row unless its text and size are enough.
func (r *Result) add(row *Row) error {
	q := r.fanout.query
	var item attribute.Item
	if row.Size == 0 || r.looks() {
		var err error
		if item, err = r.fanout.item(&r.decoder, &r.keys, row); err != nil {
			return err
		}
		defer r.decoder.Reset()
	}
	r.last = row
	r.bytes += row.Size
	r.out.ScannedCount++
	if q.Filter.Match(item) {
		r.out.Count++
		switch {
		case r.out.CountOnly:
		case q.Projection != nil:
			r.out.Items = append(r.out.Items, q.Projection.Apply(item).Encode())
		default:
			r.out.Items = append(r.out.Items, row.Text)
		}
	}
	r.full = r.bytes >= PageSize || q.Limit > 0 && r.out.ScannedCount == q.Limit
	return nil
}

// looks reports whether the page needs more of a row than its text and size.
func (r *Result) looks() bool {
	return r.fanout.query.Filter != nil || r.fanout.query.Projection != nil
}

// Decodes returns roughly how many bytes Add uses besides the rows: the bytes of the largest row
// that it decodes.
func (r *Result) Decodes(rows []Row) int {
	most := 0
	for i := range rows {
		if rows[i].Size == 0 || r.looks() {
			most = max(most, rows[i].Text.DecodedBytes())
		}
	}
	return most
}

// Consumed adds the capacity that an answer to a Fetch consumed.
func (r *Result) Consumed(c *api.ConsumedCapacity) {
	if c == nil {
		return
	}
	if r.out.Capacity == nil {
		r.out.Capacity = &api.ConsumedCapacity{Table: r.fanout.query.Table, Detail: c.Detail, Display: c.Display}
	}
	r.out.Capacity.Add(c)
}

// Answer returns the client's answer. A page that is not full is the last.
func (r *Result) Answer() *api.ItemsResponse {
	if r.full {
		f := r.fanout
		switch r.out.LastKey = r.last.Key; {
		case f.table.drawn():
			r.out.LastKey = f.physicalStart(r.last)
		case f.index == nil:
			r.out.LastKey = f.table.key(f.keys.Hash[0], r.last.Sort)
		case f.marks():
			r.out.LastKey = mark(r.last.Key, f.partitionOf(r.last), f.began)
		}
	}
	return &r.out
}
