// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// A Forwarder is a Link that can send requests without an allocation or a woken goroutine for
// each. A caller with several requests (all frames of one read, all statements of a fan-out)
// calls Forward for each and Flush once.
//
// Forward queues req. Its Body may be reused when Forward returns. The request is certain to be
// sent only after Flush. to.Receive(tag, …) is called exactly once for each Forward, perhaps
// before Forward returns, with the promises of Link.Send's reply. ctx is that of Link.Send.
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

	// Flush follows one or more calls of Receive from the same goroutine, when no further
	// response is available. The receiver should then write what it has.
	Flush()
}

// A Pacer is a Link whose requests can be held back. While the client leaves too many answers
// unread, the store begins none of its waiting requests.
type Pacer interface {
	// Pace says whether requests may begin. Before the first call they may.
	Pace(begin bool)
}

// Versioned is implemented by a Store that may not speak every version of the
// native protocol that the door does.
type Versioned interface {
	// MaxVersion is the newest version that Open accepts.
	MaxVersion(ctx context.Context) (wire.Version, error)
}
