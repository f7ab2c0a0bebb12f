// SPDX-License-Identifier: Apache-2.0

// Package reshard defines the protocol by which a DynamoDB table gets another layout while it is in
// use: the steps of a change, what a door does in each step with a request on an item, what the
// mover does, and what a Scan shows. It is a state machine of values: it does no I/O and reads no
// clock. Doors and the mover carry out its acts.
//
// # Words
//
// An item that moves has an old place and a new place: the partitions of the physical table into
// which the old and the new layout put its key. An item whose places are equal does not move, and
// the protocol does not concern it. No place is used twice, not even by a later change to any
// number of shards.
//
// An item is in one place. A stub at its old place says that the item has moved to the new one. A stub
// has the item's key, the keys of its entries in indexes, and a mark, nothing else. The mark also says
// whether an item was there. A door in step moving may have put a new item straight to its new place.
// A door in step stubbing may then put a stub to the old place, where no item was. Readers have always
// seen that item at its new place, and the mark keeps it so.
//
// # Indexes
//
// In an index, entries with equal keys are in the order of their items' places. If a move removed the
// entry and made another one, a read page by page could pass the new place before the move, and the
// old place after it. So the stub keeps the entry, and a read that began before the change was
// settled shows the item there, once, as long as its key in the index does not change (Shows). An
// index may be behind the table: a read looks at the item's places, the old one first, and these
// decide.
//
// A step is published when it is in the catalogue. A barrier has passed when no door uses an
// earlier step any more: each door has learned of the step, or its lease has ended, so that its
// answers do not count.
//
// # Steps
//
//	step      reads          writes                                       the mover, after the barrier
//	none      old            old                                          –
//	looking   old, then new  old, if no stub is there; else new           –
//	stubbing  old, then new  leave a stub in old, then new                –
//	moving    old, then new  move what old has, then new                  moves all items
//	closing   new, after moving what old has; writes as before            moves late items, verifies
//	settled   new            new                                          –
//	cleaning  new            new                                          deletes the stubs, ends the change
//
// Step looking makes sure that every door knows stubs before there is one. Step stubbing makes sure
// that no door writes to an old place any more when new items go straight to the new place. Step
// closing makes sure that no door shows an item from an old place that later reads do not look at.
//
// A write may come late from a door whose lease has ended. It may then leave an item at an old place
// while the new place has one: the new place wins. The late write was never acknowledged.
//
// # The way back
//
// In step looking there are no stubs, and the mover takes the change back by publishing step none.
// It cannot take back later steps: a door that stalls may still move an item and leave a stub when
// no door looks for stubs any more. Such a change continues to its end, and another change follows,
// again to new places.
//
// # Two tables
//
// The old and the new place of an item may be in two physical tables. In step cleaning the mover
// then deletes the whole first table, and late requests find no table.
//
// # Buckets of time
//
// A layout with buckets of time has a directory of the buckets that each key has. Who puts an item to a
// place, by a write or by a move, adds the place's bucket before. Acts name places only. So the protocol is
// the same, and a reader that asks the directory which places to read, and then reads them, reads all
// places that had an item when it asked. If an item moves after that, its old place is one of them, and has
// a stub.
//
// # Rollover
//
// An item's place under strategy rollover depends on the shards that its partition key has. A change needs
// places that stay the same. So the key's shards stay as they are from its first use during the change on.
// (Package dynamodoor/items sees to that, by conditional writes of the directory.) The protocol is the same.
//
// # Rules
//
// Each rule of rule.go is needed: if one is switched off, the exploration in explore_test.go finds
// an item that is lost, comes back, or is shown twice.
//
// # Streams
//
// A stream that has both images of each change does not show moves. A reader leaves out a change if
// one of its images is a stub, and the insertion of an item with the mark of a move. The mover
// deletes only stubs. If a late write has put an item to an old place, the mover first makes it a
// stub. So the stream does not show its deletion as the deletion of the item.
//
// # What is not explored
//
// Streams. A late write at an old place that has no stub, because its item was new, is in the stream,
// although it is nowhere in the table. It was never acknowledged.
//
// Indexes that are behind their table. Reads page by page with two writes or more, while a write of
// a door whose lease has ended arrives late.
package reshard
