// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// TransactWriteItems carries out all of up to 100 writes, or none.
type TransactWriteItems struct {
	Actions  []TransactAction
	Token    string // ClientRequestToken; empty: none
	Digest   uint64 // the digest of the actions if there is a token; a token stands for one digest
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

// TransactKind is the kind of an action.
type TransactKind uint8

const (
	TransactCheck TransactKind = iota
	TransactPut
	TransactDelete
	TransactUpdate
)

// Operation implements Request.
func (*TransactWriteItems) Operation() string { return "TransactWriteItems" }

// maxToken is the largest length of a ClientRequestToken.
const maxToken = 36

// Decode implements Request.
func (q *TransactWriteItems) Decode(d *Decoder, body []byte) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	var in input
	var token text
	var actions []transactAction
	listed, n := false, 0
	for r.Next() {
		switch {
		case r.Peek() == jsontext.Null:
			r.Skip()
		case r.Name() == "TransactItems":
			listed = true
			actions, n = d.readTransactActions()
		case r.Name() == "ClientRequestToken":
			token = readText(r)
		case r.Name() == "ReturnConsumedCapacity":
			in.capacity = readText(r)
		case r.Name() == "ReturnItemCollectionMetrics":
			in.metrics = readText(r)
		default:
			r.Skip()
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	var c constraints
	if token.given {
		c.length(len(token.value), 1, maxToken, func() string { return token.value }, "clientRequestToken")
	}
	c.capacity(&in)
	c.metrics(&in)
	c.transactItems(listed, n)
	for i := range actions {
		actions[i].check(&c, "transactItems."+strconv.Itoa(i+1)+".member.")
	}
	if err := c.err(); err != nil {
		return err
	}
	q.Token, q.Capacity, q.Metrics = token.value, in.returnConsumedCapacity(), in.metrics.value == "SIZE"
	size := 0
	for i := range actions {
		a, err := actions[i].convert()
		if err != nil {
			return err
		}
		size += a.Item.Size()
		q.Actions = append(q.Actions, a)
	}
	if q.Token != "" {
		q.Digest = Digest(q.Actions)
	}
	return CheckTransactionSize(size)
}

// CheckTransactionSize returns an error if the items of a transaction have more bytes in total than
// a transaction may have.
func CheckTransactionSize(size int) error {
	if size <= MaxTransactionSize {
		return nil
	}
	const says = "Transaction payload size cannot exceed 4MB. Payload Size: "
	return exception.Invalid(says+": "+says+"%d", size) // AWS says it twice
}

// transactAction is a TransactWriteItem as it came.
type transactAction struct {
	input
	kind  TransactKind
	kinds int // how many kinds of action it has members for
}

// transactMembers describes the member of each kind of action.
var transactMembers = [...]struct {
	name, at string
	has      parameter
}{
	TransactCheck:  {"ConditionCheck", "conditionCheck", pKey},
	TransactPut:    {"Put", "put", pItem},
	TransactDelete: {"Delete", "delete", pKey},
	TransactUpdate: {"Update", "update", pKey | pUpdateExpression},
}

const transactParameters = pTableName | pConditionExpression | pExpressionAttributeNames | pExpressionAttributeValues | pReturnOnFailure

// readTransactActions reads n actions. It keeps at most one more than a transaction may have.
func (d *Decoder) readTransactActions() (actions []transactAction, n int) {
	r := &d.reader
	if !attribute.EnterList(r) {
		return nil, 0
	}
	for ; r.Next(); n++ {
		if n > MaxTransaction {
			r.Skip()
			continue
		}
		var a transactAction
		if enterElement(r, "TransactWriteItem") {
			for r.Next() {
				d.readTransactMember(&a)
			}
		}
		actions = append(actions, a)
	}
	return actions, n
}

func (d *Decoder) readTransactMember(a *transactAction) {
	r := &d.reader
	for k, m := range transactMembers {
		if m.name != r.Name() {
			continue
		}
		if enterField(r, m.name) {
			a.kind = TransactKind(k)
			a.kinds++
			d.readMembers(&a.input, transactParameters|m.has)
		}
		return
	}
	r.Skip()
}

func (a *transactAction) check(c *constraints, at string) {
	if a.kinds != 1 {
		return // convert reports this error later, about the whole request
	}
	m := transactMembers[a.kind]
	at += m.at + "."
	c.table(a.table, at+"tableName")
	if a.kind == TransactPut {
		c.notNull(a.item != nil, at+"item")
	} else {
		c.notNull(a.key != nil, at+"key")
	}
	if a.kind == TransactCheck {
		c.notNull(a.condition.given, at+"conditionExpression")
	}
	if a.kind == TransactUpdate {
		c.notNull(a.update.given, at+"updateExpression")
	}
	c.returnOnFailure(a.returnOnFailure, at+"returnValuesOnConditionCheckFailure")
}

func (a *transactAction) convert() (TransactAction, error) {
	out := TransactAction{Kind: a.kind, Table: a.table.value, Key: a.key, Item: a.item, ReturnOnFailure: a.returnOnFailure.value == "ALL_OLD"}
	if a.kinds != 1 {
		return out, exception.Invalid("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	uses := []named{{"ConditionExpression", a.condition.given}}
	if a.kind == TransactUpdate {
		uses = append([]named{{"UpdateExpression", a.update.given}}, uses...)
	}
	if err := a.checkMixing(uses, nil); err != nil {
		return out, err
	}
	if err := a.key.Validate(); err != nil {
		return out, err
	}
	if err := a.item.Validate(); err != nil {
		return out, err
	}
	if err := checkSize(a.item); err != nil {
		return out, err
	}
	if err := a.item.ValidateNesting(); err != nil {
		return out, err
	}
	all, err := a.parse()
	out.Update, out.Condition = all.update, all.condition
	return out, err
}

// EachTable implements ItemRequest.
func (q *TransactWriteItems) EachTable(visit func(string)) {
	for i := range q.Actions {
		visit(q.Actions[i].Table)
	}
}

// Instead implements ItemRequest.
func (q *TransactWriteItems) Instead(key attribute.Item, _ string) Request {
	p := new(TransactWriteItems)
	for _, a := range q.Actions {
		if a.Kind == TransactPut {
			a.Item = key
		} else {
			a.Key = key
		}
		p.Actions = append(p.Actions, a)
	}
	return p
}

// Describe implements ItemRequest.
func (q *TransactWriteItems) Describe() string {
	s := "TransactWriteItems"
	for _, a := range q.Actions {
		verb := [...]string{TransactCheck: "check", TransactPut: "put", TransactDelete: "delete", TransactUpdate: "update"}[a.Kind]
		s += "\n" + line("  "+verb, a.Table, "key", a.Key, "item", a.Item, "update", a.Update, "condition", a.Condition)
	}
	return s
}
