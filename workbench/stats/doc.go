// SPDX-License-Identifier: Apache-2.0

// Package stats computes the probabilities that the workbench needs: tails of the Poisson, binomial
// and chi-square distributions, and how uneven an even draw is.
//
// It promises:
//
//  1. Tails keep their relative precision, however small they are (1e-300 is not 0).
//  2. SpreadWithin draws from the given seed: the same arguments give the same result.
//
// It does no I/O and imports nothing of this module.
package stats
