// SPDX-License-Identifier: Apache-2.0

// Package fence counts writes, so that a cache in front of a store keeps only what no write has
// made old. The caches of both doors are built on it.
//
// A read takes a View before it asks the store. What it got may be kept if the View still Holds
// when the answer is there: no write that it depends on was under way then, and none has begun
// since. A write counts (Begin) before the store sees it, and again (End) when its outcome is
// known; after a write whose outcome is not known, or to a store whose reads may be behind its
// writes, End is told from when on reads have it.
//
// Writes are counted by what they may be to: one key (Slot), the items of a table or the table
// itself (TableEpoch), anything (Fence.All). Several keys or tables may share a count, by their
// hashes. The only harm is that what could have been kept is not.
//
// It promises that its memory does not grow, and that no method blocks but for a group's lock.
//
// It imports nothing of this module.
package fence
