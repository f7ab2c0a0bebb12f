// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"fmt"
	"time"
)

// Change is the catalogue's record of a change under way. It is a value: its methods return a new
// one.
type Change struct {
	Step       Step
	Generation int64 // rises with every publication
	Back       bool  // the change is being rolled back
	Paused     bool  // the mover does nothing until it is resumed
	Done       bool  // the mover's work of this step is done
	Hurry      bool  // do not wait for the store's hints to end

	// Started is the store's clock at the announcement, in microseconds. Skew is how far a clock that
	// stamps writes may be ahead of it.
	Started int64
	Skew    int64

	// Owner is the door that runs the mover. Counter is how many times the change has been taken
	// over. Every write of the mover to the catalogue has both in its condition. So a mover cannot
	// change the catalogue after another one has taken the change over.
	Owner   [16]byte
	Counter int64
}

// Past says whether a write with this timestamp may be older than a deletion made before the
// change. Such writes follow Duty.Past.
func (c Change) Past(stamp int64) bool { return stamp <= c.Started+c.Skew }

// Known returns a timestamp in microseconds. By then every door knows the change, and has ended the requests that
// it began before it knew. lease is how long a door may go on without news of the catalogue. Known adds half of
// it, for the drift of clocks. requests is how long the publication and such a request take at most.
func (c Change) Known(lease, requests time.Duration) int64 {
	return c.Started + c.Skew + (lease + lease/2 + requests).Microseconds()
}

// Publish returns the change with step next published.
func (c Change) Publish(next Step) (Change, error) {
	if !c.Step.MayFollow(next) {
		return c, fmt.Errorf("a change of layout cannot go from %s to %s", c.Step, next)
	}
	c.Step, c.Done = next, false
	c.Generation++
	return c, nil
}

// TakeBack returns the change with its direction reversed.
func (c Change) TakeBack() (Change, error) {
	if !c.Step.Revocable() {
		return c, fmt.Errorf("the change is %s and cannot be taken back; it goes on by itself, and another change can follow it", c.Step)
	}
	c.Back, c.Paused = true, false
	return c, nil
}

// TakeOver returns the change with another owner. Work that was not recorded as done starts
// again. That is harmless, because each act can be repeated.
func (c Change) TakeOver(owner [16]byte) Change {
	c.Owner = owner
	c.Counter++
	return c
}
