// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

// What an endpoint says of a signature is about the door's, not about the client's,
// who cannot know: its errors are told so.

// explain is an endpoint's error for the client that ctx is of.
func (s *Store) explain(ctx context.Context, err error) error {
	var e *exception.Error
	if !errors.As(err, &e) || !aboutSignatures(e.Kind) {
		return err
	}
	told := *e
	told.Raw, told.RawStatus = nil, 0
	told.Message = "endpoint " + s.options.Endpoint.String() + " refuses the credentials that the door has for " + of(principal.Of(ctx)) + ": " + e.Message
	return &told
}

func aboutSignatures(k exception.Kind) bool {
	switch k {
	case exception.UnrecognizedClient, exception.ExpiredToken, exception.InvalidSignature, exception.IncompleteSignature, exception.MissingAuthenticationToken:
		return true
	}
	return false
}

// of names whom credentials are for.
func of(p principal.Principal) string {
	if p == (principal.Principal{}) {
		return "its requests"
	}
	return "access key " + p.ID
}

// withoutCredentials is the error for a client that the door has no credentials for:
// one that SDKs try again after, unless who gives them has refused them.
func (s *Store) withoutCredentials(p principal.Principal, err error) error {
	kind := exception.ServiceUnavailable
	var refused smithy.APIError
	var status interface{ HTTPStatusCode() int }
	fault := errors.As(err, &status) && status.HTTPStatusCode() >= 500
	if errors.As(err, &refused) && refused.ErrorFault() != smithy.FaultServer && !fault && !strings.Contains(refused.ErrorCode(), "Throttl") {
		kind = exception.AccessDenied
	}
	what := strings.TrimPrefix(err.Error(), "failed to refresh cached credentials, ") // the SDK's cache's
	return exception.New(kind, "the door has no credentials for %s at endpoint %s: %s", of(p), s.options.Endpoint, what)
}

// Clocks that are this much apart are not corrected: what is refused then is refused
// for something else.
const leastSkew = time.Minute

// correctClock takes the endpoint's clock for the time of signatures, if its error is
// about one that was made with another, and tells whether that has changed
// anything. date is the answer's.
func (s *Store) correctClock(err error, signed time.Duration, date string) bool {
	var e *exception.Error
	if !errors.As(err, &e) || e.Kind != exception.InvalidSignature || !strings.HasPrefix(e.Message, "Signature expired") && !strings.HasPrefix(e.Message, "Signature not yet current") {
		return false
	}
	at, bad := http.ParseTime(date)
	if bad != nil {
		return false
	}
	ahead := at.Sub(s.options.Now())
	if (ahead - signed).Abs() < leastSkew {
		return false
	}
	if (ahead - time.Duration(s.ahead.Swap(int64(ahead)))).Abs() >= leastSkew { // else another request has found it
		s.options.Log.Warn("the clock of this machine is not the DynamoDB endpoint's: requests are signed with the endpoint's time; set this machine's clock",
			"endpoint", s.options.Endpoint.String(), "endpoint_is_ahead_by", ahead.Round(time.Second))
	}
	return true
}
