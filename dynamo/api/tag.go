package api

import (
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
func (q *TagResource) Decode(d *Decoder, body []byte) error { return nil }
