// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Parameter is the request parameter that holds an expression. AWS's messages name it.
type Parameter string

// The parameters that hold expressions.
const (
	KeyConditionExpression Parameter = "KeyConditionExpression"
	FilterExpression       Parameter = "FilterExpression"
	ConditionExpression    Parameter = "ConditionExpression"
	ProjectionExpression   Parameter = "ProjectionExpression"
	UpdateExpression       Parameter = "UpdateExpression"
)

// Limits of expressions.
const (
	MaxSize      = 4096 // bytes of text
	MaxOperators = 300
	MaxOperands  = 100 // of IN
	MaxLevels    = 32  // of a document path

	MaxPlaceholder  = 255     // bytes of a placeholder, with its # or :
	MaxSubstitution = 2 << 20 // bytes of all names and values, and of their placeholders
)

// invalid returns AWS's error about the expression in the parameter.
func (p Parameter) invalid(format string, args ...any) error {
	return exception.Invalid("Invalid %s: %s", p, fmt.Sprintf(format, args...))
}
