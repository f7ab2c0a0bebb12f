// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/registry"
)

// judge compares an entry with its physical table. t is nil if there is none.
func (c *Catalog) judge(e *Entry, t *schema.Table) registry.Verdict {
	its := false
	if t != nil {
		_, fits := Logical(t, e.Layout)
		its = fits && (e.State == registry.Creating || t.ID == e.PhysicalID()) // while Creating, the id is not known
	}
	return registry.Judge(e.State, its, c.expired(e))
}

// Settle returns the entries that apply to the tables of the physical schema s. It also completes
// or undoes operations that other doors left half-done. If it cannot write an entry, it leaves it
// for the next time; the result does not depend on that.
func (c *Catalog) Settle(ctx context.Context, entries []*Entry, s *schema.Schema) (applied, stale []*Entry) {
	unfinished := map[string]bool{}
	for _, e := range entries {
		unfinished[e.String()] = e.halfWay()
	}
	c.watched.Keep(func(table string) bool { return unfinished[table] })
	for _, e := range entries {
		t := s.Table(e.Keyspace, e.Physical)
		is := c.judge(e, t)
		if err := c.write(ctx, e, t, is.Write); err != nil {
			c.opts.Log.Warn("the door cannot end yet an operation that was left half-way", "table", e.String(), "state", string(e.State), "error", err)
		}
		switch {
		case is.Applies && e.State == registry.Creating:
			applied = append(applied, e.active(t))
		case is.Applies:
			applied = append(applied, e)
		case e.State == registry.Active:
			stale = append(stale, e)
		}
	}
	return applied, stale
}

// write writes the outcome of an operation. If the transaction is not applied, the operation itself
// or another door has already written it.
func (c *Catalog) write(ctx context.Context, e *Entry, t *schema.Table, a registry.Action) (err error) {
	switch a {
	case registry.Activate:
		_, err = c.layouts.replace(ctx, e, e.active(t))
	case registry.Remove:
		_, err = c.layouts.remove(ctx, e)
	}
	return err
}
