// SPDX-License-Identifier: Apache-2.0

// Package dynamodiff compares DynamoDB doors: the same requests, byte for byte, go
// to each, and the answers must be equal, errors with their texts. The judge is
// dynalite, for what it has.
//
// Scripts (testdata/*.txt) are requests that people wrote; histories are drawn at
// random and shrunk to the shortest that still differs.
package dynamodiff
