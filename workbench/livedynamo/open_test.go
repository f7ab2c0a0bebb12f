// SPDX-License-Identifier: Apache-2.0

package livedynamo

import (
	"errors"
	"net"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
)

func TestBrokenOff(t *testing.T) {
	closed := &smithy.DeserializationError{Err: &net.OpError{Op: "read", Net: "tcp", Err: net.ErrClosed}}
	for err, want := range map[error]aws.Ternary{closed: aws.TrueTernary, &smithy.DeserializationError{Err: errors.New("no JSON")}: aws.UnknownTernary} {
		if got := brokenOff(err); got != want {
			t.Errorf("brokenOff(%v) is %v, want %v", err, got, want)
		}
	}
}
