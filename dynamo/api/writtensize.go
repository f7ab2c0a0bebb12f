// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// CheckWritten returns an error if an expression of a request is longer than expressions may be.
// body is the number of bytes of the request's body, which the door has written anew. The text may
// be longer than the client's: a write to a sharded table also sets hidden attributes, and the door
// does not keep the client's own text.
func CheckWritten(q Request, body int) error {
	if body <= expression.MaxSize {
		return nil
	}
	check := func(u *expression.Update, c *expression.Condition) error {
		var p expression.Printer
		if u != nil {
			if err := checkWritten("UpdateExpression", p.Update(u)); err != nil {
				return err
			}
		}
		if c != nil {
			return checkWritten("ConditionExpression", p.Condition(c))
		}
		return nil
	}
	switch q := q.(type) {
	case *PutItem:
		return check(nil, q.Condition)
	case *DeleteItem:
		return check(nil, q.Condition)
	case *UpdateItem:
		return check(q.Update, q.Condition)
	case *TransactWriteItems:
		for i := range q.Actions {
			if err := check(q.Actions[i].Update, q.Actions[i].Condition); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkWritten(parameter, text string) error {
	if len(text) <= expression.MaxSize {
		return nil
	}
	return exception.Invalid("Invalid %s: Expression size has exceeded the maximum allowed size; expression size: %d: "+
		"in a write-sharded table this includes the hidden attributes that it sets; give it fewer clauses", parameter, len(text))
}
