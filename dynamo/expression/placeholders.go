package expression

import "github.com/evenkeel/evenkeel/dynamo/attribute"

// Name is one of ExpressionAttributeNames.
type Name struct {
	Placeholder string // with its #
	Attribute   string
}

// Placeholders are one request's ExpressionAttributeNames and
// ExpressionAttributeValues, and what of them was used.
type Placeholders struct {
	names  []Name
	values attribute.Item
}

// NewPlaceholders checks names and values as AWS does. nil means that the request
// has none, which differs from having an empty one. values are named with their
// colon.
func NewPlaceholders(names []Name, values attribute.Item) (*Placeholders, error) {
	return &Placeholders{names: names, values: values}, nil
}

// Condition parses a FilterExpression or ConditionExpression.
func (p *Placeholders) Condition(parameter Parameter, text string) (*Condition, error) {
	return nil, nil
}

// KeyCondition parses a KeyConditionExpression.
func (p *Placeholders) KeyCondition(text string) (*KeyCondition, error) { return nil, nil }

// Projection parses a ProjectionExpression.
func (p *Placeholders) Projection(text string) (*Projection, error) { return nil, nil }

// Update parses an UpdateExpression.
func (p *Placeholders) Update(text string) (*Update, error) { return nil, nil }

// CheckUnused returns AWS's error if a name or value was used by no expression
// that was parsed with p.
func (p *Placeholders) CheckUnused() error { return nil }
