// Package value is CQL's types and their serialized values.
//
// A value is its serialized form, a []byte (native_protocol_v5.spec §6; v3 and
// later share it): nothing is boxed. A nil slice is null; an empty non-nil one
// is the empty value, which many types allow. What a type does with a value is
// a method of *Type: Validate, Compare, Canonical, FromString, Format, JSON.
//
// It promises that Compare is Cassandra's order of clustering columns, that
// Canonical is at least as coarse as Cassandra's equality, and that no input
// makes it panic.
//
// It does no I/O and imports nothing of this module.
package value
