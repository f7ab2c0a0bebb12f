// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// TransactGetItems gets up to 100 items in the state of one moment.
type TransactGetItems struct {
	Gets     []TransactGet
	Capacity ReturnConsumedCapacity
}

// TransactGet is one of the gets.
type TransactGet struct {
	Table      string
	Key        attribute.Item
	Projection *expression.Projection
}

// Operation implements Request.
func (*TransactGetItems) Operation() string { return "TransactGetItems" }

// The largest number of items of a transaction, and of their bytes.
const (
	MaxTransaction     = 100
	MaxTransactionSize = 4 << 20
)

// Decode implements Request.
func (q *TransactGetItems) Decode(d *Decoder, body []byte) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	var capacity text
	var gets []transactGet
	listed, n := false, 0
	for r.Next() {
		switch {
		case r.Peek() == jsontext.Null:
			r.Skip()
		case r.Name() == "TransactItems":
			listed = true
			gets, n = d.readTransactGets()
		case r.Name() == "ReturnConsumedCapacity":
			capacity = readText(r)
		default:
			r.Skip()
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	in := input{capacity: capacity}
	var c constraints
	c.capacity(&in)
	c.transactItems(listed, n)
	for i := range gets {
		at := "transactItems." + strconv.Itoa(i+1) + ".member.get"
		c.notNull(gets[i].given, at)
		if gets[i].given {
			c.table(gets[i].table, at+".tableName")
			c.notNull(gets[i].key != nil, at+".key")
		}
	}
	if err := c.err(); err != nil {
		return err
	}
	q.Capacity = in.returnConsumedCapacity()
	for i := range gets {
		g := &gets[i]
		if err := g.checkMixing([]named{{"ProjectionExpression", g.projection.given}}, nil); err != nil {
			return err
		}
		if err := g.key.Validate(); err != nil {
			return err
		}
		projection, err := g.project()
		if err != nil {
			return err
		}
		q.Gets = append(q.Gets, TransactGet{Table: g.table.value, Key: g.key, Projection: projection})
	}
	return nil
}

// transactGet is a TransactGetItem as it came.
type transactGet struct {
	input
	given bool
}

const transactGetParameters = pTableName | pKey | pProjectionExpression | pExpressionAttributeNames

// readTransactGets reads n gets. It keeps at most one more than a transaction may have.
func (d *Decoder) readTransactGets() (gets []transactGet, n int) {
	r := &d.reader
	if !attribute.EnterList(r) {
		return nil, 0
	}
	for ; r.Next(); n++ {
		if n > MaxTransaction {
			r.Skip()
			continue
		}
		var g transactGet
		if enterElement(r, "TransactGetItem") {
			for r.Next() {
				if r.Name() != "Get" {
					r.Skip()
				} else if enterField(r, "Get") {
					g.given = true
					d.readMembers(&g.input, transactGetParameters)
				}
			}
		}
		gets = append(gets, g)
	}
	return gets, n
}

// readMembers reads the members of a structure that the reader has entered. It skips those that are
// not in has.
func (d *Decoder) readMembers(in *input, has parameter) {
	r := &d.reader
	for r.Next() {
		if p := parameters[r.Name()] & has; p == 0 || r.Peek() == jsontext.Null {
			r.Skip()
		} else {
			d.readParameter(in, p)
		}
	}
}

func (c *constraints) transactItems(given bool, n int) {
	c.notNull(given, "transactItems")
	if given {
		c.length(n, 1, MaxTransaction, func() string { return shape(n) }, "transactItems")
	}
}

// EachTable implements ItemRequest.
func (q *TransactGetItems) EachTable(visit func(string)) {
	for i := range q.Gets {
		visit(q.Gets[i].Table)
	}
}

// Instead implements ItemRequest.
func (q *TransactGetItems) Instead(key attribute.Item, _ string) Request {
	p := new(TransactGetItems)
	for _, g := range q.Gets {
		p.Gets = append(p.Gets, TransactGet{Table: g.Table, Key: key})
	}
	return p
}

// Describe implements ItemRequest.
func (q *TransactGetItems) Describe() string {
	s := "TransactGetItems"
	for _, g := range q.Gets {
		s += "\n" + line("  get", g.Table, "key", g.Key, "projection", g.Projection)
	}
	return s
}
