// SPDX-License-Identifier: Apache-2.0

// Package serverpage shows in a browser what a running server does: the figures of `evenkeel top`,
// and plots of the last minutes. The browser keeps the figures of these minutes; the server keeps
// one reading of its metrics.
package serverpage
