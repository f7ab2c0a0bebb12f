// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// UpdateTimeToLive sets or clears the attribute that holds the time at which an item expires.
type UpdateTimeToLive struct {
	Table string
	schema.TimeToLive
}

// Operation implements Request.
func (*UpdateTimeToLive) Operation() string { return "UpdateTimeToLive" }

// Decode implements Request.
func (q *UpdateTimeToLive) Decode(d *Decoder, body []byte) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	var table, name text
	var enabled flag
	specified := false
	for r.Next() {
		switch r.Name() {
		case "TableName":
			table = readText(r)
		case "TimeToLiveSpecification":
			specified = members(r, "TimeToLiveSpecification", false, func(member string) {
				switch member {
				case "AttributeName":
					name = readText(r)
				case "Enabled":
					enabled = readFlag(r)
				default:
					r.Skip()
				}
			})
		default:
			r.Skip()
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	var c constraints
	c.table(table, "tableName")
	c.notNull(specified, "timeToLiveSpecification")
	if specified {
		c.notNull(name.given, "timeToLiveSpecification.attributeName")
		if name.given {
			c.length(len(name.value), 1, maxName, func() string { return name.value }, "timeToLiveSpecification.attributeName")
		}
		c.notNull(enabled.given, "timeToLiveSpecification.enabled")
	}
	q.Table = table.value
	q.TimeToLive = schema.TimeToLive{Enabled: enabled.value, Attribute: name.value}
	return c.err()
}
