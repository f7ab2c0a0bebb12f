// SPDX-License-Identifier: Apache-2.0

// Package registry has the rules that the catalogues of both doors share. Judge says what to do
// with an entry that an operation has left half-way, by the table that the store has. Watched says
// how long a door has seen an entry unchanged. Lease says how long a door may use what it has read
// of a catalogue. Recent says which of many names a door has seen lately.
//
// It imports no other package of this module.
package registry
