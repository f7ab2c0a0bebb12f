// SPDX-License-Identifier: Apache-2.0

// Package lint holds the rules for the source tree as tests. They read the source and build
// nothing:
//
//  1. A package imports only what the table in edges_test.go allows: imports point down, and the
//     table is the architecture.
//  2. The pure packages do no I/O, start no goroutine, read no clock and draw no random numbers.
//  3. No file is longer than 800 lines, unless its head gives the reason.
//  4. A package is named after a noun of the domain: never util, common, helpers, types, base or
//     manager.
//  5. Nothing is left for later: no panic for missing code, no note of work still to be done, no test
//     that skips itself.
package lint
