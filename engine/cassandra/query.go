// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"math"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// query serves a QUERY.
func (c *call) query(body []byte) (outcome, error) {
	req, err := wire.ParseQuery(c.version, body)
	if err != nil {
		return answered, err
	}
	c.params = req.Params
	p, err := newPlan(c.engine.state.Load(), string(req.Text), c.keyspace())
	if err != nil {
		return answered, err
	}
	err = c.bindValues(&c.params.Values, p, func(int, int) error {
		return wire.Invalidf("Invalid amount of bind variables")
	})
	if err != nil {
		return answered, err
	}
	return c.executePlan(p, nil)
}

// keyspace returns the keyspace of unqualified names.
func (c *call) keyspace() string {
	if c.params.Has(wire.QueryKeyspace) {
		return string(c.params.Keyspace)
	}
	return c.link.keyspace
}

// execute serves an EXECUTE.
func (c *call) execute(body []byte) (outcome, error) {
	req, err := wire.ParseExecute(c.version, body)
	if err != nil {
		return answered, err
	}
	c.params = req.Params
	prep := c.engine.plans.get(req.ID)
	if prep == nil {
		return answered, unprepared(req.ID)
	}
	p, err := prep.current(c.engine)
	if err != nil {
		return answered, err
	}
	if err := c.bindValues(&c.params.Values, p, wrongCount); err != nil {
		return answered, err
	}
	known := known{resultID: prep.resultID[:]}
	if c.version >= wire.V5 {
		known.resultID = req.MetadataID
	}
	return c.executePlan(p, &known)
}

func wrongCount(want, got int) error {
	return wire.Invalidf("there were %d markers(?) in CQL but %d bound variables", want, got)
}

// known holds what the client knows of the result's columns.
type known struct{ resultID []byte }

// executePlan executes a statement with bound markers. k is nil if the client knows no columns.
func (c *call) executePlan(p *plan, k *known) (outcome, error) {
	if err := checkTimestamp(&c.params); err != nil {
		return answered, err
	}
	c.times()
	switch {
	case p.sel != nil:
		return c.selectRows(p.sel, k)
	case p.write != nil:
		return c.writeRows(p.write)
	case p.batch != nil:
		return c.writeBatch(p.batch)
	}
	switch stmt := p.stmt.(type) {
	case *syntax.Use:
		if p.state.schema.Keyspaces[stmt.Keyspace] == nil {
			return answered, noKeyspace(stmt.Keyspace)
		}
		c.buffer = wire.AppendSetKeyspace(c.buffer[:0], stmt.Keyspace)
		c.answer(wire.OpResult, c.buffer)
		return answered, nil
	case *syntax.Describe:
		return describing{c, []byte(p.text)}.serve(p, stmt)
	}
	if !c.detached {
		return c.refuse(changes)
	}
	if stmt, ok := p.stmt.(*syntax.Truncate); ok {
		return answered, c.truncate(p, stmt)
	}
	return answered, c.changeSchema(p)
}

// checkTimestamp refuses the default timestamp that means none.
func checkTimestamp(p *wire.Params) error {
	if p.Has(wire.QueryDefaultTimestamp) && p.DefaultTimestamp == math.MinInt64 {
		return wire.Errorf(wire.CodeProtocol, "Out of bound timestamp, must be in [%d, %d] (got %d)",
			int64(math.MinInt64+1), int64(math.MaxInt64), int64(math.MinInt64))
	}
	return nil
}
