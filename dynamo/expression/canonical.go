// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// Two expressions say the same if they differ in the order of actions, of the parts of
// AND and OR, of what IN lists, and of the elements of sets, or in their placeholders.
// Their canonical texts are equal, and those of others are not.

// CanonicalUpdate is the canonical text of an update; empty for nil.
func CanonicalUpdate(u *Update) string {
	if u == nil {
		return ""
	}
	return (&Printer{exact: new(hashes)}).Update(u)
}

// CanonicalCondition is the canonical text of a condition; empty for nil.
func CanonicalCondition(c *Condition) string {
	if c == nil {
		return ""
	}
	return (&Printer{exact: new(hashes)}).Condition(c)
}

// inAnyOrder puts parts, whose order says nothing, in the one order of canonical
// texts.
func (p *Printer) inAnyOrder(parts []string) {
	if p.exact != nil {
		slices.Sort(parts)
	}
}

// hashes are those of values, by which they stand in canonical texts: a value may be
// long, and named often.
type hashes struct {
	values []attribute.Value
	texts  []string
}

func (h *hashes) of(v attribute.Value) string {
	for i := range h.values {
		if h.values[i].Is(v) {
			return h.texts[i]
		}
	}
	sum := sha256.Sum256(attribute.AppendJSON(nil, v.Canonical()))
	text := hex.EncodeToString(sum[:])
	h.values, h.texts = append(h.values, v), append(h.texts, text)
	return text
}
