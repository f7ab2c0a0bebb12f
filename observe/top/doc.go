// SPDX-License-Identifier: Apache-2.0

// Package top makes what `evenkeel top` shows of two readings of a server's /metrics. It
// is pure: it reads no clock, and does no input or output but what it is given.
package top
