// SPDX-License-Identifier: Apache-2.0

package api

// ExecuteTransaction carries out all of up to 100 PartiQL statements, or none. The statements are
// either all reads or all writes.
type ExecuteTransaction struct {
	Statements []Statement
	Token      string // ClientRequestToken; empty: none
	Capacity   ReturnConsumedCapacity
}

// Operation implements Request.
func (*ExecuteTransaction) Operation() string { return "ExecuteTransaction" }

// Decode implements Request.
func (q *ExecuteTransaction) Decode(d *Decoder, body []byte) error {
	in, err := d.readStatements(body, "TransactStatements", "ParameterizedStatement")
	if err != nil {
		return err
	}
	var c constraints
	in.check(&c, "transactStatements", MaxTransaction)
	c.capacity(&in.input)
	if in.token.given {
		c.length(len(in.token.value), 1, maxToken, func() string { return in.token.value }, "clientRequestToken")
	}
	if err := c.err(); err != nil {
		return err
	}
	q.Token, q.Capacity = in.token.value, in.returnConsumedCapacity()
	for i := range in.list {
		s := in.list[i].convert()
		if err := s.CheckParameters(); err != nil {
			return err
		}
		q.Statements = append(q.Statements, s)
	}
	return nil
}

// AppendJSON implements Request.
func (q *ExecuteTransaction) AppendJSON(dst []byte) []byte {
	dst = append(member(append(dst, '{'), "TransactStatements"), '[')
	for i := range q.Statements {
		dst = element(dst, i)
		dst = append(q.Statements[i].appendMembers(append(dst, '{')), '}')
	}
	dst = append(dst, ']')
	if q.Token != "" {
		dst = appendStringMember(dst, "ClientRequestToken", q.Token)
	}
	return append(q.Capacity.append(dst), '}')
}
