// Package wire is the native protocol's bytes, versions 4 and 5
// (native_protocol_v4.spec, native_protocol_v5.spec): frames, v5 segments,
// lz4, and the bodies of messages as views into the bytes that arrived.
//
// The hot messages (QUERY, EXECUTE, BATCH, RESULT Rows) are sliced in place:
// nothing is copied or allocated, and a view is valid as long as the body is.
// Encoders append to a slice that the caller owns.
//
// It promises that no input makes it panic or allocate more than the input's
// size warrants, and that lengths are checked before they are believed.
//
// It does no I/O; it imports cql/value.
package wire
