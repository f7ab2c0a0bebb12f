// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// A Forwarder is a Link with a way that neither allocates nor wakes a goroutine
// per request. A caller that has several requests at hand (all the frames of one
// read, all the statements of a fan-out) calls Forward for each and Flush once.
//
// Forward queues req, whose Body may be reused when it returns; nothing is sent
// for certain until Flush. to.Receive(tag, …) is called exactly once for each
// Forward, perhaps before it returns, with the promises of Link.Send's reply. ctx is
// that of Link.Send.
type Forwarder interface {
	Link
	Forward(ctx context.Context, req wire.Message, to Receiver, tag uint32)
	Flush()
}

// A Receiver takes the responses to forwarded requests. Its methods do not block.
type Receiver interface {
	// Receive takes the response to the request that had tag. The body is valid
	// only during the call.
	Receive(tag uint32, resp wire.Message)

	// Flush follows one or more calls of Receive from the same goroutine when no
	// further response is at hand: now is the time to write what they left.
	Flush()
}

// A Pacer is a Link whose requests can be held back. While the client leaves too much
// of its answers unread, the store begins none of its requests that wait their turn.
type Pacer interface {
	// Pace says whether requests may begin. Before it is called they may.
	Pace(begin bool)
}

// Versioned is implemented by a Store that may not speak every version of the
// native protocol that the door does.
type Versioned interface {
	// MaxVersion is the newest version that Open accepts.
	MaxVersion(ctx context.Context) (wire.Version, error)
}
