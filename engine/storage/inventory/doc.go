// SPDX-License-Identifier: Apache-2.0

// Package inventory keeps, beside a Pebble store, a small checksummed file that
// says which of the store's files must be there and how much of them, and checks
// that before the store is opened.
//
// Pebble reads its MANIFEST up to the first record that is damaged and takes
// what it read for the whole: a store whose MANIFEST is damaged opens as an older
// or an empty one, and the tables that it does not know are deleted. A lost log
// is not missed, a lost marker makes a new store. The inventory is what Pebble's
// files are compared with first.
//
// # Promises
//
//  1. What the inventory lists is durable: it is written after the files have
//     been synced. A crash at any moment, of the process or of the machine,
//     leaves a directory that Open accepts.
//  2. No file that the written inventory lists is removed or renamed: the
//     inventory is written without it first.
//  3. A log is listed before the first write into it is acknowledged.
//  4. Open changes nothing in a directory that it refuses. Its error is
//     ErrForeign, ErrNewer, or ErrCorrupt, names the file, and says the way out.
//  5. Nothing is added to a write or to its sync but a counter. The inventory is
//     written when a log begins or goes, when the MANIFEST is written anew, by
//     Note, and by Seal.
//
// # What is listed
//
//	MANIFEST  how long it was, and the checksum of that
//	OPTIONS   the same
//	logs      how long they were; their chunks have checksums of their own
//	markers   how far they were moved, and to what
//
// After Seal, which follows a clean close, files must have exactly the length that
// is listed. Before, they may have more: what was written after the inventory.
//
// Tables are not listed. The MANIFEST says which must be there and how long they
// are, Pebble checks that when it opens, and each of their blocks has a checksum
// that is checked when the block is read.
//
// # What cannot be told
//
//   - A directory that was replaced as a whole by an older copy is a restored
//     backup.
//   - After a crash, what the last log has beyond its listed length is what a
//     crash may have torn. Damage there is found where an intact chunk follows
//     that was written after it was synced; a tail that is cut off, zeroed or
//     overwritten to its end is not. Note bounds how much that can be.
//   - The same is so of what the MANIFEST has beyond its listed length. Nothing
//     is lost by that: until the inventory is written, the logs and tables that
//     the last records make superfluous are there.
//   - A table that was replaced by another intact one of the same length.
//   - LOCK and temporary files have no content, and files that Pebble has given up
//     and not yet removed are not listed; nothing hangs on them.
//   - Checksums find accidents, not an attacker.
//
// It imports Pebble's file system and nothing else.
package inventory
