// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Name is one of ExpressionAttributeNames.
type Name struct {
	Placeholder string // with its #
	Attribute   string
}

// Placeholders holds the ExpressionAttributeNames and ExpressionAttributeValues of one request. It
// records which of them were used.
type Placeholders struct {
	names  []Name
	values attribute.Item

	usedNames, usedValues used

	nameAt, valueAt map[string]int // their indexes, if there are many; else nil
}

// many is the largest number of names or values that are searched one by one.
const many = 16

// used is a set of small integers.
type used struct {
	few  uint64
	many map[int]bool
}

func (u *used) add(i int) {
	if i < 64 {
		u.few |= 1 << i
		return
	}
	if u.many == nil {
		u.many = make(map[int]bool)
	}
	u.many[i] = true
}

func (u *used) has(i int) bool {
	if i < 64 {
		return u.few&(1<<i) != 0
	}
	return u.many[i]
}

// NewPlaceholders checks names and values as AWS does. nil means that the request does not have the
// member; that differs from an empty member. The names of values include their colon.
func NewPlaceholders(names []Name, values attribute.Item) (*Placeholders, error) {
	p := &Placeholders{names: names, values: values}
	if names != nil && len(names) == 0 {
		return nil, exception.Invalid("ExpressionAttributeNames must not be empty")
	}
	size := 0
	for _, n := range names {
		size += len(n.Placeholder) + len(n.Attribute)
		if len(n.Placeholder) > MaxPlaceholder {
			return nil, exception.Invalid("ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: %d", len(n.Placeholder))
		}
		if !isPlaceholder(n.Placeholder, '#') {
			return nil, exception.Invalid(`ExpressionAttributeNames contains invalid key: Syntax error; key: "%s"`, n.Placeholder)
		}
		switch {
		case n.Attribute == "":
			return nil, exception.Invalid("ExpressionAttributeNames contains invalid value: Empty attribute name for key %s", n.Placeholder)
		case len(n.Attribute) > attribute.MaxNameSize:
			return nil, exception.Invalid("ExpressionAttributeNames contains invalid value: Attribute name is too large, must be less than %d bytes for key %s",
				attribute.MaxNameSize+1, n.Placeholder)
		}
	}
	if size > MaxSubstitution {
		return nil, exception.Invalid("ExpressionAttributeNames exceeds max size")
	}
	if values != nil && len(values) == 0 {
		return nil, exception.Invalid("ExpressionAttributeValues must not be empty")
	}
	for _, v := range values {
		if len(v.Name) > MaxPlaceholder { // AWS reports the size for names only
			return nil, exception.Invalid("ExpressionAttributeValues contains invalid key: The expression attribute map contains a key that is too long;")
		}
		if !isPlaceholder(v.Name, ':') {
			return nil, exception.Invalid(`ExpressionAttributeValues contains invalid key: Syntax error; key: "%s"`, v.Name)
		}
	}
	for _, v := range values {
		if err := v.Value.Validate(); err != nil {
			return nil, exception.Invalid("ExpressionAttributeValues contains invalid value: %s for key %s", exception.Of(err).Message, v.Name)
		}
	}
	return p, checkSubstitution(size, values)
}

// checkSubstitution returns an error if names and values have more bytes than expressions may have.
// names is the number of bytes of the names.
func checkSubstitution(names int, values attribute.Item) error {
	size := values.Size()
	switch {
	case size > MaxSubstitution:
		return exception.Invalid("ExpressionAttributeValues exceeds max size")
	case names+size > MaxSubstitution:
		return exception.Invalid("Combined size of ExpressionAttributeNames and ExpressionAttributeValues exceeds max size")
	}
	return nil
}

func isPlaceholder(s string, first byte) bool {
	if len(s) < 2 || s[0] != first {
		return false
	}
	for i := 1; i < len(s); i++ {
		if !letter(s[i]) && !digit(s[i]) {
			return false
		}
	}
	return true
}

func (p *Placeholders) name(placeholder string) (string, bool) {
	if len(p.names) > many {
		if p.nameAt == nil {
			p.nameAt = make(map[string]int, len(p.names))
			for i := len(p.names) - 1; i >= 0; i-- { // of several entries with the same name, the first one counts
				p.nameAt[p.names[i].Placeholder] = i
			}
		}
		i, ok := p.nameAt[placeholder]
		if !ok {
			return "", false
		}
		p.usedNames.add(i)
		return p.names[i].Attribute, true
	}
	for i := range p.names {
		if p.names[i].Placeholder == placeholder {
			p.usedNames.add(i)
			return p.names[i].Attribute, true
		}
	}
	return "", false
}

func (p *Placeholders) value(placeholder string) (attribute.Value, bool) {
	if len(p.values) > many {
		if p.valueAt == nil {
			p.valueAt = make(map[string]int, len(p.values))
			for i := range p.values {
				p.valueAt[p.values[i].Name] = i
			}
		}
		i, ok := p.valueAt[placeholder]
		if !ok {
			return attribute.Value{}, false
		}
		p.usedValues.add(i)
		return p.values[i].Value, true
	}
	for i := range p.values {
		if p.values[i].Name == placeholder {
			p.usedValues.add(i)
			return p.values[i].Value, true
		}
	}
	return attribute.Value{}, false
}

// CheckUnused returns AWS's error if no expression that was parsed with p used a name or value.
func (p *Placeholders) CheckUnused() error {
	var unused []string
	for i, n := range p.names {
		if !p.usedNames.has(i) {
			unused = append(unused, n.Placeholder)
		}
	}
	if unused != nil {
		return exception.Invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", strings.Join(unused, ", "))
	}
	for i, v := range p.values {
		if !p.usedValues.has(i) {
			unused = append(unused, v.Name)
		}
	}
	if unused != nil {
		return exception.Invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", strings.Join(unused, ", "))
	}
	return nil
}
