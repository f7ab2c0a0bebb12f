// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// Digest returns a hash of what the actions of a transaction ask for. If a client sends a
// transaction again with the same token, the engine compares the two digests. The order of the
// actions counts, because the parts of the answer are in that order. The order of attributes, of
// members of maps and of elements of sets does not count. Neither do the names of placeholders, nor
// how a number is written.
func Digest(actions []TransactAction) uint64 {
	var b []byte
	part := func(text []byte) {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	for i := range actions {
		a := &actions[i]
		b = append(b, byte(a.Kind))
		if a.ReturnOnFailure {
			b[len(b)-1] |= 0x80
		}
		part([]byte(TableName(a.Table)))
		part(attribute.AppendItem(nil, a.Key.Canonical()))
		part(attribute.AppendItem(nil, a.Item.Canonical()))
		part([]byte(expression.CanonicalUpdate(a.Update)))
		part([]byte(expression.CanonicalCondition(a.Condition)))
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}
