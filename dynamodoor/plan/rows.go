// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

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

// rowReader reads the texts of rows.
type rowReader struct {
	table *Table
	index *schema.Index // nil: the rows are the table's own
	sort  string        // the sort key by which rows are read; empty: the index has none
}

// name returns the name of the table or index.
func (r *rowReader) name() string {
	if r.index != nil {
		return r.table.Logical.Name + "/" + r.index.Name
	}
	return r.table.Logical.Name
}

// marks reports whether positions are marked: the table's layout was changed once, and items have
// moved, or move, in the order of an index.
func (r *rowReader) marks() bool { return r.table.strict && r.index != nil }

// places reports whether rows say where their items are, because their keys alone do not.
func (r *rowReader) places() bool { return r.marks() || r.table.Rolls() && r.index != nil }

// placeOf returns the shard of the table in which the item of an index's entry is.
func (r *rowReader) placeOf(d *attribute.Decoder, entry attribute.Encoded) (int, error) {
	from, to := member(entry, PartitionKey)
	if from == to {
		return 0, exception.New(exception.InternalServerError, "index %s has an entry without its partition", r.name())
	}
	v, err := d.Value(entry[from:to])
	if err != nil {
		return 0, r.noItem(err)
	}
	_, place, err := r.table.cut(v)
	return place, err
}

// readSort reads the sort key of an encoded row.
func (r *rowReader) readSort(d *attribute.Decoder, row *Row) (err error) {
	from, to := member(row.Text, r.sort)
	if from == to {
		return r.noSort()
	}
	if row.Sort, err = d.Value(row.Text[from:to]); err != nil {
		return r.noItem(err)
	}
	return nil
}

// readKeys reads the keys with some names, or only the sort key if names is nil.
func (r *rowReader) readKeys(d *attribute.Decoder, row *Row, names []string) (err error) {
	if names == nil {
		return r.readSort(d, row)
	}
	if r.table.adopted == nil {
		row.Text = stripInPlace(row.Text) // before the keys share its memory
	}
	if row.Key, err = d.Some(row.Text, names...); err != nil {
		return r.noItem(err)
	}
	if r.sort == "" {
		return nil
	}
	var ok bool
	if row.Sort, ok = row.Key.Get(r.sort); !ok {
		return r.noSort()
	}
	return nil
}

// item decodes a row, and notes its size. The item is in the memory of d, the row's sort key in that
// of keys.
func (r *rowReader) item(d, keys *attribute.Decoder, row *Row) (attribute.Item, error) {
	if row.Size == 0 && row.Key == nil && r.table.adopted == nil {
		row.Text = stripInPlace(row.Text)
		if r.sort != "" { // it was in the memory that has moved
			if err := r.readSort(keys, row); err != nil {
				return nil, err
			}
		}
	}
	item, err := d.Item(row.Text)
	if err != nil {
		return nil, r.noItem(err)
	}
	row.Size = item.Size()
	return item, nil
}

func (r *rowReader) noItem(err error) error {
	return fmt.Errorf("table %s has an item that is none: %w", r.table.Physical, err)
}

func (r *rowReader) noSort() error {
	return exception.New(exception.InternalServerError, "table %s has an item without its sort key", r.table.Physical)
}

// Measure finds the sizes of rows. keys is the decoder of their keys.
func (r *rowReader) Measure(keys *attribute.Decoder, rows []Row) error {
	var d attribute.Decoder
	for i := range rows {
		if _, err := r.item(&d, keys, &rows[i]); err != nil {
			return err
		}
		d.Reset()
	}
	return nil
}
