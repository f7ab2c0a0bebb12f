package api

// DescribeTimeToLive tells a table's setting of item expiry.
type DescribeTimeToLive struct{ Table string }

// Operation implements Request.
func (*DescribeTimeToLive) Operation() string { return "DescribeTimeToLive" }

// Decode implements Request.
func (q *DescribeTimeToLive) Decode(d *Decoder, body []byte) error { return nil }
