// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// BatchExecuteStatement carries out up to 25 PartiQL statements independently of each other.
type BatchExecuteStatement struct {
	Statements []BatchStatement
	Capacity   ReturnConsumedCapacity
}

// BatchStatement is one of the statements.
type BatchStatement struct {
	Statement
	Consistent bool
}

// Operation implements Request.
func (*BatchExecuteStatement) Operation() string { return "BatchExecuteStatement" }

// MaxBatchStatements is the largest number of statements in a batch.
const MaxBatchStatements = 25

// Decode implements Request. It does not check the values of parameters: each statement's
// CheckParameters does.
func (q *BatchExecuteStatement) Decode(d *Decoder, body []byte) error {
	in, err := d.readStatements(body, "Statements", "BatchStatementRequest")
	if err != nil {
		return err
	}
	var c constraints
	in.check(&c, "statements", MaxBatchStatements)
	c.capacity(&in.input)
	if err := c.err(); err != nil {
		return err
	}
	q.Capacity = in.returnConsumedCapacity()
	for i := range in.list {
		q.Statements = append(q.Statements, BatchStatement{Statement: in.list[i].convert(), Consistent: in.list[i].consistent.value})
	}
	return nil
}

// AppendJSON implements Request.
func (q *BatchExecuteStatement) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "Statements"), '[')
	for i := range q.Statements {
		dst = element(dst, i)
		dst = q.Statements[i].appendMembers(append(dst, '{'))
		if q.Statements[i].Consistent {
			dst = append(member(dst, "ConsistentRead"), "true"...)
		}
		dst = append(dst, '}')
	}
	return append(q.Capacity.append(append(dst, ']')), '}')
}

// statements holds the members of a request with several statements as they came.
type statements struct {
	input
	list   []listedStatement
	n      int // the number of statements; list holds at most one more than may be given
	listed bool
	token  text
}

type listedStatement struct {
	statement
	consistent flag
}

// readStatements reads a request whose statements are in a list called name. Its elements are
// structures that error messages call class.
func (d *Decoder) readStatements(body []byte, name, class string) (*statements, error) {
	in := new(statements)
	r := &d.reader
	if !d.begin(body) {
		return in, d.end()
	}
	for r.Next() {
		switch {
		case r.Peek() == jsontext.Null:
			r.Skip()
		case r.Name() == name:
			in.listed = true
			in.list, in.n = d.readStatementList(class)
		case r.Name() == "ReturnConsumedCapacity":
			in.capacity = readText(r)
		case r.Name() == "ClientRequestToken":
			in.token = readText(r)
		default:
			r.Skip()
		}
	}
	return in, d.end()
}

func (d *Decoder) readStatementList(class string) (list []listedStatement, n int) {
	r := &d.reader
	if !attribute.EnterList(r) {
		return nil, 0
	}
	for ; r.Next(); n++ {
		if n > MaxTransaction {
			r.Skip()
			continue
		}
		var s listedStatement
		if enterElement(r, class) {
			for r.Next() {
				switch {
				case r.Peek() == jsontext.Null:
					r.Skip()
				case d.readStatement(&s.statement):
				case r.Name() == "ConsistentRead":
					s.consistent = readFlag(r)
				default:
					r.Skip()
				}
			}
		}
		list = append(list, s)
	}
	return list, n
}

func (in *statements) check(c *constraints, at string, most int) {
	c.notNull(in.listed, at)
	if in.listed {
		c.length(in.n, 1, most, func() string { return shape(in.n) }, at)
	}
	for i := range in.list {
		in.list[i].check(c, at+"."+strconv.Itoa(i+1)+".member.")
	}
}

// BatchStatementResponse is the answer to BatchExecuteStatement.
type BatchStatementResponse struct {
	Results  []StatementResult // one for each statement
	Capacity []ConsumedCapacity
}

// StatementResult is the result of one statement.
type StatementResult struct {
	Table string            // empty if the table is not known
	Item  attribute.Encoded // nil: none
	Error *StatementError
}

// StatementError is the error of one statement of a batch.
type StatementError struct {
	Code, Message string
	Item          attribute.Encoded // as exception.Error.Item
}

// AppendJSON implements Response.
func (r *BatchStatementResponse) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "Responses"), '[')
	for i := range r.Results {
		dst = element(dst, i)
		dst = r.Results[i].appendJSON(dst)
	}
	return append(appendCapacities(append(dst, ']'), r.Capacity), '}')
}

func (r *StatementResult) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if e := r.Error; e != nil {
		dst = appendStringMember(append(member(dst, "Error"), '{'), "Code", e.Code)
		dst = appendStringMember(dst, "Message", e.Message)
		if e.Item != nil {
			dst = append(member(dst, "Item"), e.Item...)
		}
		dst = append(dst, '}')
	}
	if r.Table != "" {
		dst = appendStringMember(dst, "TableName", r.Table)
	}
	if r.Item != nil {
		dst = append(member(dst, "Item"), r.Item...)
	}
	return append(dst, '}')
}
