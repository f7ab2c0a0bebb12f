// SPDX-License-Identifier: Apache-2.0

// Package cachefence counts writes, so that a cache in front of a store keeps only data that no write
// has made old. The caches of both doors use it.
//
// A read takes a View before it asks the store. Its answer may be kept if the View still Holds
// when the answer has arrived: no write that concerns it was under way at the View, and none has
// begun since. A write calls Begin before the store sees it, and End when its outcome is known.
// If the outcome is not known, or if the store's reads may lag behind its writes, End gets the
// time from which reads include the write.
//
// A write is counted by what it may change: one key (Slot), the items of a table or the table
// itself (TableEpoch), or anything (Fence.All). Keys or tables with equal hashes share a count.
// Then the cache keeps less than it could, but nothing wrong.
//
// The package promises that its memory does not grow, and that no method blocks except on a
// group's lock.
//
// It imports nothing of this module.
package cachefence
