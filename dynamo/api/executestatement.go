// SPDX-License-Identifier: Apache-2.0

package api

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// ExecuteStatement carries out a PartiQL statement (package partiql).
type ExecuteStatement struct {
	Statement
	Consistent bool
	NextToken  string // empty: from the beginning
	Limit      int    // 0: no limit
	Capacity   ReturnConsumedCapacity
}

// Statement is the text of a PartiQL statement and the values of its parameters.
type Statement struct {
	Text            string
	Parameters      []attribute.Value // nil: none
	ReturnOnFailure bool              // ReturnValuesOnConditionCheckFailure is ALL_OLD
}

// Operation implements Request.
func (*ExecuteStatement) Operation() string { return "ExecuteStatement" }

// Limits of statements.
const (
	MaxStatement = 8192 // characters
	maxNextToken = 32768
)

// Decode implements Request.
func (q *ExecuteStatement) Decode(d *Decoder, body []byte) error {
	r := &d.reader
	if !d.begin(body) {
		return d.end()
	}
	var in input
	var s statement
	var next text
	for r.Next() {
		switch {
		case r.Peek() == jsontext.Null:
			r.Skip()
		case d.readStatement(&s):
		case r.Name() == "ConsistentRead":
			in.consistent = readFlag(r)
		case r.Name() == "NextToken":
			next = readText(r)
		case r.Name() == "Limit":
			in.limit = readInteger(r, "Integer")
		case r.Name() == "ReturnConsumedCapacity":
			in.capacity = readText(r)
		default:
			r.Skip()
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	var c constraints
	s.check(&c, "")
	c.capacity(&in)
	c.atLeast(in.limit, 1, "limit")
	if next.given {
		c.length(len(next.value), 1, maxNextToken, func() string { return next.value }, "nextToken")
	}
	if err := c.err(); err != nil {
		return err
	}
	out := s.convert()
	if err := out.CheckParameters(); err != nil {
		return err
	}
	*q = ExecuteStatement{
		Statement: out, Consistent: in.consistent.value, NextToken: next.value, Limit: int(in.limit.value), Capacity: in.returnConsumedCapacity(),
	}
	return nil
}

// AppendJSON implements Request.
func (q *ExecuteStatement) AppendJSON(dst []byte) []byte {
	dst = q.appendMembers(append(dst, '{'))
	if q.Consistent {
		dst = append(member(dst, "ConsistentRead"), "true"...)
	}
	if q.NextToken != "" {
		dst = appendStringMember(dst, "NextToken", q.NextToken)
	}
	if q.Limit > 0 {
		dst = appendIntMember(dst, "Limit", int64(q.Limit))
	}
	return append(q.Capacity.append(dst), '}')
}

// CheckParameters returns an error if the value of a parameter is not valid.
func (s *Statement) CheckParameters() error {
	for _, v := range s.Parameters {
		if err := v.Validate(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Statement) appendMembers(dst []byte) []byte {
	dst = appendStringMember(dst, "Statement", s.Text)
	if s.Parameters != nil {
		dst = append(member(dst, "Parameters"), '[')
		for i, v := range s.Parameters {
			dst = element(dst, i)
			dst = attribute.AppendJSON(dst, v)
		}
		dst = append(dst, ']')
	}
	if s.ReturnOnFailure {
		dst = appendStringMember(dst, "ReturnValuesOnConditionCheckFailure", "ALL_OLD")
	}
	return dst
}

// statement is a Statement as it came.
type statement struct {
	text            text
	parameters      []attribute.Value // nil: not given
	returnOnFailure text
}

// readStatement reads the member that the reader is at, if it is one of a statement's members, and
// reports whether it is.
func (d *Decoder) readStatement(s *statement) bool {
	r := &d.reader
	switch r.Name() {
	case "Statement":
		s.text = readText(r)
	case "Parameters":
		s.parameters = d.readValues(d.attribute.ReadParameter)
	case "ReturnValuesOnConditionCheckFailure":
		s.returnOnFailure = readText(r)
	default:
		return false
	}
	return true
}

func (s *statement) check(c *constraints, at string) {
	c.notNull(s.text.given, at+"statement")
	if s.text.given {
		c.length(len(s.text.value), 1, MaxStatement, func() string { return s.text.value }, at+"statement")
	}
	if s.parameters != nil {
		c.length(len(s.parameters), 1, 0, func() string { return shape(len(s.parameters)) }, at+"parameters")
	}
	c.returnOnFailure(s.returnOnFailure, at+"returnValuesOnConditionCheckFailure")
}

func (s *statement) convert() Statement {
	return Statement{Text: s.text.value, Parameters: s.parameters, ReturnOnFailure: s.returnOnFailure.value == "ALL_OLD"}
}

// StatementResponse is the answer to ExecuteStatement.
type StatementResponse struct {
	Items     []attribute.Encoded
	LastKey   attribute.Item // LastEvaluatedKey; nil: none
	NextToken string         // empty: none
	Capacity  *ConsumedCapacity
}

// AppendJSON implements Response.
func (r *StatementResponse) AppendJSON(dst []byte) []byte {
	dst = appendItems(member(append(dst, '{'), "Items"), r.Items)
	if r.NextToken != "" {
		dst = appendStringMember(dst, "NextToken", r.NextToken)
	}
	if r.LastKey != nil {
		dst = attribute.AppendItem(member(dst, "LastEvaluatedKey"), r.LastKey)
	}
	if r.Capacity != nil {
		dst = r.Capacity.appendJSON(member(dst, "ConsumedCapacity"))
	}
	return append(dst, '}')
}
