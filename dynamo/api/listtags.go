package api

// ListTagsOfResource lists the tags of a table.
type ListTagsOfResource struct {
	ARN  string
	Next string // NextToken
}

// Operation implements Request.
func (*ListTagsOfResource) Operation() string { return "ListTagsOfResource" }

// Decode implements Request.
func (q *ListTagsOfResource) Decode(d *Decoder, body []byte) error { return nil }
