// SPDX-License-Identifier: Apache-2.0

// Package attribute is DynamoDB's items and attribute values: S, N, B, SS, NS, BS,
// M, L, BOOL and NULL.
//
// A Value is two words and immutable. It is read from DynamoDB JSON by a Decoder,
// which slices the text where it can, and written back by AppendJSON; an Item is
// a list of attributes in the order of their names. Values and items share the
// memory of what they were read from, which must not be changed while they live.
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
//  2. AppendItem is canonical: equal items have equal texts, but for the order of
//     the elements of sets, which is kept as it came.
//  3. Size is AWS's published rule for the size of items.
//  4. AppendKey keeps the order: bytes.Compare of what it appends is Compare of
//     the values, and no key's bytes are the beginning of another's.
//  5. Decoding and encoding, comparing and measuring values without escapes,
//     binary values and sets do not allocate beyond the decoder's slabs.
//
// A value that the JSON's form allows and DynamoDB does not (two types in one
// value, an empty set, 39 digits) is decoded as an invalid value, which carries
// the message: AWS looks at the whole form of a request before it looks at the
// values. Validate says what is wrong with it.
//
// It does no I/O and imports dynamo/exception and dynamo/jsontext.
package attribute
