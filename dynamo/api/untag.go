// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// UntagResource removes tags of a table.
type UntagResource struct {
	ARN  string
	Keys []string
}

// Operation implements Request.
func (*UntagResource) Operation() string { return "UntagResource" }

// Decode implements Request.
func (q *UntagResource) Decode(d *Decoder, body []byte) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	var arn text
	var keys []text
	for r.Next() {
		switch {
		case r.Name() == "ResourceArn":
			arn = readText(r)
		case r.Name() == "TagKeys" && r.Peek() != jsontext.Null:
			keys = readTexts(r)
		default:
			r.Skip()
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	if !arn.given {
		return exception.Invalid("Invalid TableArn")
	}
	if keys == nil {
		return exception.Invalid("1 validation error detected: Value null at 'tagKeys' failed to satisfy constraint: Member must not be null")
	}
	if err := checkARN(arn); err != nil {
		return err
	}
	if len(keys) == 0 {
		return exception.Invalid("Atleast one Tag Key needs to be provided as Input.")
	}
	q.ARN = arn.value
	for _, k := range keys {
		q.Keys = append(q.Keys, k.value)
	}
	return schema.CheckTagKeys(q.Keys)
}
