// SPDX-License-Identifier: Apache-2.0

package api

// DeleteTable deletes a table.
type DeleteTable struct{ Table string }

// Operation implements Request.
func (*DeleteTable) Operation() string { return "DeleteTable" }

// Decode implements Request.
func (q *DeleteTable) Decode(d *Decoder, body []byte) error {
	name, err := d.tableName(body)
	q.Table = name
	return err
}

// tableName reads a request whose only member is TableName.
func (d *Decoder) tableName(body []byte) (string, error) {
	var in input
	if err := d.read(body, &in, pTableName); err != nil {
		return "", err
	}
	if err := checkNewName(in.table); err != nil {
		return "", err
	}
	var c constraints
	c.name(in.table, anyTable, "tableName")
	return in.table.value, c.err()
}
