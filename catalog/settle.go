// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/schema"
)

// verdict says what an entry means for the physical table of its name.
type verdict struct {
	applies  bool // the table has the entry's layout
	complete bool // the operation took place, and its entry must say so
	undo     bool // the operation did not and will not take place, and its entry must say so
}

// judge compares an entry with its physical table. t is nil if there is none.
func (c *Catalog) judge(e *Entry, t *schema.Table) verdict {
	fits := false
	if t != nil {
		_, fits = Logical(t, e.Layout)
	}
	switch e.State {
	case Creating:
		if fits {
			return verdict{applies: true, complete: true}
		}
		return verdict{undo: c.expired(e)}
	case Dropping:
		if fits && t.ID == e.PhysicalID() {
			return verdict{applies: true, undo: c.expired(e)}
		}
		return verdict{complete: true}
	}
	return verdict{applies: fits && t.ID == e.PhysicalID()}
}

// Settle returns the entries that apply to the tables of the physical schema s. It also completes
// or undoes operations that other doors left half-done. If it cannot write an entry, it leaves it
// for the next time; the result does not depend on that.
func (c *Catalog) Settle(ctx context.Context, entries []*Entry, s *schema.Schema) (applied, stale []*Entry) {
	for _, e := range entries {
		t := s.Table(e.Keyspace, e.Physical)
		is := c.judge(e, t)
		if c.ends(e, t, is) {
			if err := c.end(ctx, e, t, is); err != nil {
				c.opts.Log.Warn("an operation that ended half-way is not brought to an end yet", "table", e.String(), "state", string(e.State), "error", err)
			}
		}
		switch {
		case is.applies && e.State == Creating:
			applied = append(applied, e.active(t))
		case is.applies:
			applied = append(applied, e)
		case e.State == Active:
			stale = append(stale, e)
		}
	}
	return applied, stale
}

// ends says whether to write the outcome of an operation. The door that drops a table writes that
// itself, after all nodes have dropped the table: a node can still name it in statements when its
// schema tables do not show it any more.
func (c *Catalog) ends(e *Entry, t *schema.Table, is verdict) bool {
	if e.State == Dropping && t == nil {
		return c.expired(e)
	}
	return is.complete || is.undo
}

// end writes the outcome of an operation. If the transaction is not applied, the operation itself
// or another door has already written it.
func (c *Catalog) end(ctx context.Context, e *Entry, t *schema.Table, is verdict) error {
	var err error
	switch {
	case e.State == Creating && is.complete:
		_, err = c.replace(ctx, e, e.active(t))
	case e.State == Dropping && is.undo:
		_, err = c.replace(ctx, e, e.in(Active))
	default:
		_, err = c.remove(ctx, e)
	}
	return err
}
