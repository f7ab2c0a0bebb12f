// SPDX-License-Identifier: Apache-2.0

// Package drawn draws, from a seed, tables, the queries on them, and an expert's conclusions about
// both.
//
//	set := drawn.New(7)
//	set.WriteCSV(file)   // the rows
//	set.Queries          // a statement a line
//	set.Truth            // what is right, from how the rows were made
//	drawn.Score(&set.Truth, &answer)
//
// # How a set is made
//
// A process comes first: who writes (entities, each with a weight), when (steadily, at fixed times,
// in bursts, in an episode of one entity, faster from some day on), and how large a row is. The
// package draws rows from it, gives them columns with names in some language and values in some
// format, and writes queries on them, in CQL, DynamoDB's expressions or PartiQL. It sets traps: a
// column that is named as an id and is none, codes with leading zeros, dates that do not sort as
// text, times as bare integers, a rare query that misleads, a column that is unique by luck, an id of a time
// that many rows share, a batch whose condition holds rows together.
//
// # The truth
//
// The package computes the truth from the process, not from the rows, and not by the rules of
// package advice, which it does not know. The rate of a partition is the rate of its entity at its
// busiest. The size of a bucket is that rate times its length. Rows collide as often as in a Poisson
// process. If experts differ, the truth accepts either answer. If a figure would be near a limit, so
// that either answer could be defended, the package draws the process again.
//
// It does no I/O and imports nothing of this module.
package drawn
