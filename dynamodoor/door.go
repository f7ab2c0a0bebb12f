// SPDX-License-Identifier: Apache-2.0

package dynamodoor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/evenkeel/evenkeel/budget"
	"github.com/evenkeel/evenkeel/dynamodoor/accesskey"
	"github.com/evenkeel/evenkeel/lane"
	"github.com/evenkeel/evenkeel/observe"
)

// Store is the store behind a door: a DynamoDB, or one that behaves like it.
type Store interface {
	// Do carries out one operation, such as "PutItem", whose request has this body, and appends the
	// answer's body to dst. Its errors are those of dynamo/exception; any other error is internal.
	// It keeps neither body nor dst.
	Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error)

	// Has reports whether the store has an operation.
	Has(operation string) bool
}

// Options name the door's store and say how the door treats its clients. Store is needed; the zero
// value works for the rest.
type Options struct {
	Store Store

	// Keys are the access keys with which requests must be signed. Nil means that the door accepts
	// any signature, and that all requests are the door's own.
	Keys *accesskey.Keys

	// Forwards says that the store passes requests on to an endpoint that gives them its own ids.
	// The answers then have those ids.
	Forwards bool

	// Now returns the time with which signatures are compared. Nil means time.Now.
	Now func() time.Time

	// TLS is the configuration for clients' connections; nil: no TLS.
	TLS *tls.Config

	// Region is the region in the answer to a health check. Empty means us-east-1.
	Region string

	// MaxBody is the longest request body, in bytes. 0 means 16 MiB, DynamoDB's own limit.
	MaxBody int64

	// MaxInFlight limits the requests in work at a time. Further requests wait, and connections
	// take turns. Requests that may take long get half of it. 0 means 1,024.
	MaxInFlight int

	// Memory limits the memory of all requests together: bodies longer than 64 KiB, counted four
	// times, and the items that reads can return. If there is none left for a request, the request
	// waits; then the door refuses it with ServiceUnavailable. Nil means a budget of 512 MiB.
	Memory *budget.Budget

	// Observe measures every request that reaches the store. The zero value measures nothing.
	Observe observe.Observer

	// Log receives messages for the operator. Nil means that nothing is logged.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	if o.MaxBody == 0 {
		o.MaxBody = 16 << 20
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 1024
	}
	if o.Memory == nil {
		o.Memory = budget.New(512<<20, 0)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Validate returns an error that lists everything wrong with the options.
func (o Options) Validate() error {
	var errs []error
	if o.Store == nil {
		errs = append(errs, errors.New("no store is given"))
	}
	if o.MaxBody < 0 {
		errs = append(errs, errors.New("longest body must not be negative"))
	}
	if o.MaxInFlight < 0 {
		errs = append(errs, errors.New("requests in flight must not be negative"))
	}
	return errors.Join(errs...)
}

// Stats are counts since the door was made.
type Stats struct {
	Requests int64 // requests that reached the store
	Refused  int64 // requests that did not reach the store
	InFlight int64
	Panics   int64 // requests that failed because of a bug
}

// Door is a front door. It is an http.Handler.
type Door struct {
	options Options
	server  http.Server
	lanes   lanes
	others  *budget.Client // for requests without a connection, from inside the program

	requests, refused, inFlight, panics atomic.Int64
}

// New makes a door. It listens when Serve is called.
func New(o Options) (*Door, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("the DynamoDB door's options: %w", err)
	}
	o = o.withDefaults()
	d := &Door{options: o, lanes: newLanes(o.MaxInFlight), others: o.Memory.Client()}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	d.server = http.Server{
		Handler:           d,
		TLSConfig:         o.TLS,
		Protocols:         &protocols,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      answerWithin,    // from the beginning of the request: a client that takes no answer does not keep the connection
		IdleTimeout:       5 * time.Minute, // longer than SDKs keep a connection
		MaxHeaderBytes:    64 << 10,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return budget.WithClient(lane.With(ctx, new(lane.Client)), o.Memory.Client())
		},
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return d, nil
}

// Serve answers on ln until Shutdown, and then returns nil.
func (d *Door) Serve(ln net.Listener) error {
	var err error
	if d.options.TLS != nil {
		err = d.server.ServeTLS(ln, "", "")
	} else {
		err = d.server.Serve(ln)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve DynamoDB: %w", err)
}

// Shutdown stops accepting requests and waits for those in flight until ctx ends. Then it cuts them
// off.
func (d *Door) Shutdown(ctx context.Context) error {
	err := d.server.Shutdown(ctx)
	if err == nil {
		return nil
	}
	n := d.inFlight.Load()
	return errors.Join(fmt.Errorf("%d DynamoDB requests in flight are cut off: %w", n, err), d.server.Close())
}

// Stats returns the counts.
func (d *Door) Stats() Stats {
	return Stats{Requests: d.requests.Load(), Refused: d.refused.Load(), InFlight: d.inFlight.Load(), Panics: d.panics.Load()}
}
