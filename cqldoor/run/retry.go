// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// A read of several shards asks those again that the store throttles: the client
// could only repeat all of it, and would have what the other shards gave read, and
// paid for, once more. What was throttled has read nothing. A shard that is refused
// in a group is asked by itself from then on: else the first ones of the group would
// be read each time, and where they share units with the others, none would be left
// for those.
//
// Writes are not asked again, nor is what goes to one shard: those errors are the
// client's, which knows whether to repeat.

// The waits before a read is asked again: up to the first, then up to twice as long
// each time.
const (
	firstWait   = 20 * time.Millisecond
	longestWait = 500 * time.Millisecond
)

// defaultRetryFor ends before the drivers' patience does, of which the Java driver's
// is the least, 2 s: a client that has gone to ask anew is not to be asked for.
const defaultRetryFor = 1500 * time.Millisecond

// throttled says whether an error may be over soon. Amazon Keyspaces has only
// Cassandra's errors for its limits: a read timeout without any response. (A real
// timeout comes after read_request_timeout, 5 s by default: then a read has given up
// asking, unless that is set to less than defaultRetryFor.) Overloaded is Cassandra's
// own word for the same, and the door's for a read whose connection was lost.
func throttled(err error) bool {
	var e *wire.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code == wire.CodeReadTimeout && e.Received == 0 || e.Code == wire.CodeOverloaded
}

// ask is a request to the store under way: what it reads, and what is to be read
// after it.
type ask struct {
	pieces []plan.Fetch
	wait   time.Duration // the longest before it was asked the last time; 0: it is the first
}

// split is what is asked in place of a request that was throttled.
func (a *ask) split() []ask {
	first := a.pieces[0].Split()
	all := make([]ask, len(first))
	for i := range all {
		all[i].wait = min(max(2*a.wait, firstWait), longestWait)
	}
	for i := range a.pieces {
		for j, piece := range a.pieces[i].Split() {
			all[j].pieces = append(all[j].pieces, piece)
		}
	}
	return all
}

// later has the inbox tell in a while that a request is to be sent. It is false where
// the client's patience ends before.
func (x *reader) later(a *ask, in *inbox, tag int) bool {
	wait := a.wait/2 + time.Duration(x.r.opts.IntN(int(a.wait/2))) // apart from others that were refused with it
	if time.Now().Add(wait).After(x.patience) {
		return false
	}
	if fan := x.fan(); fan != nil {
		fan.Retries.Add(1)
	}
	in.remind(tag, wait)
	return true
}
