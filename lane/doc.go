// SPDX-License-Identifier: Apache-2.0

// Package lane decides whose turn it is. A lane lets a bounded number of requests
// through at a time. Those that wait belong to flows (one for each client's
// connection, say), and flows take turns, so that a long queue of one flow does not
// hold up the first request of another.
//
// It promises:
//
//  1. At most as many requests have a place as the lane has places, and at most as
//     many of one flow as the lane allows to a flow.
//  2. Requests of one flow get their places in the order in which they came. One that
//     gave its place up in the middle (Again) is ahead of all that have not begun.
//  3. A request whose context is done gets no place. It is told so when its turn would
//     have come, or by Drop, whichever is first.
//  4. While a lane is paused nobody gets a place.
//  5. A lane starts no goroutine. It calls the functions that it was given, outside its
//     lock and one at a time; they return at once, and may call the lane.
//
// It imports nothing of this module.
package lane
