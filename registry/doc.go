// SPDX-License-Identifier: Apache-2.0

// Package registry has the rules that the catalogues of both doors share: what an entry that an
// operation left half-way means for the table that the store has (Judge), for how long a door
// may use what it has read of a catalogue (Lease), and which of many names a door has seen lately
// (Recent).
//
// It imports no other package of this module.
package registry
