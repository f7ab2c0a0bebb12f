// SPDX-License-Identifier: Apache-2.0

// Package report writes the results of advice, a simulation or an inspection: as text for a
// terminal, and as one HTML file that needs no other file.
//
// It promises:
//
//  1. The HTML loads nothing, runs no script, follows the reader's choice of light or dark,
//     prints, and says in words and tables what its plots show.
//  2. It escapes names and texts that come from the data. Values of keys appear as a number and
//     their shape, unless the caller asks for the values.
//  3. The length of both is bounded, however many partitions there are.
//
// It does no I/O except to the writer it is given; it imports dynamo/api, workbench/advice,
// workbench/capacity, workbench/inspection, workbench/profile and workbench/simulation.
package report
