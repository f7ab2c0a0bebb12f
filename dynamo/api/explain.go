// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"encoding/json"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Explain asks how a door would carry out a request on items. It is not an operation of DynamoDB; an
// evenkeel door serves it.
type Explain struct{ Asked ItemRequest }

// Operation implements Request.
func (*Explain) Operation() string { return "Explain" }

// ExplainResponse is the answer to Explain. Its body is the JSON of Value.
type ExplainResponse struct{ ReshardResponse }

type explainInput struct {
	Operation string
	Request   json.RawMessage
}

// Decode implements Request.
func (q *Explain) Decode(_ *Decoder, body []byte) error {
	var in explainInput
	if err := json.Unmarshal(body, &in); err != nil {
		return exception.New(exception.Serialization, "")
	}
	asked, err := DecodeItemRequest(in.Operation, in.Request)
	q.Asked = asked
	return err
}

// DecodeItemRequest decodes the body of a request on items.
func DecodeItemRequest(operation string, body []byte) (ItemRequest, error) {
	o := OperationOf(operation)
	if o.About != Items || o.New == nil {
		return nil, exception.Invalid("%q is not an operation on items; write for instance Query, GetItem, PutItem or BatchWriteItem", operation)
	}
	q := o.New()
	if err := q.Decode(new(Decoder), bytes.Clone(body)); err != nil {
		return nil, err
	}
	return q.(ItemRequest), nil
}

// AppendJSON implements Request.
func (q *Explain) AppendJSON(dst []byte) []byte {
	b, err := json.Marshal(explainInput{q.Asked.Operation(), q.Asked.AppendJSON(nil)})
	if err != nil {
		return append(dst, '{', '}') // cannot happen with a request's JSON
	}
	return append(dst, b...)
}
