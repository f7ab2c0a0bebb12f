// SPDX-License-Identifier: Apache-2.0

// Package datetime reads dates and times as people and programs write them, and
// numbers that count from 1970.
//
//	v, ok := datetime.Parse([]byte("15.03.2024 10:30"))
//	at, unit := datetime.OfInt(1710498600)
//
// Read are: the parts of a date in any usual order, parted by points, slashes, dashes
// or spaces; names of months and days in the languages of names.go; two digits of a
// year (69 to 68 are 1969 to 2068); a time of day before the date or behind it, of
// twelve hours or of twenty-four, as fine as nanoseconds; a zone as an offset or by
// one of the names of zone.go. What has no zone is UTC.
//
// Whether 03/04/2024 is in March or in April no text says by itself: a Value then has
// both, and in a column the others tell (Evidence). Numbers have their unit by their
// size: those of no two units overlap between 1990 and 2050.
//
// It promises:
//
//  1. What is read is a time in one way, or in the two ways of Value. No input makes
//     it panic, and none costs more than its length.
//  2. Nothing is allocated but by Describe.
//
// It is pure, and imports cql/value for the calendar.
package datetime
