package api

// DeleteTable deletes a table.
type DeleteTable struct{ Table string }

// Operation implements Request.
func (*DeleteTable) Operation() string { return "DeleteTable" }

// Decode implements Request.
func (q *DeleteTable) Decode(d *Decoder, body []byte) error { return nil }
