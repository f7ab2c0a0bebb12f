// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
)

// schemaLife is the time for which the door trusts a plain table's schema. It learns of changes
// through this door at once.
const schemaLife = 10 * time.Second

// seen is a plain table's schema with the time of its description.
type seen struct {
	table *schema.Table
	at    time.Time
}

// Schema returns the schema of a table as clients know it.
func (r *Registry) Schema(ctx context.Context, name string) (*schema.Table, error) {
	name = api.TableName(name)
	if catalog.Owns(name) {
		return nil, ErrNoTable
	}
	if e := r.Entry(name); e != nil {
		if e.Wrong != nil {
			return nil, e.Wrong
		}
		return e.Plan.Logical, nil
	}
	now := r.now()
	if k, ok := r.schemas.Load(name); ok && now.Sub(k.(seen).at) < schemaLife {
		return k.(seen).table, nil
	}
	t, err := r.Physical(ctx, name)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, ErrNoTable
	}
	r.schemas.Store(strings.Clone(name), seen{t, now})
	return t, nil
}

// SchemaAnew returns the schema of a table from a description that is at most a moment old.
func (r *Registry) SchemaAnew(ctx context.Context, name string) (*schema.Table, error) {
	name = api.TableName(name)
	if e := r.Entry(name); e != nil && r.Stale(e) {
		if _, err := r.Refresh(ctx, name); err != nil {
			return nil, DoorError(err)
		}
	}
	if k, ok := r.schemas.Load(name); ok && r.now().Sub(k.(seen).at) > Glance {
		r.schemas.Delete(name)
	}
	return r.Schema(ctx, name)
}

// ForgetSchema makes the next Schema of a table describe it again.
func (r *Registry) ForgetSchema(name string) { r.schemas.Delete(api.TableName(name)) }
