// SPDX-License-Identifier: Apache-2.0

package api

// ListTables lists the names of tables in alphabetical order.
type ListTables struct {
	Start string // ExclusiveStartTableName; empty: none
	Limit int    // 1..100
}

// Operation implements Request.
func (*ListTables) Operation() string { return "ListTables" }

// MaxTables is the largest number of names in an answer to ListTables.
const MaxTables = 100

// Decode implements Request.
func (q *ListTables) Decode(d *Decoder, body []byte) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	var start text
	var limit integer
	for r.Next() {
		switch r.Name() {
		case "ExclusiveStartTableName":
			start = readText(r)
		case "Limit":
			limit = readInteger(r, "Integer")
		default:
			r.Skip()
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	var c constraints
	c.atLeast(limit, 1, "limit")
	c.atMost(limit, MaxTables, "limit")
	c.name(start, minName, "exclusiveStartTableName")
	if err := c.err(); err != nil {
		return err
	}
	q.Start, q.Limit = start.value, MaxTables
	if limit.given {
		q.Limit = int(limit.value)
	}
	return nil
}
