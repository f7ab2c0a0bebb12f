// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// Request is the body of an operation.
type Request interface {
	// Operation is the operation's name, as in X-Amz-Target after the point.
	Operation() string
	// Decode reads and checks a body into the request, which must be new.
	// Errors are *exception.Error.
	Decode(d *Decoder, body []byte) error
	// AppendJSON appends the request's body, for a store that is not in this
	// process. Decoded, it is an equal request.
	AppendJSON(dst []byte) []byte
}

// Answered is a request whose answers can be read, as of a store that is not in
// this process.
type Answered interface {
	Request
	// DecodeResponse reads the body of an answer to the request. The response
	// shares the memory of body and d, as a request does; an error says that the
	// body is no answer.
	DecodeResponse(d *Decoder, body []byte) (Response, error)
}

// Decoder is the memory that requests are decoded into. Its zero value is ready;
// Reset lets it be used again once the request is done with.
type Decoder struct {
	reader    jsontext.Reader
	attribute attribute.Decoder
}

// Reset lets the decoder use the memory of its last request again.
func (d *Decoder) Reset() { d.attribute.Reset() }
