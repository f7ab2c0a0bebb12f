// SPDX-License-Identifier: Apache-2.0

package expression

import "fmt"

// fault is a class of what can be wrong with an expression that has the form of
// one. AWS reports one fault: the first of the class that it looks at first.
type fault uint8

const (
	parentheses fault = iota
	unknownFunction
	misusedFunction
	keyword // reserved
	section
	placeholder      // of a name; in conditions and projections of a value too
	valuePlaceholder // of a value in an update
	overlap
	conflict
	operandCount
	distinct
	operandType
	inCondition // the first of the classes about one condition, taken when it ends
	faults
)

// The orders that AWS looks at them in.
var (
	conditionOrder  = []fault{parentheses, unknownFunction, misusedFunction, keyword, inCondition}
	oneCondition    = []fault{placeholder, operandCount, distinct, operandType}
	projectionOrder = []fault{keyword, placeholder, overlap, conflict}
	updateOrder     = []fault{keyword, unknownFunction, section, placeholder, valuePlaceholder, overlap, conflict, operandCount, operandType}
)

// found is the first fault of each class.
type found [faults]string

func (f *found) note(class fault, format string, args ...any) {
	if f[class] == "" {
		f[class] = fmt.Sprintf(format, args...)
	}
}

// first returns the first fault in an order, empty if there is none.
func (f *found) first(order []fault) string {
	for _, class := range order {
		if f[class] != "" {
			return f[class]
		}
	}
	return ""
}
