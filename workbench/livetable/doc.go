// SPDX-License-Identifier: Apache-2.0

// Package livetable is what reading a table of a running store comes to, whichever
// store it is: errors that have a way out, and a rate that is kept.
//
// It imports nothing of this module.
package livetable
