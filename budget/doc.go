// SPDX-License-Identifier: Apache-2.0

// Package budget bounds the memory that all requests hold together. Code that will hold many
// bytes for a request first takes them from the budget, and returns them afterwards. If there is
// no room, it waits for a bounded time and is then refused.
//
// Several places may work on a request at once: the door merges what the store reads for it. Each
// place has an Account. All accounts of a request count as one, so that a request does not wait
// for itself. Answers that a client leaves unread count too (Client.Hold).
//
// It promises:
//
//  1. All requests together hold no more than the budget, but for what was taken by
//     Add and Hold, which do not wait, and for one request at a time: the eldest that
//     holds anything. It gets what it asks for, so that no set of requests can wait for
//     each other for ever; but where unread answers take the room, it waits too.
//  2. A request that holds something is ahead of requests that hold nothing, the eldest
//     first. Among those that hold nothing the clients take turns.
//  3. Short requests, those of at most a sixty-fourth of the budget and at most 1 MiB,
//     have an eighth of the budget to themselves. They have more while no long request
//     waits, so that neither kind keeps the other out.
//  4. A request waits no longer than the budget's patience in all its waits together.
//     One whose context is done stops to wait at once.
//  5. A closed account has given everything back.
//
// It starts no goroutine of its own. It imports nothing of this module.
package budget
