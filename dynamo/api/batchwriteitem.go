// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// BatchWriteItem puts and deletes up to 25 items.
type BatchWriteItem struct {
	Tables   []BatchWriteTable // in the order of the request
	Capacity ReturnConsumedCapacity
	Metrics  bool // ReturnItemCollectionMetrics is SIZE
}

// BatchWriteTable is the part of a BatchWriteItem that writes to one table.
type BatchWriteTable struct {
	Table  string
	Writes []BatchWrite
}

// BatchWrite is one put or delete: either Item or Key is nil.
type BatchWrite struct {
	Item attribute.Item // to put
	Key  attribute.Item // to delete
}

// Operation implements Request.
func (*BatchWriteItem) Operation() string { return "BatchWriteItem" }

// Decode implements Request.
func (q *BatchWriteItem) Decode(d *Decoder, body []byte) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	var in input
	var tables []batchWrites
	items := false
	for r.Next() {
		switch r.Name() {
		case "RequestItems":
			if items = r.Peek() != jsontext.Null; !items {
				r.Skip()
			} else if attribute.EnterMap(r, "java.util.List<"+structurePrefix+"WriteRequest>") {
				for r.Next() {
					if len(tables) > MaxBatchWrite {
						r.Skip()
						continue
					}
					t := batchWrites{table: r.Name()}
					t.writes, t.n = d.readBatchWrites()
					tables = append(tables, t)
				}
			}
		case "ReturnConsumedCapacity":
			in.capacity = readText(r)
		case "ReturnItemCollectionMetrics":
			in.metrics = readText(r)
		default:
			r.Skip()
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	var c constraints
	c.capacity(&in)
	c.metrics(&in)
	c.notNull(items, "requestItems")
	for _, t := range tables {
		t.check(&c)
	}
	if err := c.err(); err != nil {
		return err
	}
	if len(tables) == 0 {
		return exception.Invalid("The requestItems parameter is required for BatchWriteItem")
	}
	q.Capacity, q.Metrics = in.returnConsumedCapacity(), in.metrics.value == "SIZE"
	n := 0
	for _, t := range tables {
		if n += len(t.writes); n > MaxBatchWrite {
			return exception.Invalid("Too many items requested for the BatchWriteItem call")
		}
		out := BatchWriteTable{Table: t.table}
		for i := range t.writes {
			w, err := t.writes[i].convert()
			if err != nil {
				return err
			}
			out.Writes = append(out.Writes, w)
		}
		q.Tables = append(q.Tables, out)
	}
	return nil
}

// batchWrites holds the WriteRequests of a table as they came. n is their number; writes holds at
// most one more than may be given.
type batchWrites struct {
	table  string
	writes []batchWrite
	n      int
}

// batchWrite is a WriteRequest as it came.
type batchWrite struct {
	put, delete bool
	item, key   attribute.Item
}

func (d *Decoder) readBatchWrites() (writes []batchWrite, n int) {
	r := &d.reader
	switch r.Peek() {
	case jsontext.Array, jsontext.Object, jsontext.Invalid:
	case jsontext.Null:
		r.Null()
		return nil, 0
	default:
		attribute.NotParameterized(r)
		return nil, 0
	}
	if !attribute.EnterList(r) {
		return nil, 0
	}
	for ; r.Next(); n++ {
		if n > MaxBatchWrite {
			r.Skip()
			continue
		}
		var w batchWrite
		if enterElement(r, "WriteRequest") {
			for r.Next() {
				switch {
				case r.Peek() == jsontext.Null:
					r.Skip()
				case r.Name() == "PutRequest":
					w.put = true
					d.readOnly("PutRequest", "Item", &w.item)
				case r.Name() == "DeleteRequest":
					w.delete = true
					d.readOnly("DeleteRequest", "Key", &w.key)
				default:
					r.Skip()
				}
			}
		}
		writes = append(writes, w)
	}
	return writes, n
}

// readOnly reads a structure whose only member is a map of values.
func (d *Decoder) readOnly(structure, member string, to *attribute.Item) {
	r := &d.reader
	if !enterField(r, structure) {
		return
	}
	for r.Next() {
		if r.Name() == member {
			*to = d.attribute.ReadItem(r)
		} else {
			r.Skip()
		}
	}
}

func (t *batchWrites) check(c *constraints) {
	c.tableKey(t.table, "requestItems")
	if n := t.n; n < 1 || n > MaxBatchWrite {
		c.violated(quoted("{"+t.table+"="+shape(n)+"}"), "requestItems", "Map value must satisfy constraint: "+
			"[Member must have length less than or equal to 25, Member must have length greater than or equal to 1]")
		return
	}
	for i, w := range t.writes {
		at := "requestItems." + t.table + ".member." + strconv.Itoa(i+1) + ".member."
		if w.put {
			c.notNull(w.item != nil, at+"putRequest.item")
		}
		if w.delete {
			c.notNull(w.key != nil, at+"deleteRequest.key")
		}
	}
}

func (w *batchWrite) convert() (BatchWrite, error) {
	if w.put == w.delete {
		return BatchWrite{}, exception.Invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
	}
	if w.delete {
		return BatchWrite{Key: w.key}, w.key.Validate()
	}
	if err := w.item.Validate(); err != nil {
		return BatchWrite{}, err
	}
	return BatchWrite{Item: w.item}, checkSize(w.item)
}

// AppendJSON appends the table's part of a request.
func (t *BatchWriteTable) AppendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	for i, w := range t.Writes {
		dst = element(dst, i)
		if w.Item != nil {
			dst = attribute.AppendItem(append(dst, `{"PutRequest":{"Item":`...), w.Item)
		} else {
			dst = attribute.AppendItem(append(dst, `{"DeleteRequest":{"Key":`...), w.Key)
		}
		dst = append(dst, '}', '}')
	}
	return append(dst, ']')
}

// EachTable implements ItemRequest.
func (q *BatchWriteItem) EachTable(visit func(string)) {
	for i := range q.Tables {
		visit(q.Tables[i].Table)
	}
}

// Instead implements ItemRequest.
func (q *BatchWriteItem) Instead(key attribute.Item, _ string) Request {
	p := new(BatchWriteItem)
	for _, t := range q.Tables {
		writes := BatchWriteTable{Table: t.Table}
		for _, w := range t.Writes {
			if w.Key != nil {
				w.Key = key
			} else {
				w.Item = key
			}
			writes.Writes = append(writes.Writes, w)
		}
		p.Tables = append(p.Tables, writes)
	}
	return p
}

// Describe implements ItemRequest.
func (q *BatchWriteItem) Describe() string {
	s := "BatchWriteItem"
	for _, t := range q.Tables {
		for _, w := range t.Writes {
			if w.Key != nil {
				s += "\n" + line("  delete", t.Table, "key", w.Key)
			} else {
				s += "\n" + line("  put", t.Table, "item", w.Item)
			}
		}
	}
	return s
}
