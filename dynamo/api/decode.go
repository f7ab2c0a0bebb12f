// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// Reading the answers of a store in another process. Members that are not known are skipped,
// because the store may be newer than this code.

// answer reads a document, which must be an object. It calls read at each member that is not null;
// read must read the member's value.
func (d *Decoder) answer(operation string, body []byte, read func(r *jsontext.Reader, name string)) error {
	r := &d.reader
	r.Reset(body)
	object(r, read)
	if err := r.End(); err != nil {
		return fmt.Errorf("the answer to %s: %w", operation, err)
	}
	return nil
}

// object reads an object. It calls read at each member that is not null.
func object(r *jsontext.Reader, read func(r *jsontext.Reader, name string)) {
	for r.Object(); r.Next(); {
		if r.Peek() == jsontext.Null {
			r.Null()
			continue
		}
		read(r, r.Name())
	}
}

// array reads an array. It calls read at each element.
func array(r *jsontext.Reader, read func(r *jsontext.Reader)) {
	for r.Array(); r.Next(); {
		read(r)
	}
}

// objects reads an array of objects. It calls read at each member of each object.
func objects[T any](r *jsontext.Reader, read func(e *T, r *jsontext.Reader, name string)) (all []T) {
	array(r, func(r *jsontext.Reader) {
		var e T
		all = append(all, e)
		object(r, func(r *jsontext.Reader, name string) { read(&all[len(all)-1], r, name) })
	})
	return all
}

// encoded reads an item and keeps it as text.
func encoded(r *jsontext.Reader) attribute.Encoded {
	if r.Peek() != jsontext.Object {
		r.Fail(fmt.Errorf("an item that is no object at byte %d", r.Offset()))
		return nil
	}
	return attribute.Encoded(r.Raw())
}

// integerOf reads a number and drops its fraction.
func integerOf(r *jsontext.Reader) int64 { return int64(float(r)) }

func float(r *jsontext.Reader) float64 {
	text := r.Number()
	if r.Err() != nil {
		return 0
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) > 1<<53 {
		r.Fail(fmt.Errorf("the number %s is too large", text))
		return 0
	}
	return f
}

// itemAnswer reads the answer to an operation on a single item.
func (d *Decoder) itemAnswer(operation string, body []byte) (Response, error) {
	out := new(ItemResponse)
	err := d.answer(operation, body, func(r *jsontext.Reader, name string) {
		switch name {
		case "Item":
			out.Item = encoded(r)
		case "Attributes":
			out.Attributes = encoded(r)
		case "ConsumedCapacity":
			out.Capacity = new(ConsumedCapacity)
			out.Capacity.read(r)
		case "ItemCollectionMetrics":
			out.Metrics = new(ItemCollectionMetrics)
			d.readMetrics(out.Metrics)
		default:
			r.Skip()
		}
	})
	return out, err
}

// DecodeResponse implements Answered.
func (q *GetItem) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return d.itemAnswer(q.Operation(), body)
}

// DecodeResponse implements Answered.
func (q *PutItem) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return d.itemAnswer(q.Operation(), body)
}

// DecodeResponse implements Answered.
func (q *UpdateItem) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return d.itemAnswer(q.Operation(), body)
}

// DecodeResponse implements Answered.
func (q *DeleteItem) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return d.itemAnswer(q.Operation(), body)
}

// itemsAnswer reads the answer to Query or Scan.
func (d *Decoder) itemsAnswer(operation string, body []byte) (Response, error) {
	out := &ItemsResponse{CountOnly: true}
	err := d.answer(operation, body, func(r *jsontext.Reader, name string) {
		switch name {
		case "Items":
			out.CountOnly, out.Items = false, encodedItems(r)
		case "Count":
			out.Count = int(integerOf(r))
		case "ScannedCount":
			out.ScannedCount = int(integerOf(r))
		case "LastEvaluatedKey":
			out.LastKey = d.attribute.ReadItem(r)
		case "ConsumedCapacity":
			out.Capacity = new(ConsumedCapacity)
			out.Capacity.read(r)
		default:
			r.Skip()
		}
	})
	if err == nil {
		err = out.LastKey.Validate()
	}
	return out, err
}

func encodedItems(r *jsontext.Reader) []attribute.Encoded {
	items := []attribute.Encoded{}
	array(r, func(r *jsontext.Reader) { items = append(items, encoded(r)) })
	return items
}

// DecodeResponse implements Answered.
func (q *Query) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return d.itemsAnswer(q.Operation(), body)
}

// DecodeResponse implements Answered.
func (q *Scan) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	return d.itemsAnswer(q.Operation(), body)
}

// DecodeResponse implements Answered.
func (q *BatchGetItem) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(BatchGetResponse)
	err := d.answer(q.Operation(), body, func(r *jsontext.Reader, name string) {
		switch name {
		case "Responses":
			object(r, func(r *jsontext.Reader, table string) {
				out.Tables = append(out.Tables, BatchGetItems{Table: table, Items: encodedItems(r)})
			})
		case "UnprocessedKeys":
			object(r, func(r *jsontext.Reader, table string) {
				t := BatchGetTable{Table: table}
				start := r.Offset()
				object(r, func(r *jsontext.Reader, name string) {
					if name != "Keys" {
						r.Skip()
						return
					}
					array(r, func(r *jsontext.Reader) { t.Keys = append(t.Keys, d.attribute.ReadItem(r)) })
				})
				t.Raw = r.Since(start)
				out.Unprocessed = append(out.Unprocessed, t)
			})
		case "ConsumedCapacity":
			out.Capacity = readCapacities(r)
		default:
			r.Skip()
		}
	})
	for _, t := range out.Unprocessed {
		for _, k := range t.Keys {
			if err == nil {
				err = k.Validate()
			}
		}
	}
	return out, err
}

// DecodeResponse implements Answered.
func (q *BatchWriteItem) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(BatchWriteResponse)
	var wrong error
	err := d.answer(q.Operation(), body, func(r *jsontext.Reader, name string) {
		switch name {
		case "UnprocessedItems":
			object(r, func(r *jsontext.Reader, table string) {
				t := BatchWriteTable{Table: table}
				writes, _ := d.readBatchWrites()
				for _, w := range writes {
					write, err := w.convert()
					if err != nil && wrong == nil {
						wrong = err
					}
					t.Writes = append(t.Writes, write)
				}
				out.Unprocessed = append(out.Unprocessed, t)
			})
		case "ConsumedCapacity":
			out.Capacity = readCapacities(r)
		case "ItemCollectionMetrics":
			out.Metrics = d.readTableMetrics()
		default:
			r.Skip()
		}
	})
	if err == nil {
		err = wrong
	}
	return out, err
}

// DecodeResponse implements Answered.
func (q *TransactGetItems) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(TransactGetResponse)
	err := d.answer(q.Operation(), body, func(r *jsontext.Reader, name string) {
		switch name {
		case "Responses":
			out.Items = objects(r, func(item *attribute.Encoded, r *jsontext.Reader, name string) {
				if name == "Item" {
					*item = encoded(r)
				} else {
					r.Skip()
				}
			})
		case "ConsumedCapacity":
			out.Capacity = readCapacities(r)
		default:
			r.Skip()
		}
	})
	if err == nil && len(out.Items) != len(q.Gets) {
		err = fmt.Errorf("the answer to %s: %d responses to %d gets", q.Operation(), len(out.Items), len(q.Gets))
	}
	return out, err
}

// DecodeResponse implements Answered.
func (q *TransactWriteItems) DecodeResponse(d *Decoder, body []byte) (Response, error) {
	out := new(TransactWriteResponse)
	err := d.answer(q.Operation(), body, func(r *jsontext.Reader, name string) {
		switch name {
		case "ConsumedCapacity":
			out.Capacity = readCapacities(r)
		case "ItemCollectionMetrics":
			out.Metrics = d.readTableMetrics()
		default:
			r.Skip()
		}
	})
	return out, err
}

// emptyAnswer reads the answer to an operation that returns nothing. The body is empty, an empty
// object or, from dynalite, an empty string.
func emptyAnswer(operation string, body []byte) (Response, error) {
	if text := bytes.TrimSpace(body); len(text) > 0 && string(text) != "{}" && string(text) != `""` {
		return nil, fmt.Errorf("the answer to %s is not empty", operation)
	}
	return Empty{}, nil
}

// Capacities and metrics.

func readUnits(r *jsontext.Reader) Units { return Units(math.Round(2 * float(r))) }

func (c *ConsumedCapacity) read(r *jsontext.Reader) {
	object(r, func(r *jsontext.Reader, name string) {
		switch name {
		case "TableName":
			c.Table = r.Text()
		case "CapacityUnits":
			c.Units = readUnits(r)
		case "ReadCapacityUnits":
			c.Display = DisplayRead
			r.Skip()
		case "WriteCapacityUnits":
			c.Display = DisplayWrite
			r.Skip()
		case "Table":
			c.Detail, c.Base = true, readIndexUnits(r)
		case "LocalSecondaryIndexes":
			c.Detail, c.Local = true, readIndexCapacities(r)
		case "GlobalSecondaryIndexes":
			c.Detail, c.Global = true, readIndexCapacities(r)
		default:
			r.Skip()
		}
	})
}

func readIndexUnits(r *jsontext.Reader) (u Units) {
	object(r, func(r *jsontext.Reader, name string) {
		if name == "CapacityUnits" {
			u = readUnits(r)
		} else {
			r.Skip()
		}
	})
	return u
}

func readIndexCapacities(r *jsontext.Reader) (all []IndexCapacity) {
	object(r, func(r *jsontext.Reader, index string) {
		all = append(all, IndexCapacity{Index: index, Units: readIndexUnits(r)})
	})
	return all
}

func readCapacities(r *jsontext.Reader) []ConsumedCapacity {
	all := []ConsumedCapacity{}
	array(r, func(r *jsontext.Reader) {
		var c ConsumedCapacity
		c.read(r)
		all = append(all, c)
	})
	return all
}

func (d *Decoder) readMetrics(m *ItemCollectionMetrics) {
	object(&d.reader, func(r *jsontext.Reader, name string) {
		switch name {
		case "ItemCollectionKey":
			m.Key = d.attribute.ReadItem(r)
		case "SizeEstimateRangeGB":
			first := true
			array(r, func(r *jsontext.Reader) {
				if gb := float(r); first && gb < 1<<30 {
					m.Size = int64(gb * (1 << 30))
				}
				first = false
			})
		default:
			r.Skip()
		}
	})
}

func (d *Decoder) readTableMetrics() []TableMetrics {
	all := []TableMetrics{}
	object(&d.reader, func(r *jsontext.Reader, table string) {
		t := TableMetrics{Table: table}
		array(r, func(*jsontext.Reader) {
			var m ItemCollectionMetrics
			d.readMetrics(&m)
			t.Collections = append(t.Collections, m)
		})
		all = append(all, t)
	})
	return all
}
