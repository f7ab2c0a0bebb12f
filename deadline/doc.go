// SPDX-License-Identifier: Apache-2.0

// Package deadline bounds how long the work for a request may take. A deadline is part of the
// request's context. When it passes, the context is done, and Passed distinguishes this from a
// client that has gone. Work in steps, each of which may take as long, calls Progress after each
// step. Sleep is a wait that ends with the context.
//
// It imports nothing of this module.
package deadline
