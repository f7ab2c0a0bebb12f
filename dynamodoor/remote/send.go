// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/dynamodoor/requestid"
)

const contentType = "application/x-amz-json-1.0"

// pauses are the waits before a request is sent again to an endpoint that did not listen. They are
// about as long as an endpoint takes to restart, and no longer than a client waits.
var pauses = []time.Duration{25 * time.Millisecond, 100 * time.Millisecond}

// send sends a request and appends the answer's body to dst.
func (s *Store) send(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	corrected := false
	for attempt := 0; ; attempt++ {
		ahead := time.Duration(s.ahead.Load())
		r, err := s.request(within, operation, body, ahead)
		switch {
		case err != nil && ctx.Err() != nil:
			return dst, ctx.Err()
		case err != nil:
			return dst, err
		}
		answer, err := s.client.RoundTrip(r)
		if err == nil {
			start := len(dst)
			if dst, err = s.read(ctx, answer, dst); err == nil || corrected || !s.correctClock(err, ahead, answer.Header.Get("Date")) {
				return dst, s.explain(ctx, err)
			}
			corrected = true // the endpoint has refused the signature, so it carried nothing out
			dst = dst[:start]
			continue
		}
		if !unsent(err) || attempt == len(pauses) {
			return dst, s.failed(ctx, within, err)
		}
		select {
		case <-time.After(pauses[attempt]):
		case <-within.Done():
			return dst, s.failed(ctx, within, err)
		}
	}
}

// unsent reports whether a request certainly was not sent, because there was no connection. (If a
// kept connection turns out to be closed before a byte was written, http.Transport takes another by
// itself.)
func unsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// unsecured reports whether a request was not sent because there is no TLS with the endpoint, or
// none that can be trusted.
func unsecured(err error) bool {
	var untrusted *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	return errors.As(err, &untrusted) || errors.As(err, &plain) || strings.Contains(err.Error(), "TLS handshake timeout") ||
		strings.Contains(err.Error(), "HTTP response to HTTPS client")
}

// request returns the signed request. ahead is how far the endpoint's clock is ahead of this
// machine's.
func (s *Store) request(ctx context.Context, operation string, body []byte, ahead time.Duration) (*http.Request, error) {
	credentials, err := s.credentials(ctx)
	if err != nil {
		return nil, err
	}
	target := api.Target(operation)
	to := *s.options.Endpoint.URL // a copy, because the signer writes to it
	if strings.HasPrefix(target, "DynamoDBStreams_") {
		to = *s.options.Endpoint.Streams
	}
	r := (&http.Request{
		Method: http.MethodPost, URL: &to, Host: to.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Content-Type":    {contentType},
			"X-Amz-Target":    {target},
			"Accept-Encoding": {"identity"},
			"User-Agent":      {"evenkeel"},
		},
		Body:          io.NopCloser(bytes.NewReader(body)),
		GetBody:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
		ContentLength: int64(len(body)),
	}).WithContext(ctx)
	sum := sha256.Sum256(body)
	if err := s.signer.SignHTTP(ctx, credentials, r, hex.EncodeToString(sum[:]), "dynamodb", s.options.Region, s.options.Now().Add(ahead)); err != nil {
		return nil, fmt.Errorf("sign a request to %s: %w", s.options.Endpoint, err)
	}
	return r, nil
}

// credentials returns the credentials of the principal that makes the request. Its errors for the
// client are worded as AWS's.
func (s *Store) credentials(ctx context.Context) (aws.Credentials, error) {
	p := principal.Of(ctx)
	provider := s.options.Credentials
	if p != (principal.Principal{}) && s.options.Of != nil {
		if provider = s.options.Of(p); provider == nil {
			return aws.Credentials{}, exception.New(exception.UnrecognizedClient, "The security token included in the request is invalid.")
		}
	}
	c, err := provider.Retrieve(ctx)
	if err != nil {
		return c, s.withoutCredentials(p, err)
	}
	return c, nil
}

// read appends an answer's body to dst, or returns the error in the answer.
func (s *Store) read(ctx context.Context, answer *http.Response, dst []byte) ([]byte, error) {
	defer answer.Body.Close()
	requestid.Set(ctx, answer.Header.Get("X-Amzn-Requestid"))
	start := len(dst)
	if answer.ContentLength > MaxAnswer {
		return dst, s.tooLong()
	}
	if n := answer.ContentLength; n > 0 && n <= keptBytes {
		dst = slices.Grow(dst, int(n)+1)
	}
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)] // allocate only as bytes arrive, whatever the header announces
		}
		n, err := answer.Body.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if len(dst)-start > MaxAnswer {
			return dst[:start], s.tooLong()
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return dst[:start], s.lost(err)
		}
	}
	body := dst[start:]
	if crc := answer.Header.Get("X-Amz-Crc32"); crc != "" && crc != strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10) {
		return dst[:start], exception.New(exception.InternalServerError, "the answer of endpoint %s is not the one that it sent: its x-amz-crc32 differs", s.options.Endpoint)
	}
	if answer.StatusCode == http.StatusOK {
		return dst, nil
	}
	e, ok := exception.Decode(answer.StatusCode, body)
	if !ok && answer.StatusCode != http.StatusRequestEntityTooLarge {
		e = exception.Unforeseen(answer.StatusCode, body)
	}
	return dst[:start], e
}

func (s *Store) tooLong() error {
	return exception.New(exception.InternalServerError, "the answer of endpoint %s is longer than %d MB", s.options.Endpoint, MaxAnswer>>20)
}

// failed returns the error for a request without an answer.
func (s *Store) failed(ctx, within context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		return exception.New(exception.InternalServerError, "endpoint %s did not answer within %v; whether the request was carried out is not known", s.options.Endpoint, s.options.Timeout)
	case unsent(err), unsecured(err):
		return exception.New(exception.ServiceUnavailable, "endpoint %s cannot be reached: %v", s.options.Endpoint, err)
	}
	return s.lost(err)
}

func (s *Store) lost(err error) error {
	return exception.New(exception.InternalServerError, "the connection to endpoint %s was lost before it answered, and whether the request was carried out is not known: %v",
		s.options.Endpoint, err)
}
