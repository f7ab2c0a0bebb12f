// SPDX-License-Identifier: Apache-2.0

package api

// DescribeTimeToLive returns a table's setting of item expiry.
type DescribeTimeToLive struct{ Table string }

// Operation implements Request.
func (*DescribeTimeToLive) Operation() string { return "DescribeTimeToLive" }

// Decode implements Request.
func (q *DescribeTimeToLive) Decode(d *Decoder, body []byte) error {
	var in input
	if err := d.read(body, &in, pTableName); err != nil {
		return err
	}
	var c constraints
	c.table(in.table, "tableName")
	q.Table = in.table.value
	return c.err()
}
