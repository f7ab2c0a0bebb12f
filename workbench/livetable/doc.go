// SPDX-License-Identifier: Apache-2.0

// Package livetable holds what readers of a running store's table share, whichever store it is:
// errors that have a way out, and a rate limit.
//
// It imports nothing of this module.
package livetable
