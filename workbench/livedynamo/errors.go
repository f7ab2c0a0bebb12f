// SPDX-License-Identifier: Apache-2.0

package livedynamo

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/evenkeel/evenkeel/workbench/livetable"
)

// explain turns the SDK's error into an error that names its cause.
func (a Address) explain(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &livetable.Error{At: "table " + a.Table, Err: err}
	var (
		api     smithy.APIError
		dns     *net.DNSError
		missing *types.ResourceNotFoundException
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
	)
	text := err.Error()
	switch {
	case errors.As(err, &missing):
		return livetable.Dropped(e.At)
	case errors.As(err, &api):
		e.Err = fmt.Errorf("%s: %s", api.ErrorCode(), api.ErrorMessage())
		switch code := api.ErrorCode(); {
		case strings.Contains(code, "AccessDenied") || strings.Contains(code, "NotAuthorized"):
			e.Hint = "what it takes are dynamodb:DescribeTable and dynamodb:Scan on the table"
		case strings.Contains(code, "Token") || strings.Contains(code, "Signature") || strings.Contains(code, "UnrecognizedClient") || strings.Contains(code, "MissingAuthentication"):
			e.Hint = "are the credentials those of this account and region? aws sts get-caller-identity says whose they are"
		case strings.Contains(code, "Throttl") || strings.Contains(code, "ThroughputExceeded") || strings.Contains(code, "RequestLimit"):
			e.Hint = "a lower --rate leaves it more room"
		}
	case strings.Contains(text, "get credentials") || strings.Contains(text, "failed to refresh cached credentials") || strings.Contains(text, "no EC2 IMDS role"):
		e.At, e.Err, e.Hint = "AWS in "+a.Region, errors.New("there are no credentials"), "AWS_PROFILE names one of ~/.aws, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY give them; aws sts get-caller-identity says whether they work"
	case errors.As(err, &dns):
		e.At, e.Err, e.Hint = a.Host(), errors.New("no machine has that name"), "check the host in the address"
	case errors.As(err, &unknown) || errors.As(err, &host) || strings.Contains(text, "x509:"):
		e.At, e.Hint = a.Host(), "its certificate is not one that this machine trusts; SSL_CERT_FILE names a file with more authorities"
	case strings.Contains(text, "connection refused"):
		e.At, e.Err, e.Hint = a.Host(), errors.New("nothing listens there"), "is the store running, and is this its port (8000 mostly)?"
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		e.At, e.Err, e.Hint = a.Host(), errors.New("does not speak TLS"), "over plain HTTP it is dynamodb://"+a.Host()+"/"+a.Table
	case strings.Contains(text, "malformed HTTP response") || strings.Contains(text, "deserialization failed") || strings.Contains(text, "failed to decode"):
		e.At, e.Err, e.Hint = a.Host(), errors.New("what listens there is no DynamoDB"), "is this the port of the DynamoDB API (8000 mostly)? Over TLS it is dynamodb+https://…"
	default:
		e.At, e.Err, e.Hint = a.Host(), fmt.Errorf("%w: %s", livetable.ErrLost, livetable.Brief(text, 200)), "the same command goes on where this one stopped"
	}
	return e
}
