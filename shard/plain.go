// SPDX-License-Identifier: Apache-2.0

package shard

// PlainPlace is the place of all rows of a plain table, which has no shards. It is not a shard
// number: those begin at 1.
const PlainPlace = 0

// Plain returns the layout of a plain table: all its rows are in PlainPlace, and there is no hidden
// column. A change of layout goes from it or to it. It has no options, and Parse never returns it.
func Plain() *Layout { return &Layout{N: 1, Base: PlainPlace - 1} }

// Plain reports whether the layout is that of a plain table.
func (l *Layout) Plain() bool { return l.Column == "" }
