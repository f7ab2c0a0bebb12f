// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// BatchGetItem gets up to 100 items.
type BatchGetItem struct {
	Tables   []BatchGetTable // in the order of the request
	Capacity ReturnConsumedCapacity
}

// BatchGetTable is the part of a BatchGetItem that reads one table.
type BatchGetTable struct {
	Table      string
	Keys       []attribute.Item
	Projection *expression.Projection
	Consistent bool
	Raw        []byte // the table's part of a client's request, which is sent on unchanged except for Keys; nil in a request that no client sent
}

// Operation implements Request.
func (*BatchGetItem) Operation() string { return "BatchGetItem" }

// Limits of batches.
const (
	MaxBatchGet   = 100
	MaxBatchWrite = 25
)

const batchGetParameters = pConsistentRead | pAttributesToGet | pProjectionExpression | pExpressionAttributeNames

// Decode implements Request.
func (q *BatchGetItem) Decode(d *Decoder, body []byte) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	var in input
	var tables []batchGet
	items := false
	for r.Next() {
		switch r.Name() {
		case "RequestItems":
			if items = r.Peek() != jsontext.Null; !items {
				r.Skip()
			} else if enterMap(r, "KeysAndAttributes") {
				tables = d.readBatchGets()
			}
		case "ReturnConsumedCapacity":
			in.capacity = readText(r)
		default:
			r.Skip()
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	if err := checkBatchGets(&in, items, tables); err != nil {
		return err
	}
	if err := checkBatchMixing(tables); err != nil {
		return err
	}
	q.Capacity = in.returnConsumedCapacity()
	q.Tables = make([]BatchGetTable, len(tables))
	n := 0
	for i := range tables {
		t := &tables[i]
		err := t.checkMixing([]named{{"ProjectionExpression", t.projection.given}}, []named{{"AttributesToGet", t.attributesToGet != nil}})
		if err != nil {
			return err
		}
		projection, err := t.project()
		if err != nil {
			return err
		}
		if err := t.checkKeys(); err != nil {
			return err
		}
		if n += len(t.keys); n > MaxBatchGet {
			return exception.Invalid("Too many items requested for the BatchGetItem call")
		}
		q.Tables[i] = BatchGetTable{Table: t.table.value, Keys: t.keys, Projection: projection, Consistent: t.consistent.value, Raw: t.raw}
	}
	return nil
}

// checkBatchMixing refuses a request that has an expression for one table and an older parameter
// for another.
func checkBatchMixing(tables []batchGet) error {
	projection, attributes := false, false
	for i := range tables {
		projection = projection || tables[i].projection.given
		attributes = attributes || tables[i].attributesToGet != nil
	}
	var all input
	return all.checkMixing([]named{{"ProjectionExpression", projection}}, []named{{"AttributesToGet", attributes}})
}

// batchGet is a KeysAndAttributes structure as it came.
type batchGet struct {
	input
	keys []attribute.Item // nil: not given
	raw  []byte
}

// readBatchGets reads the tables. It keeps at most one table, and one key of a table, more than a
// request may have.
func (d *Decoder) readBatchGets() []batchGet {
	r := &d.reader
	var tables []batchGet
	for r.Next() {
		if len(tables) > MaxBatchGet {
			r.Skip()
			continue
		}
		t := batchGet{}
		t.table = text{r.Name(), true}
		r.Peek()
		start := r.Offset()
		if enterElement(r, "KeysAndAttributes") {
			for r.Next() {
				switch p := parameters[r.Name()] & batchGetParameters; {
				case r.Peek() == jsontext.Null:
					r.Skip()
				case r.Name() == "Keys":
					t.keys = d.readKeys()
				case p != 0:
					d.readParameter(&t.input, p)
				default:
					r.Skip()
				}
			}
		}
		t.raw = r.Since(start)
		tables = append(tables, t)
	}
	return tables
}

func (d *Decoder) readKeys() []attribute.Item {
	r := &d.reader
	if !attribute.EnterList(r) {
		return nil
	}
	keys := []attribute.Item{}
	for r.Next() {
		if len(keys) > MaxBatchGet {
			r.Skip()
			continue
		}
		switch r.Peek() {
		case jsontext.Object, jsontext.Array, jsontext.Null, jsontext.Invalid:
			keys = append(keys, d.attribute.ReadItem(r))
		default:
			attribute.NotParameterized(r)
		}
	}
	return keys
}

func checkBatchGets(in *input, items bool, tables []batchGet) error {
	var c constraints
	c.capacity(in)
	c.notNull(items, "requestItems")
	for i := range tables {
		t := &tables[i]
		at := "requestItems." + t.table.value + ".member."
		c.tableKey(t.table.value, "requestItems")
		c.notNull(t.keys != nil, at+"keys")
		// AWS checks these in its newer code, as it does an empty RequestItems.
		switch n := len(t.keys); {
		case t.keys != nil && n == 0:
			c.violated("", "RequestItems."+t.table.value+".member.Keys", atLeastLong(1))
		case n > MaxBatchGet:
			c.violated("", "RequestItems."+t.table.value+".member.Keys", atMostLong(MaxBatchGet))
		}
		c.attributesToGet(t.attributesToGet, at+"attributesToGet")
	}
	if items && len(tables) == 0 {
		c.violated("", "RequestItems", atLeastLong(1))
	}
	return c.err()
}

// tableKey checks the name of a table that is a key of a map.
func (c *constraints) tableKey(name, at string) {
	if strings.HasPrefix(name, "arn:") && len(name) <= maxARN {
		return
	}
	if len(name) < anyTable || len(name) > maxName || !isName(name) {
		c.violated(quoted("{"+name+"=...}"), at, "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "+
			"Member must have length greater than or equal to 1, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]")
	}
}

// checkKeys returns an error if a key has a value that is not valid, or if two keys are equal.
func (t *batchGet) checkKeys() error {
	for _, k := range t.keys {
		if err := k.Validate(); err != nil {
			return err
		}
	}
	if hasDuplicate(t.keys) {
		return exception.Invalid("Provided list of item keys contains duplicates")
	}
	return nil
}

// hasDuplicate reports whether two items have the same canonical text.
func hasDuplicate(items []attribute.Item) bool {
	if len(items) < 2 {
		return false
	}
	seen := make(map[string]bool, len(items))
	var text []byte
	for _, it := range items {
		text = attribute.AppendItem(text[:0], it)
		if seen[string(text)] {
			return true
		}
		seen[string(text)] = true
	}
	return false
}

// AppendJSON appends the table's part of a request, with the keys in t.Keys.
func (t *BatchGetTable) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "Keys"), '[')
	for i, k := range t.Keys {
		dst = element(dst, i)
		dst = attribute.AppendItem(dst, k)
	}
	dst = append(dst, ']')
	if t.Raw == nil {
		var p expression.Printer
		dst = appendTrue(appendProjection(dst, &p, t.Projection), "ConsistentRead", t.Consistent)
		return append(appendPlaceholders(dst, &p), '}')
	}
	// All other members are sent as they came.
	r := jsontext.NewReader(t.Raw)
	for r.Object(); r.Next(); {
		if name := r.Name(); name == "Keys" {
			r.Skip()
		} else {
			dst = append(member(dst, name), r.Raw()...)
		}
	}
	return append(dst, '}')
}

// EachTable implements ItemRequest.
func (q *BatchGetItem) EachTable(visit func(string)) {
	for i := range q.Tables {
		visit(q.Tables[i].Table)
	}
}

// Instead implements ItemRequest.
func (q *BatchGetItem) Instead(key attribute.Item, _ string) Request {
	p := new(BatchGetItem)
	for _, t := range q.Tables {
		p.Tables = append(p.Tables, BatchGetTable{Table: t.Table, Keys: []attribute.Item{key}})
	}
	return p
}

// Describe implements ItemRequest.
func (q *BatchGetItem) Describe() string {
	s := "BatchGetItem"
	for _, t := range q.Tables {
		for _, k := range t.Keys {
			s += "\n" + line("  get", t.Table, "key", k, "projection", t.Projection)
		}
	}
	return s
}
