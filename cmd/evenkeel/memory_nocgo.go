// SPDX-License-Identifier: Apache-2.0

//go:build !cgo

package main

// engineInHeap is the size of the embedded engine's memtables and cache, in bytes. Without cgo,
// Pebble allocates them in Go's heap.
const engineInHeap = 128 << 20

// limitArenas does nothing: there is no allocator beside Go's.
func limitArenas() {}
