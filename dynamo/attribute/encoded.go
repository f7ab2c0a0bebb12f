// SPDX-License-Identifier: Apache-2.0

package attribute

// Encoded is an item as DynamoDB JSON, such as AppendItem makes. It is what answers
// carry and what a store may keep: an item that is only passed on is never decoded.
type Encoded []byte

// Encode returns the item's text.
func (it Item) Encode() Encoded { return AppendItem(nil, it) }
