// SPDX-License-Identifier: Apache-2.0

package roundtripper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/evenkeel/evenkeel/dynamodoor"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/remote"
	"github.com/evenkeel/evenkeel/dynamodoor/run"
)

// Options configure the door. Behind it is an Endpoint with Credentials, or a Store.
type Options struct {
	// Endpoint is the URL of a DynamoDB, such as https://dynamodb.eu-west-1.amazonaws.com.
	Endpoint string

	// Region is the AWS region for which the door signs requests. Default: the region in the
	// endpoint's name, or us-east-1.
	Region string

	// Credentials are the caller's. Client requests have their rights, and so do the door's own
	// requests (the catalogue in table evenkeel, descriptions of tables).
	Credentials aws.CredentialsProvider

	// Base sends requests; default a transport with its own pool of connections.
	Base http.RoundTripper

	// Store replaces the endpoint by a store in this process: an engine/dynamodb Store. No other door
	// may use it.
	Store backend.Store

	// Lease is how long the door uses what it has read about tables. Other doors may have changed
	// the tables meanwhile. It must be the same for all doors on an endpoint. Default 2 seconds, as
	// in evenkeel serve.
	Lease time.Duration

	// Log receives messages for the operator; default none.
	Log *slog.Logger
}

// Validate returns an error that lists everything wrong with the options.
func (o Options) Validate() error {
	var errs []error
	switch {
	case o.Endpoint == "" && o.Store == nil:
		errs = append(errs, errors.New("neither an endpoint nor a store is given"))
	case o.Endpoint != "" && o.Store != nil:
		errs = append(errs, errors.New("an endpoint and a store are given: one of them can be behind the door"))
	case o.Endpoint != "" && o.Credentials == nil:
		errs = append(errs, errors.New("no credentials are given: take the configuration's, aws.Config.Credentials"))
	}
	if o.Lease < 0 {
		errs = append(errs, errors.New("the lease must not be negative"))
	}
	return errors.Join(errs...)
}

// RoundTripper is the door. It is an http.RoundTripper and, through Do, an HTTPClient of
// aws-sdk-go-v2. It is safe for concurrent use.
type RoundTripper struct {
	door   *dynamodoor.Door
	remote *remote.Store // nil: the store is in this process
}

// New makes the door and reads which tables are sharded.
func New(ctx context.Context, o Options) (*RoundTripper, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("a DynamoDB door's options: %w", err)
	}
	t := new(RoundTripper)
	backend := run.Options{Backend: o.Store, Fanout: 1, Log: o.Log}
	if o.Endpoint != "" {
		at, err := remote.ParseEndpoint(o.Endpoint)
		if err != nil {
			return nil, fmt.Errorf("a DynamoDB door's endpoint: %w", err)
		}
		if t.remote, err = remote.New(remote.Options{Endpoint: at, Region: o.Region, Credentials: o.Credentials, Transport: o.Base}); err != nil {
			return nil, err
		}
		if o.Lease == 0 {
			o.Lease = 2 * time.Second
		}
		backend = run.Options{Backend: t.remote, Lease: o.Lease, Log: o.Log, Rights: true}
	}
	router := run.New(backend)
	if err := router.Start(ctx); err != nil {
		t.Close()
		return nil, fmt.Errorf("a DynamoDB door: %w", err)
	}
	var err error
	if t.door, err = dynamodoor.New(dynamodoor.Options{Store: router, Region: o.Region, Forwards: t.remote != nil, Log: o.Log}); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Close closes the idle connections.
func (t *RoundTripper) Close() {
	if t.remote != nil {
		t.remote.Close()
	}
}

// Do calls RoundTrip.
func (t *RoundTripper) Do(r *http.Request) (*http.Response, error) { return t.RoundTrip(r) }

// RoundTrip answers a request to DynamoDB.
func (t *RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	inner := r
	if r.Body == nil {
		inner = r.WithContext(r.Context())
		inner.Body = http.NoBody
	} else {
		defer r.Body.Close()
		if r.ContentLength == 0 && r.Body != http.NoBody { // in a client's request, that means an unknown length
			inner = r.WithContext(r.Context())
			inner.ContentLength = -1
		}
	}
	w := &recorder{header: make(http.Header), status: http.StatusOK}
	t.door.ServeHTTP(w, inner)
	if err := r.Context().Err(); err != nil {
		return nil, err // nobody waits for the answer
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: canonical(w.header), Body: io.NopCloser(bytes.NewReader(w.body)), ContentLength: int64(len(w.body)), Request: r,
	}, nil
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) { w.status = status }

func (w *recorder) Write(p []byte) (int, error) {
	w.body = append(w.body, p...)
	return len(p), nil
}

// canonical returns a header with the names that http.Header's methods expect. The door writes some
// names as AWS does.
func canonical(h http.Header) http.Header {
	out := make(http.Header, len(h))
	for name, values := range h {
		if values != nil {
			out[http.CanonicalHeaderKey(name)] = values
		}
	}
	return out
}
