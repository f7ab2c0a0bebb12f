// SPDX-License-Identifier: Apache-2.0

package api

// ListTagsOfResource lists the tags of a table.
type ListTagsOfResource struct {
	ARN  string
	Next string // NextToken
}

// Operation implements Request.
func (*ListTagsOfResource) Operation() string { return "ListTagsOfResource" }

// Decode implements Request.
func (q *ListTagsOfResource) Decode(d *Decoder, body []byte) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	var arn, next text
	for r.Next() {
		switch r.Name() {
		case "ResourceArn":
			arn = readText(r)
		case "NextToken":
			next = readText(r)
		default:
			r.Skip()
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	q.ARN, q.Next = arn.value, next.value
	return checkARN(arn)
}
