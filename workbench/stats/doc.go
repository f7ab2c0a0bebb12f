// SPDX-License-Identifier: Apache-2.0

// Package stats is the arithmetic of chance that the workbench needs: tails of the
// Poisson, binomial and chi-square distributions, and how uneven an even draw is.
//
// It promises:
//
//  1. Tails keep their relative precision however small they are (1e-300 is not 0).
//  2. What is drawn (SpreadWithin) is drawn from the seed that is given: the same
//     arguments give the same result.
//
// It does no I/O and imports nothing of this module.
package stats
