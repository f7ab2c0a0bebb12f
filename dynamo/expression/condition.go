package expression

import "github.com/evenkeel/evenkeel/dynamo/attribute"

// Parameter is the request parameter that an expression came in; AWS's messages
// name it.
type Parameter string

// The parameters that hold expressions.
const (
	KeyConditionExpression Parameter = "KeyConditionExpression"
	FilterExpression       Parameter = "FilterExpression"
	ConditionExpression    Parameter = "ConditionExpression"
	ProjectionExpression   Parameter = "ProjectionExpression"
	UpdateExpression       Parameter = "UpdateExpression"
)

// Condition is a condition or filter over an item. A nil *Condition is always true.
type Condition struct {
	root node
}

// Match says whether the item meets the condition. A nil item is one that does
// not exist: it has no attributes.
func (c *Condition) Match(item attribute.Item) bool {
	return c == nil || c.root == nil || c.root.match(item)
}

type node interface {
	match(item attribute.Item) bool
}
