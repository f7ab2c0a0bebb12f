// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"context"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// A table that was plain once is in a physical table of another name. While it becomes a sharded one,
// it is in two (package mover).

// moving returns an error for a request that would change only one of the two physical tables.
func (r *Definer) moving(ctx context.Context, e *tables.Entry) error {
	if e == nil || e.Change == nil || e.Change.Second == "" {
		return nil
	}
	return r.Items.ToldOf(ctx, e.Table, exception.New(exception.ResourceInUse, "table %s is being made a sharded one, by moving its items to another physical table (step %s); "+
		"try again when that is done, or take it back (evenkeel reshard rollback)", e.Table, e.Change.Step))
}

// physicalARN returns the ARN of a table's physical table. e is nil for a plain table.
func physicalARN(e *tables.Entry, arn string) string {
	if e == nil || e.Physical == e.Table {
		return arn
	}
	return strings.TrimSuffix(arn, e.Table) + e.Physical
}

// listed returns the names of tables, given those of the store, as clients know them.
func (r *Definer) listed(names []string) []string {
	logical := make(map[string]string)
	hides := make(map[string]bool)
	for name, e := range r.Tables.All() {
		if e.Physical != name {
			logical[e.Physical], hides[name] = name, true
		}
	}
	out := names[:0:0]
	for _, name := range names {
		switch shown, renamed := logical[name]; {
		case renamed:
			out = append(out, shown)
		case !catalog.Owns(name) && !hides[name]:
			out = append(out, name)
		}
	}
	return out
}

// atStore returns the store's name of a table that clients know by a name.
func (r *Definer) atStore(name string) string {
	if e := r.Tables.Entry(name); e != nil {
		return e.Physical
	}
	return name
}
