// SPDX-License-Identifier: Apache-2.0

// Package datetime reads dates and times as people and programs write them, and
// numbers that count from 1970.
//
//	v, ok := datetime.Parse([]byte("15.03.2024 10:30"))
//	at, unit := datetime.OfInt(1710498600)
//
// It reads the parts of a date in any usual order, separated by points, slashes, dashes or spaces;
// names of months and days in the languages of names.go; years of two digits (69 to 68 are 1969 to
// 2068); a time of day before or after the date, on a clock of twelve or twenty-four hours, as fine
// as nanoseconds; and a zone as an offset or by one of the names in zone.go. A time without a zone
// is UTC.
//
// No text says by itself whether 03/04/2024 is in March or in April. A Value then has both times,
// and the other dates of the column decide (Evidence). The size of a number gives its unit: between
// 1990 and 2050, no two units overlap.
//
// It promises:
//
//  1. A text that is read has one time, or the two times of Value. No input makes it panic, and
//     none costs more than its length.
//  2. Only Describe allocates.
//
// It is pure, and imports cql/value for the calendar.
package datetime
