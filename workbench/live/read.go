// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/cql/schema"
)

// Range is the tokens above After, up to and including UpTo.
type Range struct {
	After int64 `json:"after"`
	UpTo  int64 `json:"up_to"`
}

// Whole holds all tokens: Murmur3 gives no key the least token.
var Whole = Range{-1 << 63, 1<<63 - 1}

// Selection says what to read of each row.
type Selection struct {
	Columns []*schema.Column // nil: all
	Times   bool             // also WRITETIME and TTL of Timed columns, behind the others: two cells for each
	Page    int              // rows of a page; 0: 1000
}

// Timed returns the columns whose times can be read: regular and static ones that are not
// multi-cell, in the order of the schema; none in a counter table.
func (t *Table) Timed() []*schema.Column {
	var timed []*schema.Column
	if t.schema.Counter {
		return nil
	}
	for _, c := range t.schema.All() {
		multicell := (c.Type.Collection() || len(c.Type.Fields) > 0) && !c.Type.Frozen
		if (c.Kind == schema.Regular || c.Kind == schema.Static) && !multicell {
			timed = append(timed, c)
		}
	}
	return timed
}

// Row is a row that was read. Its cells point into a buffer, and are valid until the function that
// received it returns.
type Row struct {
	Token int64    // of the partition; if a door shows a sharded table, of the physical partition
	Cells [][]byte // of Selection.Columns, then of Times
}

// Statement returns the CQL that Read sends for a selection.
func (t *Table) Statement(s Selection) string {
	if s.Columns == nil {
		s.Columns = t.schema.All()
	}
	key := make([]string, len(t.schema.PartitionKey))
	for i, c := range t.schema.PartitionKey {
		key[i] = Identifier(c.Name)
	}
	token := "token(" + strings.Join(key, ", ") + ")"
	selected := []string{token}
	for _, c := range s.Columns {
		selected = append(selected, Identifier(c.Name))
	}
	if s.Times {
		for _, c := range t.Timed() {
			selected = append(selected, "WRITETIME("+Identifier(c.Name)+")", "TTL("+Identifier(c.Name)+")")
		}
	}
	return "SELECT " + strings.Join(selected, ", ") + " FROM " + t.at.Name() + " WHERE " + token + " > ? AND " + token + " <= ?"
}

// defaultPage is the number of rows in a page if the caller sets none.
const defaultPage = 1000

// Read passes each row of a range of tokens to each, partition by partition in the order of tokens.
func (t *Table) Read(ctx context.Context, r Range, s Selection, each func(row *Row) error) error {
	statement := t.Statement(s)
	page := s.Page
	if page <= 0 {
		page = defaultPage
	}
	var state []byte
	var row Row
	for {
		n, next, err := t.page(ctx, statement, r, page, state, &row, each)
		if err != nil {
			return err
		}
		if err := t.limit.Wait(ctx, float64(n)); err != nil {
			return err
		}
		if len(next) == 0 {
			return nil
		}
		state = next
	}
}

// firstPause is the pause before a failed page is requested again. It doubles each time.
const firstPause = 200 * time.Millisecond

// page reads one page. It never passes a row to each twice: the page comes whole, or not at all.
func (t *Table) page(ctx context.Context, statement string, r Range, size int, state []byte, row *Row, each func(*Row) error) (n int, next []byte, err error) {
	pause := firstPause
	var giveUp time.Time
	for {
		iter := t.session.Query(statement, r.After, r.UpTo).PageSize(size).PageState(state).IterContext(ctx)
		columns := iter.Columns()
		if len(columns) == 0 { // the request failed
			err = iter.Close()
			if err == nil {
				return 0, nil, nil
			}
			if ctx.Err() != nil {
				return 0, nil, ctx.Err()
			}
			if giveUp.IsZero() {
				giveUp = time.Now().Add(t.patience)
			}
			if !passing(err) || time.Now().Add(pause).After(giveUp) {
				return 0, nil, t.reading(err)
			}
			if code(err) == gocql.ErrCodeReadTimeout {
				size = max(1, size/2)
			}
			select {
			case <-time.After(pause):
				pause *= 2
				continue
			case <-ctx.Done():
				return 0, nil, ctx.Err()
			}
		}
		cells, dest := destinations(columns)
		for iter.Scan(dest...) {
			row.Cells = row.Cells[:0]
			gather(columns, cells, func(i int, v []byte) {
				if i == 0 {
					row.Token = 0
					for _, b := range v {
						row.Token = row.Token<<8 | int64(b)
					}
					return
				}
				row.Cells = append(row.Cells, v)
			})
			n++
			if err := each(row); err != nil {
				iter.Close()
				return n, nil, err
			}
		}
		next = append([]byte(nil), iter.PageState()...)
		if err := iter.Close(); err != nil {
			return n, nil, t.reading(err)
		}
		return n, next, nil
	}
}
