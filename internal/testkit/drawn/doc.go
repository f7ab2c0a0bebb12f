// SPDX-License-Identifier: Apache-2.0

// Package drawn draws tables, the queries on them, and what an expert would say of
// both, from a seed.
//
//	set := drawn.New(7)
//	set.WriteCSV(file)   // the rows
//	set.Queries          // a statement a line
//	set.Truth            // what is right, from how the rows were made
//	drawn.Score(&set.Truth, &answer)
//
// # How a set is made
//
// A process comes first: who writes (entities, with a weight each), when (steadily,
// at fixed times, in bursts, in an episode of one entity, faster from some day on),
// and how much a row takes. Rows are drawn of it, given columns with names of some
// language and values in some format, and queries are written about them, in CQL,
// DynamoDB's expressions or PartiQL. Traps are set: a column that is called an id and
// is none, codes with leading zeros, dates that do not sort as text, times as bare
// integers, a rare query that tempts.
//
// # The truth
//
// It is worked out from the process, not from the rows, and not by the rules of
// package advice, which this package does not know: the rate of a partition is the
// rate of its entity at its busiest, the size of a bucket is that rate by its length,
// and rows collide as often as a Poisson process makes them. Where experts differ,
// the truth takes either answer; where a figure would be near a limit, so that
// either answer could be defended, the process is drawn anew.
//
// It does no I/O and imports nothing of this module.
package drawn
