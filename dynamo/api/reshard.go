// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Reshard asks about a change of a sharded table's layout, or for an action on it. It is not an
// operation of DynamoDB; an evenkeel door serves it.
type Reshard struct {
	Table  string
	Action string  // one of ReshardActions
	Shards int     // plan and start only
	Layout string  // plan and start only, in place of Shards: a value of the tag write-sharding
	Key    *string // plan and start only: the one partition key, as a user writes it; nil: all
}

// ReshardActions lists the actions.
var ReshardActions = []string{"plan", "start", "status", "pause", "resume", "rollback", "finish"}

// Operation implements Request.
func (*Reshard) Operation() string { return "Reshard" }

// Decode implements Request.
func (q *Reshard) Decode(d *Decoder, body []byte) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	var table, action, key, layout text
	var shards integer
	for r.Next() {
		switch r.Name() {
		case "TableName":
			table = readText(r)
		case "Action":
			action = readText(r)
		case "Key":
			key = readText(r)
		case "Shards":
			shards = readInteger(r, "Integer")
		case "Layout":
			layout = readText(r)
		default:
			r.Skip()
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	var c constraints
	c.table(table, "tableName")
	c.enum(action, "action", ReshardActions...)
	if err := c.err(); err != nil {
		return err
	}
	*q = Reshard{Table: table.value, Action: action.value, Shards: int(shards.value), Layout: layout.value}
	if key.given {
		q.Key = &key.value
	}
	switch asks := slices.Contains([]string{"plan", "start"}, q.Action); {
	case !action.given:
		return exception.Invalid("Action is missing: plan, start, status, pause, resume, rollback or finish")
	case asks && q.Layout != "" && (shards.given || key.given):
		return exception.Invalid("Layout stands in place of Shards, and is that of all keys; leave the others out")
	case asks && q.Layout != "":
	case asks && !shards.given:
		return exception.Invalid("Shards is missing: how many the table is to have; 0 makes it a plain table")
	case asks && q.Shards < 0:
		return exception.Invalid("Shards is %d; it must be 0 or more", q.Shards)
	}
	return nil
}

// AppendJSON implements Request.
func (q *Reshard) AppendJSON(dst []byte) []byte {
	shards := &q.Shards
	if q.Layout != "" {
		shards = nil
	}
	b, err := json.Marshal(struct {
		TableName, Action string
		Shards            *int    `json:",omitempty"`
		Layout            string  `json:",omitempty"`
		Key               *string `json:",omitempty"`
	}{q.Table, q.Action, shards, q.Layout, q.Key})
	if err != nil {
		return append(dst, '{', '}') // cannot happen with strings and numbers
	}
	return append(dst, b...)
}

// ReshardResponse is the answer to Reshard. Its body is the JSON of Value.
type ReshardResponse struct{ Value any }

// AppendJSON implements Response.
func (r *ReshardResponse) AppendJSON(dst []byte) []byte {
	b, err := json.Marshal(r.Value)
	if err != nil {
		return append(dst, '{', '}') // cannot happen with such values
	}
	return append(dst, b...)
}
