// SPDX-License-Identifier: Apache-2.0

package reshard

// Facts are what the mover knows when it asks what to do next.
type Facts struct {
	// Barrier says that every door has acknowledged the change's generation or has
	// lost its lease since it was published.
	Barrier bool

	// Vanished says that at this barrier some door had lost its lease without
	// acknowledging: what it had sent may arrive late, so that the rows are verified again.
	Vanished bool

	// Quiet says that a write which the store has taken cannot reach an old place
	// any more: its hints are over, and no reader goes by the old places. A store
	// without hints is quiet at once.
	Quiet bool
}

// Work is what the mover does next.
type Work uint8

// The kinds of work.
const (
	Wait    Work = iota // look again later
	Copy                // run Program for each row that moves, reading at ALL
	Verify              // run Program for each row that moves, of both places, reading at ALL
	Sweep               // run Program for each row that is still in an old place
	Clean               // delete what is in the old places
	Discard             // delete what is in the new places
	Publish             // publish the step that Next returns
	End                 // the change is over: take its record away
)

var works = [...]string{"wait", "copy", "verify", "sweep", "clean", "discard", "publish", "end"}

func (w Work) String() string { return works[w] }

var (
	copyRow    = []Act{LookOld, CopyNew}
	verifyRow  = []Act{LookNew, CopyOld, LookOld, DropNew, CopyNew, LookNew, DropOld}
	verifyHalf = []Act{LookOld, CopyNew} // VerifyBothWays switched off
)

// Program returns what the mover does with one row. CopyOld and CopyNew in it write
// all that was seen: writing it where it is already changes nothing.
func (w Work) Program() []Act {
	switch w {
	case Copy:
		return copyRow
	case Sweep:
		if !On(SweepLate) {
			return nil
		}
		return copyRow
	case Verify:
		if !On(VerifyBothWays) {
			return verifyHalf
		}
		return verifyRow
	}
	return nil
}

// AtAll says whether the mover reads every replica for this work. A replica that
// is down then makes it wait.
func (w Work) AtAll() bool {
	return (w == Copy || w == Verify) && On(AtAll)
}

// work is what the mover does in a step, once the doors know of the step.
func (s Step) work() Work {
	switch s {
	case Announced:
		if !On(VerifyInSwitching) {
			return Verify
		}
		return Copy
	case Switching:
		if !On(VerifyInSwitching) {
			return Sweep // which copies
		}
		return Verify
	case Settled:
		return Sweep
	case Cleaned:
		return Clean
	case Withdrawn:
		return Discard
	}
	return Publish
}

// Next says what the mover does next, and with Publish which step it publishes.
func (c Change) Next(f Facts) (Work, Step) {
	if c.Paused {
		return Wait, c.Step
	}
	if !f.Barrier && On(Barriers) {
		return Wait, c.Step
	}
	back := c.Back && c.Step.Revocable()
	needed := !c.Done
	switch {
	case back && c.Step == Announced:
		return Publish, Withdrawn
	case c.Step == Switched && (back || f.Vanished):
		return Publish, Switching
	case c.Step == Settled && !f.Quiet && On(SweepWhenQuiet):
		return Wait, c.Step
	case c.Step == Switched:
		if c.Wait {
			return Wait, c.Step
		}
		return Publish, Settled
	}
	if needed {
		return c.Step.work(), c.Step
	}
	switch c.Step {
	case None:
		return Wait, None // who starts a change publishes Announced
	case Announced:
		if !On(SwitchingBetween) {
			return Publish, Switched
		}
		return Publish, Switching
	case Switching:
		if back {
			return Publish, Announced
		}
		return Publish, Switched
	case Settled:
		return Publish, Cleaned
	}
	return End, None // cleaned, withdrawn
}
