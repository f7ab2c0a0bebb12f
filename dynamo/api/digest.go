// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// Digest is a hash of what a transaction's actions ask for, however that is written:
// one that is sent again with its token is compared by it. The order of the actions
// counts, since the answer's parts are in it; the order of attributes, members of maps
// and elements of sets does not, nor do placeholders, or how a number is written.
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
		table := a.Table
		if strings.HasPrefix(table, "arn:") {
			table = table[strings.LastIndexByte(table, '/')+1:]
		}
		part([]byte(table))
		part(attribute.AppendItem(nil, a.Key.Canonical()))
		part(attribute.AppendItem(nil, a.Item.Canonical()))
		part([]byte(expression.CanonicalUpdate(a.Update)))
		part([]byte(expression.CanonicalCondition(a.Condition)))
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}
