// SPDX-License-Identifier: Apache-2.0

// Package attribute holds DynamoDB's items and attribute values: S, N, B, SS, NS, BS, M, L, BOOL
// and NULL.
//
// A Value has two words and is immutable. A Decoder reads it from DynamoDB JSON; if it can, it
// returns slices of the text. AppendJSON writes a Value. An Item is a list of attributes in the
// order of their names. Values and items share the memory of the text that they were read from.
// That memory must not be changed while they are in use.
//
//	var d attribute.Decoder
//	item, err := d.Item([]byte(`{"pk": {"S": "a"}, "n": {"N": "1.50"}}`))
//	v, _ := item.Get("n")
//	v.Text()                       // 1.5
//	attribute.AppendItem(nil, item) // {"n":{"N":"1.5"},"pk":{"S":"a"}}
//
// It promises:
//
//  1. Numbers are exact decimals of up to 38 digits, kept in one canonical text:
//     equal numbers have equal texts.
//  2. AppendItem is canonical: equal items have equal texts, except for the order of
//     the elements of sets, which is kept.
//  3. Size is AWS's published rule for the size of items.
//  4. AppendKey keeps the order: bytes.Compare of two forms is Compare of their
//     values, and no form is the beginning of another.
//  5. Decoding and encoding, comparing and measuring values without escapes,
//     binary values and sets do not allocate beyond the decoder's slabs.
//
// A value can have the right form of JSON and still not be allowed by DynamoDB (two types in one
// value, an empty set, 39 digits). The Decoder returns an invalid value for it, which carries the
// error message. The reason is that AWS checks the form of the whole request before it checks the
// values. Validate returns the error of an invalid value.
//
// It does no I/O and imports dynamo/exception and dynamo/jsontext.
package attribute
