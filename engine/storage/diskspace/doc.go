// SPDX-License-Identifier: Apache-2.0

// Package diskspace keeps a store alive on a disk that is full, and ends it in order
// on one that fails.
//
// Pebble takes an error of its log or its MANIFEST for the end: it panics, while
// locks are held. So such an error never reaches it where it can be helped.
//
// # Promises
//
//  1. Writes are refused, by Admit, before the disk is full: where less than the
//     reserve is free (64 MiB, or a sixteenth of a smaller disk). Reads go on. What
//     frees room, as dropping a table does, may use half of the reserve. Writes are
//     admitted again once there is room.
//  2. Tables leave the rest of the reserve to the log and the MANIFEST: a compaction
//     ends with an error at half of it and a flush at an eighth, and both are tried
//     again after a second. Meanwhile Admit refuses.
//  3. Where the disk is full all the same, because others have filled it, a write to
//     the log or the MANIFEST waits until there is room; it has not failed, so
//     nothing is lost. Open does not wait, and GiveUp ends the waiting.
//  4. Any other error of the log, the MANIFEST or the directory is final: what a
//     failed sync was to write may be gone, whatever a second one says. Options.Failed
//     is called, which is to end the process; nothing is admitted any more, and
//     nothing that waits for that sync is acknowledged.
//
// It imports Pebble's file system and nothing else.
package diskspace
