package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// TransactWriteItems does up to 100 writes, all or none.
type TransactWriteItems struct {
	Actions  []TransactAction
	Token    string // ClientRequestToken; empty where there is none
	Digest   uint64 // of the actions: one token stands for one digest
	Capacity ReturnConsumedCapacity
	Metrics  bool
}

// TransactAction is one of the writes.
type TransactAction struct {
	Kind            TransactKind
	Table           string
	Key             attribute.Item // TransactPut: nil
	Item            attribute.Item // TransactPut only
	Update          *expression.Update
	Condition       *expression.Condition
	ReturnOnFailure bool // ReturnValuesOnConditionCheckFailure is ALL_OLD
}

// TransactKind is what an action does.
type TransactKind uint8

const (
	TransactCheck TransactKind = iota
	TransactPut
	TransactDelete
	TransactUpdate
)

// Operation implements Request.
func (*TransactWriteItems) Operation() string { return "TransactWriteItems" }

// Decode implements Request.
func (q *TransactWriteItems) Decode(d *Decoder, body []byte) error { return nil }
