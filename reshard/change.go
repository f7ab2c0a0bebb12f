// SPDX-License-Identifier: Apache-2.0

package reshard

import "fmt"

// Change is what the catalogue says of a change that is under way. It is a value:
// the methods return another one.
type Change struct {
	Step       Step
	Generation int64 // rises with every publication
	Back       bool  // the change is being taken back
	Paused     bool  // the mover does nothing until it is told to resume
	Wait       bool  // stay in switched until told to finish
	Done       bool  // the mover's work of this step is done
	Hurry      bool  // do not wait until the store's hints are over

	// Started is the door's clock at the announcement, in microseconds, raised to
	// the store's. Skew is by how much a clock of the fleet may be ahead of it.
	Started int64
	Skew    int64

	// Owner is the door that runs the mover; it has taken the change over for the
	// Counter-th time. Every write of the mover to the catalogue has both in its
	// condition, so that a mover that was taken for dead changes nothing there.
	Owner   [16]byte
	Counter int64
}

// Past says whether a write with this timestamp may be older than something that
// was deleted before the change. Such data goes by Duty.Past.
func (c Change) Past(stamp int64) bool { return stamp <= c.Started+c.Skew }

// Publish returns the change with step next published.
func (c Change) Publish(next Step) (Change, error) {
	if !c.Step.MayFollow(next) {
		return c, fmt.Errorf("a change of layout cannot go from %s to %s", c.Step, next)
	}
	c.Step, c.Done = next, false
	c.Generation++
	return c, nil
}

// TakeBack returns the change on its way back.
func (c Change) TakeBack() (Change, error) {
	if !c.Step.Revocable() {
		return c, fmt.Errorf("the change is %s and cannot be taken back; it goes on by itself, and another change can follow it", c.Step)
	}
	c.Back, c.Wait, c.Paused = true, false, false
	return c, nil
}

// TakeOver returns the change with another owner. Work that was not recorded as
// done begins anew, which is harmless: each act can be done twice.
func (c Change) TakeOver(owner [16]byte) Change {
	c.Owner = owner
	c.Counter++
	return c
}
