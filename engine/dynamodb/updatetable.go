// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// updateTable changes a table. A new index is filled in the background from the existing items, and
// writes keep it up to date from now on. A deleted index disappears at once. The answer has status
// UPDATING, as AWS's has.
func (df *definer) updateTable(q *api.UpdateTable) (api.Response, error) {
	df.tables.Lock()
	defer df.tables.Unlock()
	t, err := df.tables.named(q.Table)
	if err != nil {
		return nil, err
	}
	old := t.shape.Load()
	changed, err := old.Table.Apply(&q.Change)
	if err != nil {
		return nil, err
	}
	now := df.clock()
	r := old.record.clone()
	r.Table = changed
	shown := *changed
	shown.Status = schema.Updating
	shown.Global = slices.Clone(changed.Global)
	if changed.Billing == schema.PayPerRequest && old.Table.Billing != schema.PayPerRequest {
		changed.BillingChanged = now
	}
	if p, was := changed.Provisioned, old.Table.Provisioned; p != was {
		if p.Read > was.Read || p.Write > was.Write {
			changed.ProvisionedRaised = now
		}
		if p.Read < was.Read || p.Write < was.Write {
			changed.ProvisionedLowered = now
			changed.Decreases++
		}
	}
	var gone []uint16
	changed.Global = slices.DeleteFunc(changed.Global, func(ix schema.Index) bool {
		if ix.Status != schema.Deleting {
			return false
		}
		gone = append(gone, r.Indexes[ix.Name])
		delete(r.Indexes, ix.Name)
		return true
	})
	created := false
	for i := range changed.Global {
		ix := &changed.Global[i]
		ix.ARN = changed.ARN + "/index/" + ix.Name
		if ix.Status == schema.Creating {
			ix.Backfilling = true
			created = true
		}
	}
	changed.Definitions = usedDefinitions(changed)
	changed.Status = schema.Active
	if err := r.number(); err != nil {
		return nil, err
	}
	begin, undo, ended := func(*pebble.Batch) error { return nil }, func() {}, func() {}
	if changed.Stream.Enabled && !old.Table.Stream.Enabled {
		begin, undo = df.streams.Begin(changed)
		shown.StreamLabel = changed.StreamLabel
	}
	err = df.tables.redefine(t, r, func(b *pebble.Batch) error {
		if err := begin(b); err != nil {
			return err
		}
		if !changed.Stream.Enabled {
			var err error
			if ended, err = df.streams.End(b, old.Table); err != nil {
				return err
			}
		}
		for _, id := range gone {
			if err := old.removeIndex(b, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		undo()
		return nil, err
	}
	ended()
	if created {
		df.filler.start(t)
	}
	size, err := df.size(t)
	if err != nil {
		return nil, err
	}
	return &api.TableResponse{Table: &shown, Size: size}, nil
}

// usedDefinitions returns the definitions of attributes that belong to a key, in their order.
func usedDefinitions(t *schema.Table) []schema.Definition {
	return slices.DeleteFunc(slices.Clone(t.Definitions), func(d schema.Definition) bool {
		has := func(ix schema.Index) bool { return ix.Key.Has(d.Name) }
		return !t.Key.Has(d.Name) && !slices.ContainsFunc(t.Local, has) && !slices.ContainsFunc(t.Global, has)
	})
}
