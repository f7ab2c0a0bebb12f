// SPDX-License-Identifier: Apache-2.0

// Package livetable has the errors and the rate limit of the readers of live tables. The reader of
// CQL tables and the reader of DynamoDB tables share them. Each error tells the user what to do.
//
// It imports nothing of this module.
package livetable
