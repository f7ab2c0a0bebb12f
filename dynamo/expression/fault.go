// SPDX-License-Identifier: Apache-2.0

package expression

import "fmt"

// fault is a class of faults of an expression without syntax errors. AWS reports one fault: the
// first fault of the class that AWS checks first.
type fault uint8

const (
	parentheses fault = iota
	unknownFunction
	misusedFunction
	keyword // the name is a reserved word
	section
	placeholder      // of a name; in conditions and projections, also of a value
	valuePlaceholder // of a value in an update
	overlap
	conflict
	operandCount
	distinct
	operandType
	inCondition // the first fault of the classes about one condition, taken when the condition ends
	faults
)

// The orders in which AWS checks the classes.
var (
	conditionOrder  = []fault{parentheses, unknownFunction, misusedFunction, keyword, inCondition}
	oneCondition    = []fault{placeholder, operandCount, distinct, operandType}
	projectionOrder = []fault{keyword, placeholder, overlap, conflict}
	updateOrder     = []fault{keyword, unknownFunction, section, placeholder, valuePlaceholder, overlap, conflict, operandCount, operandType}
)

// found holds the first fault of each class.
type found [faults]string

func (f *found) note(class fault, format string, args ...any) {
	if f[class] == "" {
		f[class] = fmt.Sprintf(format, args...)
	}
}

// first returns the first fault in an order; "" if there is none.
func (f *found) first(order []fault) string {
	for _, class := range order {
		if f[class] != "" {
			return f[class]
		}
	}
	return ""
}
