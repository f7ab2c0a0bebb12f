// SPDX-License-Identifier: Apache-2.0

// Package observe measures the requests of a door: how long they take, by table and
// operation, how they fail, and what they ask of the store.
//
// It promises:
//
//  1. To record a request takes no lock and allocates nothing: two atomic additions,
//     and the reading of the clock.
//  2. The tables that are measured by name are bounded in number (MaxTables); those
//     beyond, and names that no table has, are measured together as "other".
//  3. A table that is dropped leaves, and makes room for another.
//
// What a request is, and when it ends, is the door's to say. How the figures are shown
// is a matter of package observe/exposition.
//
// It imports nothing of this module.
package observe
