// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/cql/value"
)

// The model is a list of all writes, and a read that goes through all of them. It shares nothing
// with the package but the types of the arguments.

type factKind int

const (
	isMarker factKind = iota
	isCell
	isCellDeletion
	isComplexDeletion
	isRowDeletion
	isSliceDeletion
	isPartitionDeletion
)

type fact struct {
	kind      factKind
	partition int
	static    bool
	row       [2]string // clustering values
	column    uint32
	path      string
	value     string
	timestamp int64
	ttl       int32
	time      int64 // time of expiry or deletion
	slice     Slice
}

func (f fact) String() string {
	return fmt.Sprintf("{%d p%d static=%v row=%q col=%d path=%q val=%q ts=%d ttl=%d time=%d slice=%v}",
		f.kind, f.partition, f.static, f.row, f.column, f.path, f.value, f.timestamp, f.ttl, f.time, f.slice)
}

type model struct {
	spec  TableSpec
	facts []fact
}

func (m *model) compareRows(a, b [2]string) int {
	for i := range a {
		c := m.spec.Clustering[i].Type.Compare([]byte(a[i]), []byte(b[i]))
		if m.spec.Clustering[i].Desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// side compares a row with a prefix: 0 if the row has it.
func (m *model) side(row [2]string, prefix [][]byte) int {
	var p [2]string
	for i := range row {
		p[i] = row[i]
		if i < len(prefix) {
			p[i] = string(prefix[i])
		}
	}
	return m.compareRows(row, p)
}

func (m *model) within(row [2]string, s Slice) bool {
	start, end := m.side(row, s.Start.Prefix), m.side(row, s.End.Prefix)
	return (start > 0 || start == 0 && (s.Start.Inclusive || len(s.Start.Prefix) == 0)) &&
		(end < 0 || end == 0 && (s.End.Inclusive || len(s.End.Prefix) == 0))
}

// beats implements the rules of reconciliation between two facts of one cell or marker.
func beats(a, b fact) bool {
	rank := func(f fact) int {
		switch {
		case f.kind == isCellDeletion:
			return 2
		case f.ttl > 0:
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(a.timestamp, b.timestamp),
		cmp.Compare(rank(a), rank(b)),
		cmp.Compare(a.time, b.time),
		strings.Compare(a.value, b.value),
		cmp.Compare(b.ttl, a.ttl),
	) > 0
}

// row prints a row in its state at now, or "" if it does not exist.
func (m *model) row(partition int, static bool, row [2]string, now int64, columns func(uint32) bool) string {
	floor := int64(-1 << 62)
	complexFloor := map[uint32]int64{}
	type id struct {
		column uint32
		path   string
	}
	best := map[id]fact{}
	var marker *fact
	for _, f := range m.facts {
		if f.partition != partition {
			continue
		}
		here := f.static == static && (static || m.compareRows(f.row, row) == 0)
		switch f.kind {
		case isPartitionDeletion:
			floor = max(floor, f.timestamp)
		case isSliceDeletion:
			if !static && m.within(row, f.slice) {
				floor = max(floor, f.timestamp)
			}
		case isRowDeletion:
			if here {
				floor = max(floor, f.timestamp)
			}
		case isComplexDeletion:
			if at, ok := complexFloor[f.column]; here && (!ok || f.timestamp > at) {
				complexFloor[f.column] = f.timestamp
			}
		case isMarker:
			if here && (marker == nil || beats(f, *marker)) {
				marker = &f
			}
		case isCell, isCellDeletion:
			k := id{f.column, f.path}
			if b, ok := best[k]; here && (!ok || beats(f, b)) {
				best[k] = f
			}
		}
	}
	live := func(f fact) bool {
		return f.kind != isCellDeletion && f.timestamp > floor && (f.ttl == 0 || f.time > now)
	}
	there := false
	out := ""
	if marker != nil && live(*marker) {
		there = true
		out = fmt.Sprintf(" marker@%d/%d/%d", marker.timestamp, marker.ttl, marker.time)
	}
	var cells []fact
	for k, f := range best {
		at, ok := complexFloor[k.column]
		if !live(f) || ok && f.timestamp <= at {
			continue
		}
		there = true
		if columns(f.column) {
			cells = append(cells, f)
		}
	}
	if !there {
		return ""
	}
	slices.SortFunc(cells, func(a, b fact) int {
		return cmp.Or(cmp.Compare(a.column, b.column), value.Native(value.Text).Compare([]byte(a.path), []byte(b.path)))
	})
	for _, f := range cells {
		out += fmt.Sprintf(" %d[%q]=%q@%d/%d/%d", f.column, f.path, f.value, f.timestamp, f.ttl, f.time)
	}
	if static {
		return "static" + out
	}
	return fmt.Sprintf("%q", row) + out
}

// rows prints the rows of a partition that are in one of the slices, in order.
func (m *model) rows(partition int, now int64, columns func(uint32) bool, in func([2]string) bool) []string {
	var all [][2]string
	for _, f := range m.facts {
		if f.partition == partition && !f.static && (f.kind <= isRowDeletion) && in(f.row) {
			all = append(all, f.row)
		}
	}
	slices.SortFunc(all, m.compareRows)
	all = slices.CompactFunc(all, func(a, b [2]string) bool { return m.compareRows(a, b) == 0 })
	var out []string
	for _, r := range all {
		if s := m.row(partition, false, r, now, columns); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func printRow(r *Row) string {
	out := []byte("static")
	if len(r.Clustering) > 0 {
		out = fmt.Appendf(nil, "%q", [2]string{string(r.Clustering[0]), string(r.Clustering[1])})
	}
	if r.HasMarker {
		out = fmt.Appendf(out, " marker@%d/%d/%d", r.Marker.Timestamp, r.Marker.TTL, r.Marker.Expires)
	}
	for _, c := range elementsApart(r) {
		out = fmt.Appendf(out, " %d[%q]=%q@%d/%d/%d", c.Column, c.Path, c.Value, c.Timestamp, c.TTL, c.Expires)
	}
	return string(out)
}

// elementsApart returns the row's cells, with those of packed cells.
func elementsApart(r *Row) []Cell {
	var all []Cell
	for i := range r.Cells {
		if !r.Cells[i].Packed() {
			all = append(all, r.Cells[i])
			continue
		}
		e := r.Elements(&r.Cells[i])
		for e.Next() {
			c := e.Cell
			c.Path = bytes.Clone(c.Path)
			all = append(all, c)
		}
		if err := e.Err(); err != nil {
			panic(err)
		}
	}
	return all
}

var modelSpec = TableSpec{
	ID:         [16]byte{0xff, 1, 2, 3},
	Clustering: []ClusteringColumn{{Type: value.Native(value.Int)}, {Type: value.Native(value.Blob), Desc: true}},
	Columns: []Column{
		{ID: 0}, {ID: 70}, {ID: 2, Static: true},
		{ID: 3, Path: value.Native(value.Text)}, {ID: 4, Path: value.Native(value.Text), Static: true},
	},
}

var (
	modelTokens = []int64{-1 << 63, -5, 0, 7, 7, 1<<63 - 1}
	modelKeys   = []string{"", "a", "a\x00b", "b", "b\x00", "z"}

	genFirst  = rapid.SampledFrom([]string{string(i32(-1)), string(i32(0)), string(i32(1)), ""})
	genSecond = rapid.SampledFrom([]string{"", "a", "a\x00", "a\x00\x00", "\xff", "b"})
	genValue  = rapid.SampledFrom([]string{"", "x", "y"})
	genPath   = rapid.SampledFrom([]string{"", "k", "k\x00", "m"})
)

func genRow(t *rapid.T) [2]string {
	return [2]string{genFirst.Draw(t, "c1"), genSecond.Draw(t, "c2")}
}

func genBound(t *rapid.T) Bound {
	b := Bound{Inclusive: rapid.Bool().Draw(t, "inclusive")}
	for i, n := 0, rapid.IntRange(0, 2).Draw(t, "prefix"); i < n; i++ {
		b.Prefix = append(b.Prefix, []byte([]*rapid.Generator[string]{genFirst, genSecond}[i].Draw(t, "bound")))
	}
	return b
}

func genFact(t *rapid.T, now, epoch int64) fact {
	f := fact{
		kind:      rapid.SampledFrom([]factKind{isMarker, isMarker, isCell, isCell, isCell, isCell, isCellDeletion, isComplexDeletion, isRowDeletion, isSliceDeletion, isPartitionDeletion}).Draw(t, "kind"),
		partition: max(0, rapid.IntRange(-12, len(modelTokens)-1).Draw(t, "partition")), // most often one partition
		timestamp: epoch + rapid.Int64Range(1, 6).Draw(t, "timestamp"),
	}
	switch f.kind {
	case isPartitionDeletion:
		f.time = now
		return f
	case isSliceDeletion:
		f.time = now
		f.slice = Slice{genBound(t), genBound(t)}
		return f
	}
	f.static = f.kind != isMarker && f.kind != isRowDeletion && rapid.IntRange(0, 5).Draw(t, "static") == 0
	if !f.static {
		f.row = genRow(t)
	}
	switch f.kind {
	case isMarker, isCell:
		if rapid.IntRange(0, 2).Draw(t, "expiring") == 0 {
			f.ttl = rapid.Int32Range(1, 20).Draw(t, "ttl")
			f.time = now + int64(f.ttl)
		}
	default:
		f.time = now
	}
	if f.kind == isCell || f.kind == isCellDeletion || f.kind == isComplexDeletion {
		complex := f.kind == isComplexDeletion || rapid.Bool().Draw(t, "complex")
		switch {
		case complex && f.static:
			f.column = 4
		case complex:
			f.column = 3
		case f.static:
			f.column = 2
		default:
			f.column = rapid.SampledFrom([]uint32{0, 70}).Draw(t, "column")
		}
		if complex && f.kind != isComplexDeletion {
			f.path = genPath.Draw(t, "path")
		}
		if f.kind == isCell {
			f.value = genValue.Draw(t, "value")
		}
	}
	return f
}

func (f fact) write(b *Batch, table *Table) {
	b.Partition(table, modelTokens[f.partition], []byte(modelKeys[f.partition]))
	d := Deletion{f.timestamp, f.time}
	switch f.kind {
	case isPartitionDeletion:
		b.DeletePartition(d)
		return
	case isSliceDeletion:
		b.DeleteSlice(f.slice, d)
		return
	}
	if f.static {
		b.Static()
	} else {
		b.Row([][]byte{[]byte(f.row[0]), []byte(f.row[1])})
	}
	var path []byte
	if f.column == 3 || f.column == 4 {
		path = []byte(f.path)
	}
	switch f.kind {
	case isMarker:
		b.Marker(Liveness{f.timestamp, f.ttl, f.time})
	case isRowDeletion:
		b.DeleteRow(d)
	case isComplexDeletion:
		b.DeleteComplex(f.column, d)
	case isCellDeletion:
		b.Unset(f.column, path, d)
	case isCell:
		b.Set(Cell{Column: f.column, Path: path, Value: []byte(f.value), Timestamp: f.timestamp, TTL: f.ttl, Expires: f.time})
	}
}

// TestModel compares random histories, with colliding timestamps, with the model. With collection,
// it sweeps now and then. Later writes then have newer timestamps, as garbage collection requires
// (see sweep.go).
func TestModel(t *testing.T) {
	for _, collect := range []bool{false, true} {
		t.Run(fmt.Sprint("collect=", collect), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkModel(t, collect) })
		})
	}
}

func checkModel(t *rapid.T, collect bool) {
	now := int64(1000)
	db, err := Open("d", Options{
		FS: vfs.NewMem(), SweepInterval: -1, MemTableBytes: 64 << 10, CacheBytes: 1 << 20, Periodic: true,
		Clock: func() time.Time { return time.Unix(now, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	spec := modelSpec
	spec.GCGrace = 1 << 40
	if collect {
		spec.GCGrace = rapid.Int64Range(0, 10).Draw(t, "gc_grace")
	}
	table, err := db.Table(spec)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{spec: spec}
	b := db.NewBatch()
	defer b.Release()
	epoch := int64(0)
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	for range rapid.IntRange(1, 25).Draw(t, "steps") {
		switch rapid.IntRange(0, 11).Draw(t, "step") {
		case 0:
			must(db.pebble.Flush())
		case 1:
			must(db.pebble.Compact(t.Context(), []byte{0}, []byte{0xff}, false))
		case 2:
			now += rapid.Int64Range(0, 12).Draw(t, "pass")
		case 3:
			must(db.Sweep())
			epoch += 10
			if !collect {
				epoch = 0
			}
		default:
			for range rapid.IntRange(1, 12).Draw(t, "mutations") {
				f := genFact(t, now, epoch)
				f.write(b, table)
				m.facts = append(m.facts, f)
			}
			must(b.Commit())
		}
	}
	compareModel(t, m, table, now)
}

// computed is a Slices that is not Listed.
type computed struct{ Slices }

func compareModel(t *rapid.T, m *model, table *Table, now int64) {
	q := &Query{Now: now, All: rapid.Bool().Draw(t, "all"), Reverse: rapid.Bool().Draw(t, "reverse"), Static: rapid.Bool().Draw(t, "statics"), Packed: rapid.Bool().Draw(t, "packed")}
	if !q.All {
		q.Columns = NewColumnSet(rapid.SampledFrom([][]uint32{{}, {0, 2}, {70, 4}, {3}}).Draw(t, "columns")...)
	}
	wanted := func(c uint32) bool { return q.All || q.Columns.Has(c) }
	if rapid.Bool().Draw(t, "view") {
		q.View = table.db.View()
		defer q.View.Close()
	}
	if rapid.Bool().Draw(t, "sliced") {
		var cut [][2]string
		n := 2 * rapid.IntRange(1, 6).Draw(t, "slices")
		for range n {
			cut = append(cut, genRow(t))
		}
		slices.SortFunc(cut, m.compareRows)
		var list Listed
		for i := 0; i < n; i += 2 {
			from, to := Bound{Inclusive: rapid.Bool().Draw(t, "in")}, Bound{Inclusive: i == n-2 && rapid.Bool().Draw(t, "in")}
			from.Prefix = [][]byte{[]byte(cut[i][0]), []byte(cut[i][1])}
			to.Prefix = [][]byte{[]byte(cut[i+1][0]), []byte(cut[i+1][1])}
			list = append(list, Slice{from, to})
		}
		if rapid.Bool().Draw(t, "short") {
			list = Listed{{Start: genBound(t)}}
		}
		if q.Slices = list; rapid.Bool().Draw(t, "computed") {
			// An empty slice that is not Listed lies between its neighbours.
			q.Slices = computed{slices.DeleteFunc(slices.Clone(list), func(s Slice) bool {
				return slices.EqualFunc(s.Start.Prefix, s.End.Prefix, bytes.Equal) && !(s.Start.Inclusive && s.End.Inclusive)
			})}
		}
	}
	in := func(row [2]string) bool {
		if q.Slices == nil {
			return true
		}
		for i := range q.Slices.Len() {
			if m.within(row, q.Slices.At(i)) {
				return true
			}
		}
		return false
	}
	want := func(p int) []string {
		var out []string
		rows := m.rows(p, now, wanted, in)
		if q.Reverse {
			slices.Reverse(rows)
		}
		if s := m.row(p, true, [2]string{}, now, wanted); q.Static && s != "" {
			out = append(out, s)
		}
		return append(out, rows...)
	}
	got := func(it *Iterator) []string {
		var out []string
		if s := it.Static(); s != nil {
			out = append(out, printRow(s))
		}
		for it.Next() {
			out = append(out, printRow(it.Row()))
		}
		return out
	}
	closeIt := func(it *Iterator) {
		if err := cmp.Or(it.Err(), it.Close()); err != nil {
			t.Fatal(err)
		}
	}
	same := func(what string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Fatalf("%s, %+v:\ngot  %s\nwant %s\nfacts %v", what, q, strings.Join(got, "\n     "), strings.Join(want, "\n     "), m.facts)
		}
	}
	// One partition after the other.
	var all []string
	for p, token := range modelTokens {
		w := want(p)
		it := table.Read(token, []byte(modelKeys[p]), q)
		var g []string
		if it.NextPartition() {
			g = got(it)
			if len(g) == 0 {
				t.Fatal("an empty partition")
			}
		}
		closeIt(it)
		same(fmt.Sprint("read ", p), g, w)
		if len(w) > 0 {
			all = append(append(all, fmt.Sprintf("partition %d %q", token, modelKeys[p])), w...)
		}
	}
	// All partitions, in one scan and in pages of few rows.
	it := table.Scan(AllTokens, nil, q)
	var g []string
	for it.NextPartition() {
		token, key := it.Partition()
		g = append(append(g, fmt.Sprintf("partition %d %q", token, key)), got(it)...)
	}
	closeIt(it)
	same("scan", g, all)
	same("pages", scanPages(t, table, *q, rapid.IntRange(1, 4).Draw(t, "page")), all)

	// Some partitions with one iterator. The read of the first begins after a row. Some are not read
	// to their ends.
	some := *q
	if rapid.Bool().Draw(t, "after") {
		row := genRow(t)
		some.After = [][]byte{[]byte(row[0]), []byte(row[1])}
	}
	partitions := rapid.SliceOfN(rapid.IntRange(0, len(modelTokens)-1), 1, 6).Draw(t, "partitions")
	p := partitions[0]
	it = table.Read(modelTokens[p], []byte(modelKeys[p]), &some)
	var w []string
	if it.NextPartition() {
		w = got(it)
	}
	closeIt(it)
	it = table.Read(modelTokens[p], []byte(modelKeys[p]), &some)
	for i, p := range partitions {
		if i > 0 {
			it.ReadNext(modelTokens[p], []byte(modelKeys[p]))
			w = want(p)
		}
		most := rapid.IntRange(0, 20).Draw(t, "rows")
		var g []string
		if it.NextPartition() {
			if _, key := it.Partition(); string(key) != modelKeys[p] {
				t.Fatalf("partition %q instead of %q", key, modelKeys[p])
			}
			if s := it.Static(); s != nil {
				g = append(g, printRow(s))
			}
			for len(g) < most && it.Next() {
				g = append(g, printRow(it.Row()))
			}
		}
		if most < len(w) {
			w = w[:max(most, len(g))]
		}
		same(fmt.Sprint("read next ", p), g, w)
	}
	closeIt(it)

	// One row after the other.
	for p, token := range modelTokens {
		var row Row
		for _, c1 := range []string{string(i32(-1)), string(i32(0)), ""} {
			for _, c2 := range []string{"", "a", "a\x00", "b"} {
				ok, err := table.Get(token, []byte(modelKeys[p]), [][]byte{[]byte(c1), []byte(c2)}, q, &row)
				if err != nil {
					t.Fatal(err)
				}
				g := ""
				if ok {
					g = printRow(&row)
				}
				same("get", []string{g}, []string{m.row(p, false, [2]string{c1, c2}, now, wanted)})
			}
		}
		ok, err := table.GetStatic(token, []byte(modelKeys[p]), q, &row)
		if err != nil {
			t.Fatal(err)
		}
		g := ""
		if ok {
			g = printRow(&row)
		}
		same("get static", []string{g}, []string{m.row(p, true, [2]string{}, now, wanted)})
	}
	// A range of tokens, only the first rows.
	first, last := rapid.IntRange(0, 5).Draw(t, "first"), rapid.IntRange(0, 5).Draw(t, "last")
	r := TokenRange{modelTokens[first], modelTokens[last]}
	var heads, wantHeads []string
	it = table.Scan(r, nil, q)
	for it.NextPartition() {
		_, key := it.Partition()
		heads = append(heads, string(key))
	}
	closeIt(it)
	for p, token := range modelTokens {
		if token >= r.First && token <= r.Last && len(want(p)) > 0 {
			wantHeads = append(wantHeads, modelKeys[p])
		}
	}
	same("distinct", heads, wantHeads)
	compareBetween(t, m, table, now)
}

// scanPages reads everything. Each page has its own iterator.
func scanPages(t *rapid.T, table *Table, q Query, page int) (out []string) {
	var from *Position
	last := ""
	for {
		it := table.Scan(AllTokens, from, &q)
		n := 0
		var next *Position
	pages:
		for it.NextPartition() {
			token, key := it.Partition()
			key = bytes.Clone(key)
			name := fmt.Sprintf("partition %d %q", token, key)
			if name != last {
				last = name
				out = append(out, name)
				if s := it.Static(); s != nil {
					out = append(out, printRow(s))
				}
			}
			for it.Next() {
				out = append(out, printRow(it.Row()))
				if n++; n == page {
					next = &Position{token, key, true}
					q.After = [][]byte{bytes.Clone(it.Row().Clustering[0]), bytes.Clone(it.Row().Clustering[1])}
					break pages
				}
			}
			if n == 0 {
				continue
			}
			if n%2 == 1 { // continue after the partition
				next, q.After = &Position{token, key, false}, nil
				break
			}
		}
		if err := cmp.Or(it.Err(), it.Close()); err != nil {
			t.Fatal(err)
		}
		if next == nil {
			return out
		}
		from = next
	}
}
