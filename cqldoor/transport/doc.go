// SPDX-License-Identifier: Apache-2.0

// Package transport is one connection of the native protocol: frames in, frames
// out, on either side of the door. It knows v4 frames, v5 segments and lz4, and
// nothing of what the frames say.
//
// It promises:
//
//  1. Next returns views into the read buffer; nothing is allocated per frame in
//     steady state, and a frame's claimed length allocates nothing before its
//     bytes arrive.
//  2. Append never blocks. Frames appended by any number of goroutines leave in
//     the order of Append, as few writes as the traffic allows.
//  3. Flush never blocks: the bytes that the socket does not take at once are
//     left to a goroutine that lives as long as they do.
//  4. A peer that reads, however slowly, gets all it is sent; one that has stopped to
//     read is cut off with ErrSlow.
//  5. A frame longer than the limit is an error before its body is read.
//
// It imports cql/wire.
package transport
