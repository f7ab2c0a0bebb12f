// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// A table that was sharded by hand has the shard in its partition key already, and applications fill
// it in. It is adopted as it is: no row moves. Before that, the mover reads the place of every row.

// UsedByHand is the highest shard number that a table may have used before it was adopted. Its
// application may have had more shards once. Tombstones that are left there would hide rows that a
// change of layout copies, so new places of adopted tables have higher numbers.
const UsedByHand = shard.MaxShards

// RefuseAdoption returns all reasons why a table that was sharded by hand cannot be adopted with a
// layout, or nothing if there is none. ks is the table's keyspace, t the physical table. It does not
// look at rows.
func RefuseAdoption(ks *schema.Keyspace, t *schema.Table, l *shard.Layout) []string {
	var why []string
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	if t.View != nil {
		add("it is a materialized view")
	}
	for _, name := range slices.Sorted(maps.Keys(ks.Tables)) {
		if v := ks.Tables[name].View; v != nil && v.Base == t.Name {
			add("the materialized view %s shows its column %s; drop the view", name, l.Column)
		}
	}
	for _, i := range t.Indexes {
		add("it has the index %s: sharded tables have none; drop the index", i.Name)
	}
	if len(t.Statics) > 0 {
		add("it has static columns: each shard of a key has its own, and a key of an adopted table would have one")
	}
	if l.Strategy != shard.Random {
		return why
	}
	var open []string
	for _, c := range t.Regulars {
		if (c.Type.Collection() || c.Type.Kind == value.UDT) && !c.Type.Frozen {
			open = append(open, c.Name)
		}
	}
	if len(open) > 0 {
		add("columns %s are collections or user-defined types that are not frozen: under strategy 'random' every shard has all of them, and here each shard has its own", strings.Join(open, ", "))
	}
	return why
}

// Unseen returns reasons against an adoption that the schema does not show.
func (m *Mover) Unseen(ctx context.Context, t *schema.Table) ([]string, error) {
	return m.unseen(ctx, t)
}

// CheckPlaces reads the keys of all rows of a physical table, at consistency level ALL. If rows are not
// where the layout l puts them, it returns a *Misplaced. logical is the table as
// clients will see it. read counts the rows, or the partitions if only these must be looked at.
func (m *Mover) CheckPlaces(ctx context.Context, t, logical *schema.Table, l *shard.Layout, read *atomic.Int64) error {
	placed, err := plan.NewTable(logical, l)
	if err != nil {
		return err
	}
	s := newSide(t, false)
	text := s.keys
	if l.Strategy == shard.Random { // all rows of a partition are in one shard
		text = "SELECT DISTINCT " + s.token() + ", " + list(t.PartitionKey) + " FROM " + s.name
	}
	check := &placeCheck{table: placed, of: t}
	p := &pass{backend: m.backend, pace: newPace(m.opts.Now, m.opts.Clients), now: m.opts.Now, all: true}
	for state := []byte(nil); ; {
		if err := p.pace.rest(ctx, pageRows/unitRows); err != nil {
			return err
		}
		got, err := p.query(ctx, scan, statement{text: text}, state)
		if err != nil {
			return fmt.Errorf("read the rows of %s.%s: %w", t.Keyspace, t.Name, err)
		}
		for _, raw := range got.rows {
			check.add(foundRow(t, raw[1:], l.Strategy != shard.Random))
		}
		read.Add(int64(len(got.rows)))
		if state = got.next; state == nil || check.enough() {
			return check.err()
		}
	}
}

// found is a row, or a partition, where the store has it.
type found struct {
	key        [][]byte
	shard      int
	clustering [][]byte // nil: a partition
}

// foundRow splits the cells of a physical key.
func foundRow(t *schema.Table, raw [][]byte, whole bool) found {
	n := len(t.PartitionKey) - 1
	f := found{key: raw[:n:n], shard: noShard}
	if at := raw[n]; len(at) == 4 {
		f.shard = int(int32(binary.BigEndian.Uint32(at)))
	}
	if whole {
		f.clustering = raw[n+1:]
	}
	return f
}

// noShard is the shard of a row whose shard column is empty. No int has this value.
const noShard = 1 << 40

// These bound what a check keeps of the rows that it has met.
const (
	mostNamed  = 3   // rows that an error names
	mostSample = 500 // rows that another layout is tried on
	mostAfter  = 20_000
)

// placeCheck collects the rows that are not in their places, and a sample of all rows, on which other
// layouts are tried.
type placeCheck struct {
	table  *plan.Table
	of     *schema.Table // the physical table
	wrong  []found       // the first ones
	sample []found       // rows that are in their places, or were met after the wrong ones that are kept
	rows   int64
	after  int // rows since the first wrong one
}

// add judges one row.
func (c *placeCheck) add(f found) {
	c.rows++
	right := shardFor(c.table, f) == f.shard
	if len(c.wrong) > 0 {
		c.after++
	}
	if named := !right && len(c.wrong) < mostNamed; named {
		c.wrong = append(c.wrong, f)
	} else if len(c.sample) < mostSample {
		c.sample = append(c.sample, f)
	}
}

// enough reports whether the mover has read enough rows for the error's text.
func (c *placeCheck) enough() bool {
	return len(c.wrong) > 0 && (c.after >= mostAfter || len(c.wrong) == mostNamed && len(c.sample) >= min(mostSample, 100))
}

// shardFor returns the shard in which a table's layout wants a row. Under strategy random that is any
// shard of the layout.
func shardFor(t *plan.Table, f found) int {
	if t.Layout.Strategy == shard.Random {
		if r := t.Layout.Default(); !r.Contains(f.shard) {
			return noShard
		}
		return f.shard
	}
	return t.ShardOfRow(f.key, f.clustering)
}

// err returns the error about the wrong rows, nil if there are none.
func (c *placeCheck) err() error {
	if len(c.wrong) == 0 {
		return nil
	}
	l := c.table.Layout
	r := l.Default()
	var rows []string
	for _, f := range c.wrong {
		at := fmt.Sprintf("is in shard %d", f.shard)
		if f.shard == noShard {
			at = "has an empty shard"
		}
		switch {
		case !r.Contains(f.shard):
			at += fmt.Sprintf(", and the shards are %d to %d", r.Base+1, r.Last())
		default:
			at += fmt.Sprintf(", where %s of %s over %d shards gives %d", l.Hash, strings.Join(hashed(c.table), ", "), l.N, shardFor(c.table, f))
		}
		rows = append(rows, c.describe(f)+" "+at)
	}
	return &Misplaced{strings.Join(rows, "; "), c.advice()}
}

// Misplaced is the error for a table with rows that are not where its layout puts them. Rows names the
// first of these rows. Advice names another declaration that may fit.
type Misplaced struct{ Rows, Advice string }

func (m *Misplaced) Error() string { return "rows are not where the layout says: " + m.Rows }

// describe names a row by the columns of its key, without the shard.
func (c *placeCheck) describe(f found) string {
	var parts []string
	add := func(columns []*schema.Column, values [][]byte) {
		for i, v := range values {
			parts = append(parts, ident(columns[i])+" = "+short(string(columns[i].Type.Format(nil, v))))
		}
	}
	add(c.table.PartitionKey, f.key)
	add(c.table.Clustering, f.clustering)
	what := "the row "
	if f.clustering == nil {
		what = "the partition "
	}
	return what + strings.Join(parts, ", ")
}

// short cuts a long value.
func short(text string) string {
	const longest = 100
	if r := []rune(text); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return text
}

// hashed returns the names of the columns that are hashed.
func hashed(t *plan.Table) (names []string) {
	if len(t.Layout.By) == 0 {
		for _, c := range t.Clustering {
			names = append(names, ident(c))
		}
	}
	for _, by := range t.Layout.By {
		names = append(names, string(syntax.AppendIdent(nil, by)))
	}
	return names
}

// advice says with which layout the table could be adopted.
func (c *placeCheck) advice() string {
	l := c.table.Layout
	highest, lowest := 0, noShard
	for _, f := range c.tried() {
		highest, lowest = max(highest, f.shard), min(lowest, f.shard)
	}
	switch {
	case highest == noShard || lowest < 0:
		return "Such a row cannot be in an adopted table; delete it, or put it into the shard where it belongs"
	case lowest == 0:
		return "evenkeel numbers shards from 1, so a table with a shard 0 cannot be adopted; create a table WITH write_sharding, and copy the rows"
	}
	if l.Strategy == shard.Random {
		return fmt.Sprintf("Give as many 'shards' as there are, or 'base' = the first shard less 1, or delete the row; the highest shard that was met is %d", highest)
	}
	if fit := c.fitting(highest); fit != "" {
		return fmt.Sprintf("All of the %d rows that were tried are where %s puts them", len(c.tried()), fit)
	}
	if n := len(c.wrong); c.rows > int64(10*n) && n < mostNamed {
		return fmt.Sprintf("The other %d rows that were read are in their places: put these rows into theirs, or delete them", c.rows-int64(n))
	}
	return "If the shards were drawn, or come from another calculation, adopt the table with 'strategy': 'random'; then a row that is in two shards counts as one, with the later of its cells"
}

// tried returns the rows that another layout must put where they are.
func (c *placeCheck) tried() []found { return slices.Concat(c.sample, c.wrong) }

// fitting returns the declaration of another layout that puts all rows which are tried where they
// are; "": none was found.
func (c *placeCheck) fitting(highest int) string {
	const fewest = 10 // rows that chance does not explain
	rows := c.tried()
	if len(rows) < fewest || !slices.ContainsFunc(rows, func(f found) bool { return f.shard != rows[0].shard }) {
		return ""
	}
	l := c.table.Layout
	ns := []int{l.N}
	for n := max(1, highest-l.Base); n <= min(shard.MaxShards, 2*(highest-l.Base)+10); n++ {
		ns = append(ns, n)
	}
	bys := [][]string{l.By, nil}
	for _, column := range c.table.Clustering {
		bys = append(bys, []string{column.Name})
	}
	for _, by := range bys {
		for _, h := range []shard.Hash{l.Hash, shard.Murmur3, shard.CodePoints} {
			for _, n := range ns {
				other := *l
				other.By, other.Hash, other.N = by, h, n
				if h == shard.CodePoints && !texts(c.table.Table, by) {
					continue
				}
				if t, err := plan.NewTable(c.table.Table, &other); err == nil && !slices.ContainsFunc(rows, func(f found) bool { return shardFor(t, f) != f.shard }) {
					return adoptionText(&other)
				}
			}
		}
	}
	return ""
}

// texts reports whether the columns by, or all clustering columns, are text.
func texts(t *schema.Table, by []string) bool {
	for _, c := range t.Clustering {
		if (len(by) == 0 || slices.Contains(by, c.Name)) && c.Type.Kind != value.Text && c.Type.Kind != value.Ascii {
			return false
		}
	}
	return true
}

// adoptionText returns the declaration with which a table is adopted.
func adoptionText(l *shard.Layout) string {
	o := l.Options()
	o["adopt"] = o["column"]
	delete(o, "column")
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(o)) {
		parts = append(parts, "'"+k+"': '"+strings.ReplaceAll(o[k], "'", "''")+"'")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
