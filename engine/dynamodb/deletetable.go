// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// deleteTable removes a table at once. The answer has status DELETING, as AWS's has.
func (df *definer) deleteTable(q *api.DeleteTable) (api.Response, error) {
	df.tables.Lock()
	defer df.tables.Unlock()
	t, err := df.tables.named(q.Table)
	if err != nil {
		return nil, err
	}
	shown := *t.shape.Load().Table
	if shown.DeletionProtection {
		return nil, exception.Invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	if err := df.tables.drop(t); err != nil {
		return nil, err
	}
	// AWS shows no other members of such a table.
	shown.Status, shown.Created, shown.Definitions, shown.Key, shown.Local, shown.Global = schema.Deleting, time.Time{}, nil, schema.Key{}, nil, nil
	return &api.TableResponse{Table: &shown, Size: emptySize(&shown)}, nil
}
