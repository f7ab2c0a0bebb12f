// SPDX-License-Identifier: Apache-2.0

package reshard

// Facts are what the mover knows when it asks what to do next.
type Facts struct {
	// Barrier says that every door has acknowledged the change's generation or has
	// lost its lease since it was published.
	Barrier bool

	// Vanished says that, at this barrier, some door had lost its lease without acknowledging.
	// Requests that it had sent may arrive late, so the rows are verified again.
	Vanished bool

	// Quiet says that no write which the store has accepted can still reach an old place: its
	// hints have ended, and no reader uses the old places. A store without hints is quiet at
	// once.
	Quiet bool
}

// Work is a kind of work for the mover.
type Work uint8

// These are the kinds of work.
const (
	Wait    Work = iota // look again later
	Copy                // run Program for each row that moves, reading at ALL
	Verify              // run Program for each row that moves, in both places, reading at ALL
	Sweep               // run Program for each row still in an old place
	Clean               // delete everything in the old places
	Discard             // delete everything in the new places
	Publish             // publish the step that Next returns
	End                 // the change is over: remove its record
)

var works = [...]string{"wait", "copy", "verify", "sweep", "clean", "discard", "publish", "end"}

func (w Work) String() string { return works[w] }

var (
	copyRow    = []Act{LookOld, CopyNew}
	verifyRow  = []Act{LookNew, CopyOld, LookOld, DropNew, CopyNew, LookNew, DropOld}
	verifyHalf = []Act{LookOld, CopyNew} // VerifyBothWays switched off
)

// Program returns what the mover does with one row. CopyOld and CopyNew in it write everything
// that was seen. Writing cells that are there already changes nothing.
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

// AtAll says whether the mover reads every replica for this work. If a replica is down, the mover
// waits.
func (w Work) AtAll() bool {
	return (w == Copy || w == Verify) && On(AtAll)
}

// work returns the mover's work in a step, once all doors know of the step.
func (s Step) work() Work {
	switch s {
	case Announced:
		if !On(VerifyInSwitching) {
			return Verify
		}
		return Copy
	case Switching:
		if !On(VerifyInSwitching) {
			return Sweep // Sweep copies too
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

// Next returns the mover's next work and, for Publish, the step to publish.
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
		return Publish, Settled
	}
	if needed {
		return c.Step.work(), c.Step
	}
	switch c.Step {
	case None:
		return Wait, None // the door that starts a change publishes Announced itself
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
