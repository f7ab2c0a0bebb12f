// SPDX-License-Identifier: Apache-2.0

package attribute

import "bytes"

// Encoded is an item as DynamoDB JSON, as AppendItem writes it. Answers contain it, and a store may
// keep it. So an item that is only passed on is never decoded.
type Encoded []byte

// Encode returns the item's text.
func (it Item) Encode() Encoded { return AppendItem(nil, it) }

// perValue is about how many bytes each value of an item takes while it is decoded. A list of
// strings of one character takes 64 for each, and as much again while the list grows.
const perValue = 128

// DecodedBytes returns about how many bytes it takes to decode the item.
func (e Encoded) DecodedBytes() int { return len(e) + perValue*bytes.Count(e, []byte{'{'}) }
