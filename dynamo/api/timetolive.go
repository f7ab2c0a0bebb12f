package api

import (
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// UpdateTimeToLive sets or clears the attribute that holds the time of expiry.
type UpdateTimeToLive struct {
	Table string
	schema.TimeToLive
}

// Operation implements Request.
func (*UpdateTimeToLive) Operation() string { return "UpdateTimeToLive" }

// Decode implements Request.
func (q *UpdateTimeToLive) Decode(d *Decoder, body []byte) error { return nil }
