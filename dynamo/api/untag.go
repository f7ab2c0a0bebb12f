package api

// UntagResource removes tags of a table.
type UntagResource struct {
	ARN  string
	Keys []string
}

// Operation implements Request.
func (*UntagResource) Operation() string { return "UntagResource" }

// Decode implements Request.
func (q *UntagResource) Decode(d *Decoder, body []byte) error { return nil }
