// SPDX-License-Identifier: Apache-2.0

// Package value is CQL's types and their serialized values.
//
// A value is its serialized form, a []byte (native_protocol_v5.spec §6; v3 and
// later share it): nothing is boxed. A nil slice is null; an empty non-nil one
// is the empty value, which many types allow. What a type does with a value is
// a method of *Type:
//
//	t, err := value.ParseType("frozen<map<text, int>>", nil)
//	v, err := t.FromJSON([]byte(`{"b": 2, "a": 1}`))
//	t.Format(nil, v)                             // {'a': 1, 'b': 2}
//	for p := t.Parts(v); p.Next(); { p.Part() }  // a, 1, b, 2 as bytes
//
// It promises:
//
//  1. Compare is Cassandra's order of clustering columns, a total order of all
//     byte slices, malformed ones too.
//  2. Canonical is at least as coarse as Cassandra's equality: values that it
//     takes as one key, and values that it stores as one when they are bound,
//     have one canonical form. Compare(a, b) == 0 implies equal canonical forms.
//  3. Validate, Bind, FromString, FromLiteral and FromJSON accept what Cassandra
//     5.0 accepts and have its texts of errors, but for what is below.
//  4. JSON is what SELECT JSON shows, to the last digit of a float.
//  5. No input makes it panic or use memory out of proportion to its length.
//  6. Compare, Validate and, into a buffer, Canonical of scalar values do not
//     allocate; nor does walking over Parts.
//
// What differs from Cassandra, on purpose:
//
//   - a timestamp without a zone is UTC (Cassandra takes the server's zone), and
//     'now' is for the caller, who has a clock;
//   - zones may be offsets, regions (Europe/Berlin) and the abbreviations that
//     mean one zone; other abbreviations and long names are refused;
//   - host names are no inet addresses, digits other than 0-9 no numbers;
//   - a blob constant for a tinyint must have one byte, the empty element of a
//     collection is null, and like it not to be stored (Cassandra stores what it
//     cannot read);
//   - Format writes timestamps outside the years 1 to 9999 as integers and the
//     zero duration as 0s: Cassandra writes what it does not read;
//   - texts of errors in JSON syntax are our own after "Error decoding JSON string: ".
//
// It does no I/O, but that Go's time package may read the system's time zone
// files when a zone is named; it imports nothing of this module.
package value
