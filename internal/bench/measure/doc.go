// SPDX-License-Identifier: Apache-2.0

// Package measure is what the benchmarks share: servers that are started and
// stopped, what the operating system charged to them, and the medians of rounds.
//
// It imports nothing of this module.
package measure
