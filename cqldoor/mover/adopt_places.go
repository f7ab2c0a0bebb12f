// SPDX-License-Identifier: Apache-2.0

package mover

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/shard"
)

// A table that was sharded by hand has the shard in its partition key already, and applications fill
// it in. It is adopted as it is: no row moves. Before that, the mover reads the place of every row.

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
		if err := p.pace.watch(ctx); err != nil {
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
