package api

// ListTables lists the names of tables in their order.
type ListTables struct {
	Start string // ExclusiveStartTableName; empty where there is none
	Limit int    // 1..100
}

// Operation implements Request.
func (*ListTables) Operation() string { return "ListTables" }

// Decode implements Request.
func (q *ListTables) Decode(d *Decoder, body []byte) error { return nil }
