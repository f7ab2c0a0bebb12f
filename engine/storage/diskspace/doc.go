// SPDX-License-Identifier: Apache-2.0

// Package diskspace keeps a store alive on a full disk, and ends it in order on a disk that fails.
//
// If Pebble gets an error of its log or its MANIFEST, it panics while locks are held. So this
// package keeps such errors from Pebble as far as possible.
//
// # Promises
//
//  1. Admit refuses writes before the disk is full: if less than the reserve is
//     free (64 MiB, or a sixteenth of a smaller disk). Reads go on. Operations that
//     free space, such as dropping a table, may use half of the reserve. Admit admits
//     writes again when there is enough space.
//  2. Tables leave the rest of the reserve to the log and the MANIFEST: a compaction
//     ends with an error at half of it and a flush at an eighth, and both are tried
//     again after a second. Meanwhile Admit refuses.
//  3. If the disk is full in spite of that, because others have filled it, a write to
//     the log or the MANIFEST waits until there is space. It has not failed, so
//     nothing is lost. Open does not wait, and GiveUp ends the waiting.
//  4. Any other error of the log, the MANIFEST or the directory is final: the data of
//     a failed sync may be lost, even if a second sync succeeds. The package calls
//     Options.Failed, which must end the process. Nothing is admitted any more, and
//     no write that waits for that sync is acknowledged.
//
// It imports Pebble's file system and nothing else.
package diskspace
