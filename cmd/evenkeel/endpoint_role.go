// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/smithy-go"

	"github.com/evenkeel/evenkeel/dynamodoor/accesskey"
)

// role provides the credentials of a role that the door assumes for an access key. It renews them
// shortly before they expire. If renewal fails, it uses the old ones until they expire.
type role struct {
	arn     string
	assume  *stscreds.AssumeRoleProvider
	expires atomic.Int64 // expiry of the last credentials, in nanoseconds since 1970
}

const (
	renewBefore = time.Minute      // how long before expiry new credentials are requested
	renewAgain  = 10 * time.Second // how long after a failed renewal the next attempt comes
)

// assumeRole returns the credentials of a role for an access key. The sessions of the role, also
// in CloudTrail, are named after the key.
func assumeRole(client stscreds.AssumeRoleAPIClient, arn, id string) *aws.CredentialsCache {
	r := &role{arn: arn}
	r.assume = stscreds.NewAssumeRoleProvider(client, arn, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = sessionName(id)
	})
	return aws.NewCredentialsCache(r, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = renewBefore })
}

// sessionName turns an id into a session name that STS accepts: 2 to 64 characters of its set.
func sessionName(id string) string {
	name := "evenkeel-" + strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_=,.@-", c) {
			return c
		}
		return '_'
	}, id)
	return name[:min(len(name), 64)]
}

// Retrieve implements aws.CredentialsProvider.
func (r *role) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := r.assume.Retrieve(ctx)
	if err != nil {
		return c, fmt.Errorf("assume role %s: %w", r.arn, plainly(err))
	}
	r.expires.Store(c.Expires.UnixNano())
	return c, nil
}

// HandleFailToRefresh returns the last credentials until they expire.
func (r *role) HandleFailToRefresh(_ context.Context, last aws.Credentials, err error) (aws.Credentials, error) {
	left := time.Until(time.Unix(0, r.expires.Load()))
	if !last.HasKeys() || left <= 0 {
		return aws.Credentials{}, err
	}
	last.Expires = time.Now().Add(min(left, renewAgain) + renewBefore) // the cache subtracts renewBefore again
	return last, nil
}

// refusedByAWS is an AWS service's error without the SDK's description of the request.
type refusedByAWS struct{ smithy.APIError }

func (e refusedByAWS) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }
func (e refusedByAWS) Unwrap() error { return e.APIError }

// plainly returns the service's own error that an SDK error contains. If no service answered, it
// returns the reason.
func plainly(err error) error {
	var unsent *url.Error
	if errors.As(err, &unsent) {
		return fmt.Errorf("STS at %s cannot be reached: %w", strings.TrimSuffix(unsent.URL, "/"), unsent.Err)
	}
	var said smithy.APIError
	var status interface{ HTTPStatusCode() int }
	if !errors.As(err, &said) || errors.As(err, &status) && status.HTTPStatusCode() >= 500 {
		return err
	}
	return refusedByAWS{said}
}

// hintAbout returns a hint for an access key whose credentials could not be loaded.
func hintAbout(key accesskey.Key, err error) string {
	var refused refusedByAWS
	switch {
	case key.Profile != "":
		return "check profile " + key.Profile + " in ~/.aws/config and ~/.aws/credentials"
	case key.Role == "":
		return "check the door's own credentials"
	case errors.As(err, &refused):
		return "check the role's ARN; its trust policy must allow the door's own credentials (--dynamodb-profile NAME chooses them) to assume it"
	}
	return "roles are assumed at STS of the endpoint's region; AWS_ENDPOINT_URL_STS=URL names another"
}
