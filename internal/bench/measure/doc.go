// SPDX-License-Identifier: Apache-2.0

// Package measure is shared by the benchmarks: it starts and stops servers, reads the CPU time that
// the operating system charged to them, and computes the medians of rounds.
//
// It imports nothing of this module.
package measure
