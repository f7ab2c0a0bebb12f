// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

func (wr *writer) deleteItem(c *Call, q *api.DeleteItem) (api.Response, error) {
	return wr.writeSingle(c, &single{
		Write: q.Write, table: q.Table, key: q.Key, condition: q.Condition,
		check: func(sh *shape) error { return sh.Table.CheckKey(q.Key) },
		apply: func(*shape, attribute.Item) (attribute.Item, error) { return nil, nil },
	})
}
