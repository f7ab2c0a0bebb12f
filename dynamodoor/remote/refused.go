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

// An endpoint's errors about a signature concern the door's signature and not the client's, which
// the client cannot know. So the door says that in the error.

// explain converts an endpoint's error for the client in ctx.
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

// of names the owner of credentials.
func of(p principal.Principal) string {
	if p == (principal.Principal{}) {
		return "its requests"
	}
	return "access key " + p.ID
}

// withoutCredentials returns the error for a client for which the door has no credentials. SDKs
// retry after that error, unless the issuer of credentials has refused them.
func (s *Store) withoutCredentials(p principal.Principal, err error) error {
	kind := exception.ServiceUnavailable
	var refused smithy.APIError
	var status interface{ HTTPStatusCode() int }
	fault := errors.As(err, &status) && status.HTTPStatusCode() >= 500
	if errors.As(err, &refused) && refused.ErrorFault() != smithy.FaultServer && !fault && !strings.Contains(refused.ErrorCode(), "Throttl") {
		kind = exception.AccessDenied
	}
	what := strings.TrimPrefix(err.Error(), "failed to refresh cached credentials, ") // prefix of the SDK's credentials cache
	return exception.New(kind, "the door has no credentials for %s at endpoint %s: %s", of(p), s.options.Endpoint, what)
}

// leastSkew is the smallest difference of clocks that is corrected. With a smaller one, the
// endpoint refuses a request for another reason.
const leastSkew = time.Minute

// correctClock uses the endpoint's clock for signatures if the endpoint's error is about the time
// of a signature. It reports whether that can help. date is the answer's.
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
	if (ahead - time.Duration(s.ahead.Swap(int64(ahead)))).Abs() >= leastSkew { // otherwise another request has noticed it
		s.options.Log.Warn("the clock of this machine is not the DynamoDB endpoint's: requests are signed with the endpoint's time; set this machine's clock",
			"endpoint", s.options.Endpoint.String(), "endpoint_is_ahead_by", ahead.Round(time.Second))
	}
	return true
}
