// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package main

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static void limit_arenas(void) {
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}
*/
import "C"

// engineInHeap is 0: with cgo, Pebble allocates the embedded engine's memtables and cache outside
// Go's heap, where the collector's limit does not count them.
const engineInHeap = 0

// limitArenas keeps what C's allocator holds near what Pebble has allocated. By default glibc has an
// arena for each of many threads, each up to 64 MiB. It returns little of an arena to the system, and
// a cache of 64 MiB came to take 220.
func limitArenas() { C.limit_arenas() }
