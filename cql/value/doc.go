// SPDX-License-Identifier: Apache-2.0

// Package value implements CQL's types and their serialized values.
//
// A value is its serialized form, a []byte (native_protocol_v5.spec §6; v3 and later share it).
// There is no other representation. A nil slice is null. An empty non-nil slice is the empty value,
// which many types allow. The operations on a value are methods of *Type:
//
//	t, err := value.ParseType("frozen<map<text, int>>", nil)
//	v, _, err := t.FromJSON([]byte(`{"b": 2, "a": 1}`), 1<<20)
//	t.Format(nil, v)                             // {'a': 1, 'b': 2}
//	for p := t.Parts(v); p.Next(); { p.Part() }  // a, 1, b, 2 as bytes
//
// It promises:
//
//  1. Compare has Cassandra's order of clustering columns. It is a total order of all byte slices,
//     including malformed ones.
//  2. Canonical is at least as coarse as Cassandra's equality: values that Cassandra takes as one
//     key, or stores as one when they are bound, have one canonical form. Compare(a, b) == 0
//     implies equal canonical forms.
//  3. Validate, Bind, FromString, FromLiteral and FromJSON accept what Cassandra 5.0 accepts and
//     return its error texts, with the exceptions below.
//  4. JSON returns what SELECT JSON shows, to the last digit of a float.
//  5. No input makes it panic or use memory out of proportion to the input's length.
//  6. Compare, Validate and, into a buffer, Canonical of scalar values do not allocate. Neither
//     does a walk over Parts.
//
// It differs from Cassandra on purpose as follows:
//
//   - A timestamp without a zone is UTC (Cassandra takes the server's zone). 'now' is
//     refused, because the package has no clock.
//   - Zones may be offsets, regions (Europe/Berlin) and abbreviations that mean only one zone.
//     Other abbreviations and long names are refused.
//   - Host names are not inet addresses. Digits other than 0-9 are not numbers.
//   - A blob constant for a tinyint must have one byte. The empty element of a collection is null,
//     and like null it must not be stored. (Cassandra stores such values but cannot read them.)
//   - Format writes timestamps outside the years 1 to 9999 as integers, and the zero duration as
//     0s. (Cassandra writes texts for them that it cannot read.)
//   - Error texts for JSON syntax are our own after "Error decoding JSON string: ".
//
// It does no I/O, except that Go's time package may read the system's time zone files if a zone is
// named. It imports nothing of this module.
package value
