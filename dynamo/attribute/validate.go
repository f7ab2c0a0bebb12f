// SPDX-License-Identifier: Apache-2.0

package attribute

import "github.com/evenkeel/evenkeel/dynamo/exception"

// Validate returns AWS's ValidationException for the first invalid value in v.
func (v Value) Validate() error {
	switch v.kind {
	case Invalid:
		if v.n == 0 {
			return exception.Invalid(msgNoType)
		}
		return exception.Invalid("%s", v.Text())
	case M:
		return v.Fields().validateValues()
	case L:
		for _, e := range v.Elems() {
			if err := e.Validate(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Validate returns AWS's ValidationException for the first invalid name or value in the item.
func (it Item) Validate() error {
	if len(it) > 0 && it[0].Name == "" { // names are sorted, so an empty name is the first
		return exception.Invalid("Empty attribute name")
	}
	return it.validateValues()
}

func (it Item) validateValues() error {
	for i := range it {
		if len(it[i].Name) > MaxNameSize {
			return exception.Invalid("Attribute name is too large, must be less than %d bytes", MaxNameSize+1)
		}
		if err := it[i].Value.Validate(); err != nil {
			return err
		}
	}
	return nil
}

const msgNesting = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"

// ValidateNesting returns AWS's ValidationException if an attribute has more than MaxDepth levels.
func (it Item) ValidateNesting() error {
	for i := range it {
		if it[i].Value.deeper(MaxDepth) {
			return exception.Invalid(msgNesting)
		}
	}
	return nil
}

// deeper reports whether the value has more than this number of levels. The elements of an L or M
// are one level below it. The elements of a set are not a level.
func (v Value) deeper(levels int) bool {
	if levels == 0 {
		return true
	}
	if v.kind != L && v.kind != M {
		return false
	}
	for _, e := range v.Elems() {
		if e.deeper(levels - 1) {
			return true
		}
	}
	for _, f := range v.Fields() {
		if f.Value.deeper(levels - 1) {
			return true
		}
	}
	return false
}
