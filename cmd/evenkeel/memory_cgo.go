// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package main

// engineInHeap is 0: with cgo, Pebble allocates the embedded engine's memtables and cache outside
// Go's heap, where the collector's limit does not count them.
const engineInHeap = 0
