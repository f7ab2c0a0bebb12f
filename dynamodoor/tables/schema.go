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

// schemaLife is for how long a plain table's schema is believed. Changes through
// this door are known at once.
const schemaLife = 10 * time.Second

// seen is a plain table's schema, as it was told then.
type seen struct {
	table *schema.Table
	at    time.Time
}

// Schema is the schema of a table as clients know it.
func (r *Registry) Schema(ctx context.Context, name string) (*schema.Table, error) {
	name = api.TableName(name)
	if name == catalog.Table {
		return nil, ErrNoTable
	}
	if e := r.Entry(name); e != nil {
		if e.Wrong != nil {
			return nil, e.Wrong
		}
		return e.Plan.Logical, nil
	}
	now := time.Now()
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

// SchemaAnew is Schema of a table that has been looked at a moment ago.
func (r *Registry) SchemaAnew(ctx context.Context, name string) (*schema.Table, error) {
	name = api.TableName(name)
	if e := r.Entry(name); e != nil && e.Stale() {
		if _, err := r.Refresh(ctx, name); err != nil {
			return nil, DoorError(err)
		}
	}
	if k, ok := r.schemas.Load(name); ok && time.Since(k.(seen).at) > Glance {
		r.schemas.Delete(name)
	}
	return r.Schema(ctx, name)
}

// ForgetSchema has a table's schema told anew.
func (r *Registry) ForgetSchema(name string) { r.schemas.Delete(api.TableName(name)) }
