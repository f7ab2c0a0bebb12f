// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"testing"
)

// TestResultBodyKeepsErrors checks that an error stays as it is when its response's buffer is reused.
func TestResultBodyKeepsErrors(t *testing.T) {
	sent := &Error{Code: CodeUnprepared, Message: "forgotten", ID: []byte("0123456789abcdef")}
	resp := Message{Op: OpError, Body: sent.Append(nil, Highest)}
	_, err := ResultBody(Highest, resp)
	clear(resp.Body)
	var got *Error
	if !errors.As(err, &got) || got.Message != sent.Message || string(got.ID) != string(sent.ID) {
		t.Errorf("%v, want %v", err, sent)
	}
}

// TestResultBodyCutsPrefix checks that the body of a response comes without warnings.
func TestResultBodyCutsPrefix(t *testing.T) {
	warnings := []byte{0, 1, 0, 1, 'w'}
	got, err := ResultBody(Highest, Message{Op: OpResult, Flags: FlagWarning, Body: append(warnings, "rest"...)})
	if err != nil || string(got) != "rest" {
		t.Errorf("%q, %v", got, err)
	}
}
