// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"encoding/json"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Explain asks how a door would carry out a request on items, or a statement. It is not an operation of
// DynamoDB; an evenkeel door serves it.
type Explain struct {
	Asked     ItemRequest       // nil if Statement is set
	Statement *ExecuteStatement // nil if Asked is set
}

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
	asked, err := DecodeExplain(in.Operation, in.Request)
	if err == nil {
		*q = *asked
	}
	return err
}

// DecodeExplain decodes the body of what Explain asks about: a request on items, or ExecuteStatement.
func DecodeExplain(operation string, body []byte) (q *Explain, err error) {
	q = new(Explain)
	if operation == (*ExecuteStatement)(nil).Operation() {
		q.Statement = new(ExecuteStatement)
		return q, q.Statement.Decode(new(Decoder), bytes.Clone(body))
	}
	q.Asked, err = DecodeItemRequest(operation, body)
	return q, err
}

// DecodeItemRequest decodes the body of a request on items.
func DecodeItemRequest(operation string, body []byte) (ItemRequest, error) {
	o := OperationOf(operation)
	if o.About != Items || o.New == nil {
		return nil, exception.Invalid("%q is not an operation on items; write for instance Query, GetItem, PutItem, BatchWriteItem or ExecuteStatement", operation)
	}
	q := o.New()
	if err := q.Decode(new(Decoder), bytes.Clone(body)); err != nil {
		return nil, err
	}
	return q.(ItemRequest), nil
}

// AppendJSON implements Request.
func (q *Explain) AppendJSON(dst []byte) []byte {
	asked := Request(q.Asked)
	if q.Statement != nil {
		asked = q.Statement
	}
	b, err := json.Marshal(explainInput{asked.Operation(), asked.AppendJSON(nil)})
	if err != nil {
		return append(dst, '{', '}') // cannot happen with a request's JSON
	}
	return append(dst, b...)
}
