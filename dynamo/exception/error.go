// SPDX-License-Identifier: Apache-2.0

package exception

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// Error is one error of the API.
type Error struct {
	Kind    Kind
	Message string // may be empty: some errors have none

	// Item is the item that failed a condition, as DynamoDB JSON ({"a":{"S":"b"}}), if the request
	// asked for it. ConditionalCheckFailed only.
	Item []byte

	// Reasons are the reasons why a transaction was cancelled, one for each action, in the actions'
	// order. TransactionCanceled only.
	Reasons []CancellationReason

	// Throttling holds the limits that the request met. The throttling kinds only.
	Throttling []ThrottlingReason

	// Raw is the body of another store's answer that the error was read from, and RawStatus its
	// status. If Raw is not nil, the client gets Raw. Code that changes the error must set Raw to
	// nil.
	Raw       []byte
	RawStatus int
}

// CancellationReason is the result of one action of a cancelled transaction.
type CancellationReason struct {
	Code    string // None, ConditionalCheckFailed, ItemCollectionSizeLimitExceeded, TransactionConflict, ProvisionedThroughputExceeded, ThrottlingError, ValidationError
	Message string // empty if Code is None
	Item    []byte // as Error.Item
}

// ThrottlingReason names the limit that a request met, and the table or index that has it.
type ThrottlingReason struct {
	Reason   string // such as TableWriteKeyRangeThroughputExceeded
	Resource string // the ARN of the table or index
}

// New returns an error of a kind with a formatted message.
func New(k Kind, format string, args ...any) *Error {
	if len(args) == 0 {
		return &Error{Kind: k, Message: format}
	}
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns a ValidationException.
func Invalid(format string, args ...any) *Error { return New(Validation, format, args...) }

// InvalidParameters returns a ValidationException with the beginning that many of AWS's have.
func InvalidParameters(format string, args ...any) *Error {
	e := New(Validation, format, args...)
	e.Message = "One or more parameter values were invalid: " + e.Message
	return e
}

// Canceled returns the error of a cancelled transaction, with one reason for each action.
func Canceled(reasons []CancellationReason) *Error {
	codes := make([]string, len(reasons))
	for i := range reasons {
		codes[i] = reasons[i].Code
	}
	e := New(TransactionCanceled, "Transaction cancelled, please refer cancellation reasons for specific reasons [%s]", strings.Join(codes, ", "))
	e.Reasons = reasons
	return e
}

// Of returns the *Error in err's chain. If there is none, it returns an internal error. The text of
// err is not for clients.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: InternalServerError, Message: "The request processing has failed because of an unknown error, exception or failure."}
}

// Is reports whether an error is an error of the API of this kind.
func Is(err error, k Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == k
}

// Error returns the name and the message, as the texts of AWS's SDKs do.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Kind.Name()
	}
	return e.Kind.Name() + ": " + e.Message
}

// Status returns the HTTP status of the answer.
func (e *Error) Status() int {
	if e.Raw != nil {
		return e.RawStatus
	}
	return e.Kind.Status()
}

// AppendJSON appends the body of the answer.
func (e *Error) AppendJSON(dst []byte) []byte {
	if e.Raw != nil {
		return append(dst, e.Raw...)
	}
	dst = append(dst, `{"__type":"`...)
	dst = append(dst, e.Kind.Type()...)
	dst = append(dst, '"')
	if e.Message != "" {
		// The names differ in case. SDKs read both; strict clients read only the one that AWS
		// sends.
		switch e.Kind {
		case Serialization, TransactionCanceled, AccessDenied, IdempotentParameterMismatch, TransactionInProgress:
			dst = append(dst, `,"Message":`...)
		default:
			dst = append(dst, `,"message":`...)
		}
		dst = jsontext.AppendString(dst, e.Message)
	}
	if len(e.Item) > 0 {
		dst = append(dst, `,"Item":`...)
		dst = append(dst, e.Item...)
	}
	if len(e.Reasons) > 0 {
		dst = append(dst, `,"CancellationReasons":[`...)
		for i, r := range e.Reasons {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, `{"Code":`...)
			dst = jsontext.AppendString(dst, r.Code)
			if r.Message != "" {
				dst = append(dst, `,"Message":`...)
				dst = jsontext.AppendString(dst, r.Message)
			}
			if len(r.Item) > 0 {
				dst = append(dst, `,"Item":`...)
				dst = append(dst, r.Item...)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	if len(e.Throttling) > 0 {
		name := `,"ThrottlingReasons":[`
		if e.Kind == Throttling {
			name = `,"throttlingReasons":[` // the service's model has this name
		}
		dst = append(dst, name...)
		for i, r := range e.Throttling {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, `{"reason":`...)
			dst = jsontext.AppendString(dst, r.Reason)
			dst = append(dst, `,"resource":`...)
			dst = jsontext.AppendString(dst, r.Resource)
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
