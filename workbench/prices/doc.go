// SPDX-License-Identifier: Apache-2.0

// Package prices is what the stores that bill by the request ask: a dated list,
// by store and region, and the arithmetic on it.
//
// The list in prices.yaml is built in; Read takes another one of that form, for
// other regions, later prices or a discount of one's own.
//
// It promises:
//
//  1. A figure of money names the list's date and region.
//  2. What Read refuses is named with its line; an unknown field is refused.
//
// It does no I/O; it imports nothing of this module.
package prices
