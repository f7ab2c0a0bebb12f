// SPDX-License-Identifier: Apache-2.0

// Package reshard is the protocol by which a DynamoDB table gets another layout while
// it is in use: which steps a change has, what a door does in each with a request on an
// item, what the mover does, and what a Scan shows. It is a state machine of values: it
// does no I/O and reads no clock. Doors and the mover carry out what it says.
//
// # Words
//
// An item that moves has an old place and a new place: the partitions of the physical
// table that the old and the new layout put its key in. An item whose places are the same
// does not move, and nothing here is about it. A place is never used twice: not by a change
// that follows, whatever number of shards it gives.
//
// An item is in one place. A stub in its old place tells that it has gone to the new one:
// it has the item's key and a mark, nothing else.
//
// A step is published when it is in the catalogue. A barrier is passed when no door goes
// by an earlier step any more: each has learnt of the step, or its lease is over, so that
// what it answers does not count.
//
// # Steps
//
//	step      reads          writes                                       the mover, after the barrier
//	none      old            old                                          –
//	looking   old, then new  old, if no stub is there; else new           –
//	stubbing  old, then new  leave a stub in old, then new                –
//	moving    old, then new  move what old has, then new                  moves all items
//	closing   new, after moving what old has; writes as before            moves what came late, verifies
//	settled   new            new                                          –
//	cleaning  new            new                                          deletes the stubs, ends the change
//
// looking is there so that every door knows what a stub is before there is one; stubbing,
// so that nobody writes to an old place any more when items that are new go straight to the
// new one; closing, so that nothing is seen in an old place which is not looked at later.
//
// What is left of a write that comes late, from a door whose lease was over, may lie in an
// old place while the new one has an item: the new one wins. The late write was never
// acknowledged.
//
// # The way back
//
// In looking there are no stubs, and a change is taken back by publishing none. Later it is
// not: a door that stalls may still move the item, and leave a stub, when nobody looks for
// stubs any more. Such a change goes on to its end, and another follows it, to places that
// are new again.
//
// # Rules
//
// Each rule of rule.go is needed: with one switched off, the exploration in
// explore_test.go finds an item that is lost, comes back, or is shown twice.
package reshard
