// SPDX-License-Identifier: Apache-2.0

// Package transport is one connection of the native protocol, on either side of the door: it
// reads and writes frames. It knows v4 frames, v5 segments and lz4. It does not know the content
// of frames.
//
// It promises:
//
//  1. Next returns views into the read buffer. In steady state a frame allocates nothing.
//     The length that a frame claims allocates nothing before its bytes arrive.
//  2. Append never blocks. Frames that any number of goroutines append are sent in the order
//     of Append, in as few writes as the traffic allows.
//  3. Flush never blocks: a goroutine writes the bytes that the socket does not take at once,
//     and ends when they are written.
//  4. A peer that reads, however slowly, gets everything. A peer that has stopped reading is
//     cut off with ErrSlow.
//  5. A frame longer than the limit is an error before its body is read.
//
// It imports cql/wire.
package transport
