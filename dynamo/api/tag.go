// SPDX-License-Identifier: Apache-2.0

package api

import (
	"regexp"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// TagResource sets tags of a table.
type TagResource struct {
	ARN  string
	Tags []schema.Tag
}

// Operation implements Request.
func (*TagResource) Operation() string { return "TagResource" }

// Decode implements Request.
func (q *TagResource) Decode(d *Decoder, body []byte) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	var arn text
	var tags []tagInput
	for r.Next() {
		switch {
		case r.Name() == "ResourceArn":
			arn = readText(r)
		case r.Name() == "Tags" && r.Peek() != jsontext.Null:
			tags = readTags(r)
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
	if tags == nil {
		return exception.Invalid("1 validation error detected: Value null at 'tags' failed to satisfy constraint: Member must not be null")
	}
	if err := checkARN(arn); err != nil {
		return err
	}
	if len(tags) == 0 {
		return exception.Invalid("Atleast one Tag needs to be provided as Input.")
	}
	var err error
	q.ARN = arn.value
	q.Tags, err = convertTags(tags)
	return err
}

// tableARN matches the ARN of a table.
var tableARN = regexp.MustCompile(`^arn:aws[a-z-]*:dynamodb:[^:/]+:\d+:table/[^/]{3,}$`)

func checkARN(arn text) error {
	if !arn.given {
		return exception.Invalid("Invalid TableArn")
	}
	if !tableARN.MatchString(arn.value) {
		return exception.Invalid("Invalid TableArn: Invalid ResourceArn provided as input %s", arn.value)
	}
	return nil
}
