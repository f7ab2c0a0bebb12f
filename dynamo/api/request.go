// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// Request is the body of an operation.
type Request interface {
	// Operation returns the operation's name, which X-Amz-Target has after the dot.
	Operation() string
	// Decode reads and checks a body into the request, which must be new. Errors are
	// *exception.Error.
	Decode(d *Decoder, body []byte) error
	// AppendJSON appends the request's body, for a store in another process. Decode of this body
	// returns an equal request.
	AppendJSON(dst []byte) []byte
}

// Answered is a request whose answers can be decoded, for example the answers of a store in another
// process.
type Answered interface {
	Request
	// DecodeResponse decodes the body of an answer to the request. The response shares the memory
	// of body and d, as a request does. An error says that the body is not such an answer.
	DecodeResponse(d *Decoder, body []byte) (Response, error)
}

// Decoder holds the memory of decoded requests. Its zero value is ready. Reset lets the memory be
// used again after the request has ended.
type Decoder struct {
	reader    jsontext.Reader
	attribute attribute.Decoder
}

// Reset lets the decoder use the memory of its last request again.
func (d *Decoder) Reset() { d.attribute.Reset() }

// Release is Reset, and returns the memory of a long request.
func (d *Decoder) Release() { d.attribute.Release() }
