// SPDX-License-Identifier: Apache-2.0

package attribute

// Encoded is an item as DynamoDB JSON, as AppendItem writes it. Answers contain it, and a store may
// keep it. So an item that is only passed on is never decoded.
type Encoded []byte

// Encode returns the item's text.
func (it Item) Encode() Encoded { return AppendItem(nil, it) }
