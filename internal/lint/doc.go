// SPDX-License-Identifier: Apache-2.0

// Package lint holds the rules of the tree as tests, which read the source and
// build nothing:
//
//  1. A package imports only what the table in edges_test.go allows: imports point
//     down, and the table is the architecture.
//  2. The pure packages do no I/O, start no goroutine, read no clock and draw no
//     chance.
//  3. No file is longer than 800 lines, unless its head gives the reason.
//  4. A package is named after a noun of the domain: never util, common, helpers,
//     types, base or manager.
//  5. Nothing is left for later: no panic for what is not implemented, no note of
//     what is still to be done, no test that skips itself.
package lint
