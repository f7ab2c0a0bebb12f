// SPDX-License-Identifier: Apache-2.0

package read

import (
	"errors"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// If the store throttles some shards of a read, the door asks those shards again. A throttled request has
// read nothing. A client could only repeat the whole read, and would pay again for the shards that had
// answered. If the store throttles a request for a group of shards, the door then asks each shard alone.
// If it asked for the group again, the store would read the first shards of the group each time. These
// could use up the capacity that they share with the others.
//
// The door does not repeat writes or requests to a single shard. The client gets those errors and
// decides whether to repeat.

// The door waits before it repeats a read: at most firstWait before the first repetition, at most twice as
// long before each further one, and never longer than LongestWait.
const (
	firstWait   = 20 * time.Millisecond
	LongestWait = 500 * time.Millisecond
)

// DefaultRetryFor is the default of run.Options.RetryFor. It ends before drivers give up. The Java
// driver gives up first, after 2 s. The door should not ask for a client that has already repeated its
// request elsewhere.
const DefaultRetryFor = 1500 * time.Millisecond

// throttled reports whether an error will probably pass soon. If a read is over a limit of Amazon
// Keyspaces, the error is a read timeout without any response. A real timeout comes after
// read_request_timeout, which is 5 s by default. By then the door no longer repeats, unless that time is
// set below DefaultRetryFor. Cassandra's own error for a throttled read is Overloaded. The door returns
// the same error for a read whose connection was lost.
func throttled(err error) bool {
	var e *wire.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code == wire.CodeReadTimeout && e.Received == 0 || e.Code == wire.CodeOverloaded
}

// ask is a request to the store that is in flight.
type ask struct {
	pieces []fetch       // what the request reads, and then what to read after it
	wait   time.Duration // longest wait before this attempt; 0: this is the first attempt
}

// split returns the requests that replace a throttled request: one for each shard.
func (a *ask) split() []ask {
	first := a.pieces[0].split()
	all := make([]ask, len(first))
	for i := range all {
		all[i].wait = min(max(2*a.wait, firstWait), LongestWait)
	}
	for i := range a.pieces {
		for j, piece := range a.pieces[i].split() {
			all[j].pieces = append(all[j].pieces, piece)
		}
	}
	return all
}

// later makes the inbox report after a while that a request is due. It returns false if the door may no
// longer repeat requests then.
func (x *fetcher) later(a *ask, in *inbox, tag int) bool {
	wait := a.wait/2 + time.Duration(x.reads.IntN(int(a.wait/2))) // requests that were refused together are due at different times
	if time.Now().Add(wait).After(x.patience) {
		return false
	}
	if fan := x.fan(); fan != nil {
		fan.Retries.Add(1)
	}
	in.remind(tag, wait)
	return true
}
