// SPDX-License-Identifier: Apache-2.0

// Package deadline bounds how long a request's work may go on. A deadline is part of the
// request's context: when it passes, the context is done, and Passed tells that from a
// client that has gone. Work that goes in steps, each of which may take as long, says so
// by Progress.
//
// It imports nothing of this module.
package deadline
