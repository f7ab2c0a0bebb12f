// SPDX-License-Identifier: Apache-2.0

// Package prices holds the prices of stores that bill by the request: a dated list, by store and
// region, and computations with it.
//
// The list in prices.yaml is built in. Read reads another list in that form, for other regions,
// later prices or the user's own discount.
//
// It promises:
//
//  1. An amount of money names the list's date and region.
//  2. An error of Read names its line. Read refuses unknown fields.
//
// It does no I/O; it imports nothing of this module.
package prices
