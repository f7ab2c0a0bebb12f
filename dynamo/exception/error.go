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

	// Item is the item that failed a condition, as DynamoDB JSON ({"a":{"S":"b"}}),
	// where the request asked for it. ConditionalCheckFailed only.
	Item []byte

	// Reasons are why a transaction was cancelled, one for each action in its
	// order. TransactionCanceled only.
	Reasons []CancellationReason

	// Throttling says what was too hot. The throttling kinds only.
	Throttling []ThrottlingReason

	// Raw is the body of another store's answer that the error was read from, whose
	// status RawStatus is: what goes out is it, unless it is nil. Who changes the
	// error sets Raw to nil.
	Raw       []byte
	RawStatus int
}

// CancellationReason is what became of one action of a cancelled transaction.
type CancellationReason struct {
	Code    string // None, ConditionalCheckFailed, ItemCollectionSizeLimitExceeded, TransactionConflict, ProvisionedThroughputExceeded, ThrottlingError, ValidationError
	Message string // empty under None
	Item    []byte // as Error.Item
}

// ThrottlingReason says which limit of which table or index a request met.
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

// InvalidParameters returns a ValidationException that begins as many of AWS's do.
func InvalidParameters(format string, args ...any) *Error {
	e := New(Validation, format, args...)
	e.Message = "One or more parameter values were invalid: " + e.Message
	return e
}

// Canceled returns the error of a transaction that is not carried out for some
// reasons, one for each action.
func Canceled(reasons []CancellationReason) *Error {
	codes := make([]string, len(reasons))
	for i := range reasons {
		codes[i] = reasons[i].Code
	}
	e := New(TransactionCanceled, "Transaction cancelled, please refer cancellation reasons for specific reasons [%s]", strings.Join(codes, ", "))
	e.Reasons = reasons
	return e
}

// Of returns the *Error in err's chain; what has none is an internal error, whose
// text is not for clients.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: InternalServerError, Message: "The request processing has failed because of an unknown error, exception or failure."}
}

// Is tells whether an error is one of the API, of a kind.
func Is(err error, k Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == k
}

// Error is the name and the message, as in AWS's SDKs' texts.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Kind.Name()
	}
	return e.Kind.Name() + ": " + e.Message
}

// Status is the HTTP status of the answer.
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
		// The names differ in case: SDKs read both, strict clients what AWS sends.
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
			name = `,"throttlingReasons":[` // as the service's model has it
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
