// SPDX-License-Identifier: Apache-2.0

// Package inventory keeps a small checksummed file beside a Pebble store. The file says which files
// of the store must exist and how much they must contain. The package checks that before the store
// is opened.
//
// Pebble reads its MANIFEST up to the first damaged record and takes that part for the whole. So a
// store with a damaged MANIFEST opens as an older or an empty one, and Pebble deletes the tables
// that it does not know. Pebble does not notice a lost log. After the loss of a marker it makes a
// new store. So Pebble's files are first compared with the inventory.
//
// # Promises
//
//  1. Everything that the inventory lists is durable: it is written after the files
//     have been synced. A crash at any moment, of the process or of the machine,
//     leaves a directory that Open accepts.
//  2. Before a file that the inventory lists is removed or renamed, the inventory is
//     written without it.
//  3. A log is listed before the first write into it is acknowledged.
//  4. Open changes nothing in a directory that it refuses. Its error is
//     ErrForeign, ErrNewer, or ErrCorrupt, names the file, and says what to do.
//  5. The cost of a write or sync is one counter. The inventory is written when a log
//     begins or is removed, when the MANIFEST is written anew, by Note, and by Seal.
//
// # What is listed
//
//	MANIFEST  its length at that time, and the checksum of that part
//	OPTIONS   the same
//	logs      their lengths; their chunks have their own checksums
//	markers   how often they were moved, and their values
//
// After Seal, which follows a clean close, files must have exactly the listed length. Before, they
// may be longer by the data that were written after the inventory.
//
// Tables are not listed. The MANIFEST says which tables must exist and how long they are, and
// Pebble checks that when it opens. Each block of a table has a checksum, which is checked when the
// block is read.
//
// # What cannot be detected
//
//   - A directory that was replaced as a whole by an older copy: it looks like a
//     restored backup.
//   - Some damage to the part of the last log beyond its listed length, after a crash.
//     A crash may have torn that part. Damage there is detected if an intact chunk
//     follows that was written after it was synced. A tail that is cut off, zeroed or
//     overwritten to its end is not detected. Note bounds the size of that part.
//   - The same damage to the part of the MANIFEST beyond its listed length. Nothing is
//     lost by that: until the inventory is written, the logs and tables still exist
//     that the last records make superfluous.
//   - A table that was replaced by another intact one of the same length.
//   - Damage to LOCK and temporary files, which have no content, and to files that
//     Pebble has given up and not yet removed. These are not listed; nothing depends
//     on them.
//   - Changes by an attacker: checksums find only accidents.
//
// It imports Pebble's file system and nothing else.
package inventory
