package expression

import "github.com/evenkeel/evenkeel/dynamo/attribute"

// KeyCondition is a KeyConditionExpression: conditions on single attributes, each
// with one value or two.
type KeyCondition struct {
	terms []keyTerm
}

type keyTerm struct {
	name      string
	op        RangeOp
	low, high attribute.Value
}

// RangeOp is what a key condition asks of the last sort key attribute it names.
type RangeOp uint8

const (
	NoRange RangeOp = iota // no condition: all
	Equal
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	BeginsWith
	Between
)

// KeyRange is what a key condition means for one key schema: one partition, and a
// range of its sort keys.
type KeyRange struct {
	Hash []attribute.Value // one for each attribute of the partition key

	// Prefix is the sort key attributes, from the first on, that are bound by
	// equality before the one that Op is about. Only multi-attribute sort keys have
	// more than none.
	Prefix []attribute.Value

	Op        RangeOp
	Low, High attribute.Value // High: Between only
}

// For returns what the condition means for a key schema, whose attributes and
// types are given, or AWS's error if it does not fit.
func (k *KeyCondition) For(hash, sort []KeyAttribute) (KeyRange, error) { return KeyRange{}, nil }

// KeyAttribute is an attribute of a key schema.
type KeyAttribute struct {
	Name string
	Type attribute.Kind
}

// Match says whether a sort key's values, in their order, are in the range.
func (r *KeyRange) Match(sort []attribute.Value) bool { return false }
