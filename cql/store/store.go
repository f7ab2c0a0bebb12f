// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// A Store is what the door fronts: a real cluster (package cqldoor/cluster) or the engine in this
// process (package engine). It gets the body of a frame and returns the body of a frame.
//
// A Store is safe for concurrent use.
type Store interface {
	// Authenticator returns the class that the store announces in AUTHENTICATE, or "" if it wants
	// no credentials.
	Authenticator(ctx context.Context) (string, error)

	// Open makes a link. Wrong credentials, an unknown keyspace and an unsupported version are
	// returned as the store's *wire.Error.
	Open(ctx context.Context, o LinkOptions) (Link, error)

	// Events calls f with the body of each EVENT the store sends, until ctx is
	// done. Calls do not overlap. f(nil) says that events may have been missed.
	Events(ctx context.Context, f func(body []byte)) error

	// Close ends every link and waits for the goroutines that it started.
	Close() error
}

// LinkOptions identify the owner of a link and its protocol. Links with equal options share
// connections.
type LinkOptions struct {
	Version  wire.Version
	Keyspace string // current keyspace, "" for none
	Username string // "" if the store wants no credentials
	Password string
	Own      bool   // the door's own account; Username and Password are then empty
	Fresh    bool   // authenticate on a new connection even if one is pooled
	Startup  string // semantic STARTUP options other than compression, canonically encoded
}

// A Link sends requests as one identity, with one current keyspace.
//
// Send queues req and returns at once; req.Body may be reused when it returns. The store calls
// reply exactly once, from one of its goroutines. reply must not block, and the response's body
// is valid only during the call. If a request cannot be sent or loses its connection, the store
// always answers with an ERROR message (Overloaded, Unavailable or a timeout, as drivers expect).
//
// ctx is done when nobody waits for the response any more. The store then does not begin a
// request that is still waiting, and ends a read that is under way. It finishes a write that it
// has begun. It answers such a request with an ERROR. Send does not wait for ctx.
//
// A Link is safe for concurrent use, and serves requests in flight after Close.
type Link interface {
	Send(ctx context.Context, req wire.Message, reply func(resp wire.Message))
	Close()
}
