// SPDX-License-Identifier: Apache-2.0

package exception

import (
	"bytes"
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// Decode reads an answer of another store that is an error. The error keeps the answer's body and
// status. If the API has no such kind, Kind is InternalServerError. The error does not share the
// memory of body. Decode returns false if the answer is not an error of the API.
func Decode(status int, body []byte) (*Error, bool) {
	e := &Error{Raw: bytes.Clone(body), RawStatus: status}
	if e.Raw == nil {
		e.Raw = []byte{}
	}
	name := ""
	r := jsontext.NewReader(e.Raw)
	if r.Peek() != jsontext.Object {
		return e, false
	}
	for r.Object(); r.Next(); {
		switch {
		case r.Peek() == jsontext.Null:
			r.Null()
		case r.Name() == "__type":
			name = r.Text()
		case r.Name() == "message", r.Name() == "Message":
			e.Message = r.Text()
		case r.Name() == "Item":
			e.Item = r.Raw()
		case r.Name() == "CancellationReasons":
			for r.Array(); r.Next(); {
				e.Reasons = append(e.Reasons, decodeReason(r))
			}
		case r.Name() == "ThrottlingReasons", r.Name() == "throttlingReasons":
			for r.Array(); r.Next(); {
				e.Throttling = append(e.Throttling, decodeThrottling(r))
			}
		default:
			r.Skip()
		}
	}
	if r.End() != nil || name == "" {
		return e, false
	}
	var known bool
	if e.Kind, known = ByName(name); !known && e.Message == "" {
		e.Message = name
	}
	return e, true
}

func decodeReason(r *jsontext.Reader) (c CancellationReason) {
	for r.Object(); r.Next(); {
		switch {
		case r.Peek() == jsontext.Null:
			r.Null()
		case r.Name() == "Code":
			c.Code = r.Text()
		case r.Name() == "Message":
			c.Message = r.Text()
		case r.Name() == "Item":
			c.Item = r.Raw()
		default:
			r.Skip()
		}
	}
	return c
}

func decodeThrottling(r *jsontext.Reader) (t ThrottlingReason) {
	for r.Object(); r.Next(); {
		switch {
		case r.Peek() == jsontext.Null:
			r.Null()
		case r.Name() == "reason":
			t.Reason = r.Text()
		case r.Name() == "resource":
			t.Resource = r.Text()
		default:
			r.Skip()
		}
	}
	return t
}

// Unforeseen returns the error for an answer whose status and body are not the API's, for example
// that of a proxy.
func Unforeseen(status int, body []byte) *Error {
	k := InternalServerError
	if status == 503 || status == 502 || status == 504 {
		k = ServiceUnavailable
	}
	const shown = 200
	text := bytes.TrimSpace(body)
	if len(text) > shown {
		text = text[:shown]
	}
	return &Error{Kind: k, Message: fmt.Sprintf("the endpoint answers with HTTP status %d and no error of the DynamoDB API: %q", status, text)}
}
