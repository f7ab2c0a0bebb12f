// SPDX-License-Identifier: Apache-2.0

// Package top computes what `evenkeel top` shows from two readings of a server's /metrics. It is
// pure: it reads no clock and does no I/O of its own.
package top
