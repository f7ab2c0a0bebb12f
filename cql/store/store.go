// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// A Store is what the door fronts: a real cluster (package cqldoor/cluster) or
// the engine in this process (package engine). Frame body in, frame body out.
//
// A Store is safe for concurrent use.
type Store interface {
	// Authenticator is the class that the store announces in AUTHENTICATE, ""
	// when it wants no credentials.
	Authenticator(ctx context.Context) (string, error)

	// Open makes a link. Wrong credentials, an unknown keyspace and an
	// unsupported version are *wire.Error, as the store said it.
	Open(ctx context.Context, o LinkOptions) (Link, error)

	// Events calls f with the body of each EVENT the store sends, until ctx is
	// done. Calls do not overlap. f(nil) says that events may have been missed.
	Events(ctx context.Context, f func(body []byte)) error

	// Close ends every link and waits for what it started.
	Close() error
}

// LinkOptions is whose link it is and how it speaks. Links with equal options
// share connections.
type LinkOptions struct {
	Version  wire.Version
	Keyspace string // current keyspace, "" for none
	Username string // "" when the store wants no credentials
	Password string
	Own      bool   // the door's own account; Username and Password are then empty
	Fresh    bool   // authenticate by a new connection even where one is pooled
	Startup  string // semantic STARTUP options other than compression, canonically encoded
}

// A Link is a way to send requests as one identity, with one current keyspace.
//
// Send queues req and returns at once; req.Body may be reused when it returns.
// reply is called exactly once, from a goroutine of the store, and must not
// block; the response's body is valid only during the call. A request that
// could not be sent or lost its connection is answered by an ERROR message
// (Overloaded, Unavailable or a timeout as drivers expect), never by silence.
//
// ctx is done when nobody waits for the response any more. The store then does not
// begin a request that waits its turn, and ends a read that is under way; it
// finishes a write that it has begun. Such a request is answered by an ERROR all
// the same. Send does not wait for ctx.
//
// A Link is safe for concurrent use, and serves in-flight requests after Close.
type Link interface {
	Send(ctx context.Context, req wire.Message, reply func(resp wire.Message))
	Close()
}
