// SPDX-License-Identifier: Apache-2.0

package api

// DescribeTable describes a table.
type DescribeTable struct{ Table string }

// Operation implements Request.
func (*DescribeTable) Operation() string { return "DescribeTable" }

// Decode implements Request.
func (q *DescribeTable) Decode(d *Decoder, body []byte) error {
	name, err := d.tableName(body)
	q.Table = name
	return err
}
