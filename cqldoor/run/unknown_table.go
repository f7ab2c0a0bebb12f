// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/cqldoor/tables"
)

// unknown is a statement with its tables that the door does not know.
type unknown struct {
	x              *tables.Schemas
	relays         *request.Relays
	keyspace, text string
	tables         []syntax.Name
}

// look refreshes the door's schema if the store has one of the unknown tables.
func (u *unknown) look(ctx context.Context) error {
	for _, n := range u.tables {
		if !u.x.View.Load().Lacks(n.Keyspace, n.Name) {
			continue // another request has looked
		}
		found, err := u.x.Catalog.Exists(ctx, n.Keyspace, n.Name)
		if err != nil {
			return err
		}
		if found {
			return u.x.Refresh(ctx)
		}
	}
	return nil
}
