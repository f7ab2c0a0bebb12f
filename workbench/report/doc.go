// SPDX-License-Identifier: Apache-2.0

// Package report writes what advice, a simulation or an inspection found: as text
// for a terminal, and as one HTML file that needs nothing else.
//
// It promises:
//
//  1. The HTML loads nothing, runs no script, follows the reader's choice of light
//     or dark, prints, and says in words and tables what its plots show.
//  2. Names and texts that come from the data are escaped; values of keys appear as
//     a number and their shape, unless they are asked for.
//  3. The length of both is bounded, however many partitions there are.
//
// It does no I/O but to the writer it is given; it imports dynamo/api, workbench/advice,
// workbench/capacity, workbench/inspection, workbench/profile and workbench/simulation.
package report
