// SPDX-License-Identifier: Apache-2.0

// Package jsontext reads and writes JSON (RFC 8259) in place, token by token.
//
// It exists because the bodies of DynamoDB requests are JSON of a known shape,
// read once and mostly passed on: a Reader slices the input and allocates only
// for strings with escapes.
//
//	r := jsontext.NewReader(body)
//	for r.Object(); r.Next(); {
//		switch r.Name() {
//		case "TableName":
//			name = r.Text()
//		default:
//			r.Skip()
//		}
//	}
//	err := r.End()
//
// It promises:
//
//  1. No input makes it panic, and what is nested deeper than MaxDepth is refused:
//     work and memory are in proportion to the input.
//  2. Strings that are returned share the input's memory where they have no
//     escapes: the input must not be changed while they live.
//  3. What is not valid UTF-8 is not read. AppendString writes valid UTF-8; what was
//     not becomes U+FFFD, as half a surrogate pair does that is read.
//
// It does no I/O and imports nothing of this module.
package jsontext
