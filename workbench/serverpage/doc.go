// SPDX-License-Identifier: Apache-2.0

// Package serverpage shows in a browser what a running server does: the figures of `evenkeel top`,
// and their course over the last minutes. The browser keeps the course; the server keeps one
// reading of its metrics.
package serverpage
