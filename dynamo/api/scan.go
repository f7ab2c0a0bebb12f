package api

// Scan reads all items of a table or index, or of one of its segments.
type Scan struct {
	Read
	Segment, Segments int // Segments is 0 where the request has none
}

// Operation implements Request.
func (*Scan) Operation() string { return "Scan" }

// Decode implements Request.
func (q *Scan) Decode(d *Decoder, body []byte) error { return nil }
