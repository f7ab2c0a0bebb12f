// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/partitioner"
)

// batchPlan is a BATCH ready to be executed.
type batchPlan struct {
	*analysis.Batch
	writes []*writePlan
}

func newBatchPlan(s *state, a *analysis.Batch) (*batchPlan, error) {
	p := &batchPlan{Batch: a}
	for _, w := range a.Writes {
		wp, err := newWritePlan(s, w)
		if err != nil {
			return nil, err
		}
		p.writes = append(p.writes, wp)
	}
	return p, nil
}

// batch serves a BATCH message.
func (c *call) batch(body []byte) (outcome, error) {
	req, err := wire.ParseBatch(c.version, body)
	if err != nil {
		return answered, err
	}
	c.params = req.Params
	if err := checkTimestamp(&c.params); err != nil {
		return answered, err
	}
	c.times()
	p := &batchPlan{}
	var statements []*analysis.Write
	var envs []*eval.Env
	s := c.engine.state.Load()
	for it := req.Iter(); it.Next(); {
		plan, err := c.batchStatement(s, &it.BatchStatement)
		if err != nil {
			return answered, err
		}
		if plan.write == nil {
			return answered, wire.Invalidf("Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.")
		}
		env := c.env
		env.Values = nil
		values := it.Values.Slice(nil)
		if len(values) != len(plan.binds) {
			return answered, wire.Invalidf("There were %d markers(?) in CQL but %d bound variables", len(plan.binds), len(values))
		}
		for i := range values {
			env.Values = append(env.Values, eval.Value{Bytes: values[i].Bytes, Unset: values[i].Unset})
		}
		p.writes = append(p.writes, plan.write)
		statements = append(statements, plan.write.Write)
		envs = append(envs, &env)
	}
	if p.Batch, err = analysis.NewBatch(batchKind(req.Type), statements); err != nil {
		return answered, err
	}
	bound, err := p.BindEach(envs)
	if err == errAtLength {
		return c.refuse(writes)
	} else if err != nil {
		return answered, err
	}
	return c.applyBatch(p, bound)
}

func batchKind(t wire.BatchType) syntax.BatchKind {
	switch t {
	case wire.BatchUnlogged:
		return syntax.BatchUnlogged
	case wire.BatchCounter:
		return syntax.BatchCounter
	}
	return syntax.BatchLogged
}

// batchType is how errors of a batch call it.
func batchType(k syntax.BatchKind) string {
	switch k {
	case syntax.BatchUnlogged:
		return wire.WriteUnloggedBatch
	case syntax.BatchCounter:
		return wire.WriteCounter
	}
	return wire.WriteBatch
}

func (c *call) batchStatement(s *state, st *wire.BatchStatement) (*plan, error) {
	if !st.Prepared {
		return newPlan(s, string(st.Text), c.keyspace())
	}
	prep := c.engine.plans.get(st.ID)
	if prep == nil {
		return nil, unprepared(st.ID)
	}
	return prep.current(c.engine)
}

// writeBatch executes a BATCH statement.
func (c *call) writeBatch(p *batchPlan) (outcome, error) {
	bound, err := p.Bind(&c.env)
	if err == errAtLength {
		return c.refuse(writes)
	} else if err != nil {
		return answered, err
	}
	return c.applyBatch(p, bound)
}

func (c *call) applyBatch(p *batchPlan, bound *analysis.BoundBatch) (outcome, error) {
	if len(p.writes) == 0 {
		c.answer(wire.OpResult, voidBody)
		return answered, nil
	}
	w := writing{c: c}
	for i, b := range bound.Writes {
		w.writes = append(w.writes, boundWrite{b, p.writes[i]})
	}
	if err := w.prepare(bound.Timestamp); err == errAtLength {
		return c.refuse(writes)
	} else if err != nil {
		return answered, err
	}
	if p.Conditional {
		if err := checkConditionalLevel(&c.params); err != nil {
			return answered, err
		}
		if !c.detached {
			return c.refuse(writes)
		}
		if err := w.afford(wire.WriteCAS); err != nil {
			return answered, err
		}
		return answered, w.casBatch()
	}
	for _, wp := range p.writes {
		if err := wp.checkLevel(&c.params); err != nil {
			return answered, err
		}
	}
	warning, err := w.checkSize()
	if err != nil {
		return answered, err
	}
	if warning != "" {
		c.warnings = append(c.warnings, warning)
	}
	if p.Kind != syntax.BatchLogged {
		if warning := w.unloggedWarning(); warning != "" {
			c.warnings = append(c.warnings, warning)
		}
	}
	if w.counters || w.reads || len(c.warnings) > 0 {
		if !c.detached {
			c.warnings = nil
			return c.refuse(writes)
		}
		if err := w.afford(batchType(p.Kind)); err != nil {
			return answered, err
		}
		return answered, w.commit()
	}
	if err := w.afford(batchType(p.Kind)); err != nil {
		return answered, err
	}
	c.engine.commits.add(c, &w)
	return queued, nil
}

// unloggedPartitions is how many partitions an unlogged batch may have before
// Cassandra warns (unlogged_batch_across_partitions_warn_threshold).
const unloggedPartitions = 10

func (w *writing) unloggedWarning() string {
	partitions := map[string]bool{}
	for i := range w.writes {
		b := &w.writes[i]
		for _, key := range b.Keys.All() {
			partitions[b.Table.Keyspace+"."+b.Table.Name+"\x00"+string(partitioner.AppendComposite(nil, key...))] = true
		}
	}
	if len(partitions) <= unloggedPartitions {
		return ""
	}
	tables := w.tables()
	plural := ""
	if len(tables) > 1 {
		plural = "s"
	}
	return fmt.Sprintf("Unlogged batch covering %d partitions detected against table%s [%s]. "+
		"You should use a logged batch for atomicity, or asynchronous writes for performance.",
		len(partitions), plural, strings.Join(tables, ", "))
}
