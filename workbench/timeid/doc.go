// SPDX-License-Identifier: Apache-2.0

// Package timeid reads the time out of ids that begin with it: ULIDs, UUIDs of versions 6 and 7,
// ObjectIds, KSUIDs and xids, which are texts, and Snowflake numbers.
//
//	kind := timeid.KindOf([]byte("01HRZ3X8S0T7Q2V9YB4N6M1KDE")) // ULID
//	ms, ok := kind.Time([]byte("01HRZ3X8S0T7Q2V9YB4N6M1KDE"))
//
// A text is such an id by its form and by its time, which lies between 2000 and 2050. One text can
// be so by chance; the caller asks for many. One number does not show which of its bits count the
// time, and from when: Numbers finds that out from many numbers.
//
// It is pure: it does no I/O and reads no clock.
package timeid
