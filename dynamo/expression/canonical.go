// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// Two expressions are equivalent if they differ only in placeholders, or in the order of actions,
// of the parts of AND and OR, of the list of IN, and of the elements of sets. Equivalent
// expressions have equal canonical texts, and others do not.

// CanonicalUpdate returns the canonical text of an update; "" for nil.
func CanonicalUpdate(u *Update) string {
	if u == nil {
		return ""
	}
	return (&Printer{exact: new(hashes)}).Update(u)
}

// CanonicalCondition returns the canonical text of a condition; "" for nil.
func CanonicalCondition(c *Condition) string {
	if c == nil {
		return ""
	}
	return (&Printer{exact: new(hashes)}).Condition(c)
}

// inAnyOrder sorts parts whose order has no meaning, if the Printer writes canonical texts.
func (p *Printer) inAnyOrder(parts []string) {
	if p.exact != nil {
		slices.Sort(parts)
	}
}

// hashes holds the hashes of values. Canonical texts contain the hash instead of the value, because
// a value may be long and may occur often.
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
