// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// Writing the bodies of requests on items for a store in another process. Members with their
// default value are left out. Expressions are written anew, all expressions of a request with one
// Printer.

// AppendJSON implements Request.
func (q *GetItem) AppendJSON(dst []byte) []byte {
	var p expression.Printer
	dst = appendStringMember(append(dst, '{'), "TableName", q.Table)
	dst = attribute.AppendItem(member(dst, "Key"), q.Key)
	dst = appendProjection(dst, &p, q.Projection)
	dst = appendTrue(dst, "ConsistentRead", q.Consistent)
	dst = q.Capacity.append(dst)
	return append(appendPlaceholders(dst, &p), '}')
}

// AppendJSON implements Request.
func (q *PutItem) AppendJSON(dst []byte) []byte {
	var p expression.Printer
	dst = appendStringMember(append(dst, '{'), "TableName", q.Table)
	dst = attribute.AppendItem(member(dst, "Item"), q.Item)
	dst = appendCondition(dst, &p, "ConditionExpression", q.Condition)
	dst = q.Write.append(dst)
	return append(appendPlaceholders(dst, &p), '}')
}

// AppendJSON implements Request.
func (q *DeleteItem) AppendJSON(dst []byte) []byte {
	var p expression.Printer
	dst = appendStringMember(append(dst, '{'), "TableName", q.Table)
	dst = attribute.AppendItem(member(dst, "Key"), q.Key)
	dst = appendCondition(dst, &p, "ConditionExpression", q.Condition)
	dst = q.Write.append(dst)
	return append(appendPlaceholders(dst, &p), '}')
}

// AppendJSON implements Request.
func (q *UpdateItem) AppendJSON(dst []byte) []byte {
	var p expression.Printer
	dst = appendStringMember(append(dst, '{'), "TableName", q.Table)
	dst = attribute.AppendItem(member(dst, "Key"), q.Key)
	dst = appendUpdate(dst, &p, q.Update)
	dst = appendCondition(dst, &p, "ConditionExpression", q.Condition)
	dst = q.Write.append(dst)
	return append(appendPlaceholders(dst, &p), '}')
}

// AppendJSON implements Request.
func (q *Query) AppendJSON(dst []byte) []byte {
	var p expression.Printer
	dst = q.Read.append(append(dst, '{'), &p)
	dst = appendStringMember(dst, "KeyConditionExpression", p.KeyCondition(q.KeyCondition))
	if q.Backward {
		dst = append(member(dst, "ScanIndexForward"), "false"...)
	}
	return append(appendPlaceholders(dst, &p), '}')
}

// AppendJSON implements Request.
func (q *Scan) AppendJSON(dst []byte) []byte {
	var p expression.Printer
	dst = q.Read.append(append(dst, '{'), &p)
	if q.Segments > 0 {
		dst = appendIntMember(dst, "Segment", int64(q.Segment))
		dst = appendIntMember(dst, "TotalSegments", int64(q.Segments))
	}
	return append(appendPlaceholders(dst, &p), '}')
}

// AppendJSON implements Request.
func (q *BatchGetItem) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "RequestItems"), '{')
	for i := range q.Tables {
		dst = q.Tables[i].AppendJSON(member(dst, q.Tables[i].Table))
	}
	return append(q.Capacity.append(append(dst, '}')), '}')
}

// AppendJSON implements Request.
func (q *BatchWriteItem) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "RequestItems"), '{')
	for i := range q.Tables {
		dst = q.Tables[i].AppendJSON(member(dst, q.Tables[i].Table))
	}
	dst = q.Capacity.append(append(dst, '}'))
	return append(appendMetricsWanted(dst, q.Metrics), '}')
}

// AppendJSON implements Request.
func (q *TransactGetItems) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "TransactItems"), '[')
	for i := range q.Gets {
		g := &q.Gets[i]
		dst = element(dst, i)
		var p expression.Printer
		dst = appendStringMember(append(dst, `{"Get":{`...), "TableName", g.Table)
		dst = attribute.AppendItem(member(dst, "Key"), g.Key)
		dst = appendProjection(dst, &p, g.Projection)
		dst = append(appendPlaceholders(dst, &p), '}', '}')
	}
	return append(q.Capacity.append(append(dst, ']')), '}')
}

// AppendJSON implements Request.
func (q *TransactWriteItems) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "TransactItems"), '[')
	for i := range q.Actions {
		dst = element(dst, i)
		dst = q.Actions[i].append(dst, q.Token != "")
	}
	dst = append(dst, ']')
	if q.Token != "" {
		dst = appendStringMember(dst, "ClientRequestToken", q.Token)
	}
	dst = q.Capacity.append(dst)
	return append(appendMetricsWanted(dst, q.Metrics), '}')
}

// append appends the action. again says that the transaction has a token and so may be sent again.
// A store that compares the texts of the two requests must then find no difference, so equal values
// are written in the same way.
func (a *TransactAction) append(dst []byte, again bool) []byte {
	p := new(expression.Printer)
	key, item := a.Key, a.Item
	if again {
		p = expression.CanonicalPrinter()
		key, item = key.Canonical(), item.Canonical()
	}
	dst = append(member(append(dst, '{'), transactMembers[a.Kind].name), '{')
	dst = appendStringMember(dst, "TableName", a.Table)
	if a.Kind == TransactPut {
		dst = attribute.AppendItem(member(dst, "Item"), item)
	} else {
		dst = attribute.AppendItem(member(dst, "Key"), key)
	}
	dst = appendUpdate(dst, p, a.Update)
	dst = appendCondition(dst, p, "ConditionExpression", a.Condition)
	if a.ReturnOnFailure {
		dst = appendStringMember(dst, "ReturnValuesOnConditionCheckFailure", "ALL_OLD")
	}
	return append(appendPlaceholders(dst, p), '}', '}')
}

// append appends the members that Query and Scan have in common.
func (r *Read) append(dst []byte, p *expression.Printer) []byte {
	dst = appendStringMember(dst, "TableName", r.Table)
	if r.Index != "" {
		dst = appendStringMember(dst, "IndexName", r.Index)
	}
	dst = appendCondition(dst, p, "FilterExpression", r.Filter)
	dst = appendProjection(dst, p, r.Projection)
	switch r.Select {
	case SelectAll:
		dst = appendStringMember(dst, "Select", "ALL_ATTRIBUTES")
	case SelectProjected:
		dst = appendStringMember(dst, "Select", "ALL_PROJECTED_ATTRIBUTES")
	case SelectCount:
		dst = appendStringMember(dst, "Select", "COUNT")
	}
	if r.Start != nil {
		dst = attribute.AppendItem(member(dst, "ExclusiveStartKey"), r.Start)
	}
	if r.Limit > 0 {
		dst = appendIntMember(dst, "Limit", int64(r.Limit))
	}
	dst = appendTrue(dst, "ConsistentRead", r.Consistent)
	return r.Capacity.append(dst)
}

// append appends the members that single writes have in common.
func (w *Write) append(dst []byte) []byte {
	if w.Return != ReturnNone {
		dst = appendStringMember(dst, "ReturnValues", [...]string{
			ReturnAllOld: "ALL_OLD", ReturnUpdatedOld: "UPDATED_OLD", ReturnAllNew: "ALL_NEW", ReturnUpdatedNew: "UPDATED_NEW",
		}[w.Return])
	}
	if w.ReturnOnFailure {
		dst = appendStringMember(dst, "ReturnValuesOnConditionCheckFailure", "ALL_OLD")
	}
	return appendMetricsWanted(w.Capacity.append(dst), w.Metrics)
}

func (c ReturnConsumedCapacity) append(dst []byte) []byte {
	switch c {
	case CapacityTotal:
		return appendStringMember(dst, "ReturnConsumedCapacity", "TOTAL")
	case CapacityIndexes:
		return appendStringMember(dst, "ReturnConsumedCapacity", "INDEXES")
	}
	return dst
}

func appendMetricsWanted(dst []byte, wanted bool) []byte {
	if !wanted {
		return dst
	}
	return appendStringMember(dst, "ReturnItemCollectionMetrics", "SIZE")
}

func appendTrue(dst []byte, name string, given bool) []byte {
	if !given {
		return dst
	}
	return strconv.AppendBool(member(dst, name), true)
}

func appendCondition(dst []byte, p *expression.Printer, name string, c *expression.Condition) []byte {
	if c == nil {
		return dst
	}
	return appendStringMember(dst, name, p.Condition(c))
}

func appendUpdate(dst []byte, p *expression.Printer, u *expression.Update) []byte {
	if u == nil {
		return dst
	}
	return appendStringMember(dst, "UpdateExpression", p.Update(u))
}

func appendProjection(dst []byte, p *expression.Printer, projection *expression.Projection) []byte {
	if projection == nil {
		return dst
	}
	return appendStringMember(dst, "ProjectionExpression", p.Projection(projection))
}

// appendPlaceholders appends the names and values of the placeholders that p has written.
func appendPlaceholders(dst []byte, p *expression.Printer) []byte {
	if names := p.Names(); names != nil {
		dst = append(member(dst, "ExpressionAttributeNames"), '{')
		for _, n := range names {
			dst = jsontext.AppendString(member(dst, n.Placeholder), n.Attribute)
		}
		dst = append(dst, '}')
	}
	if values := p.Values(); values != nil {
		dst = attribute.AppendItem(member(dst, "ExpressionAttributeValues"), values)
	}
	return dst
}
