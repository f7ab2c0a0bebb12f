// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

func (wr *writer) putItem(c *Call, q *api.PutItem) (api.Response, error) {
	return wr.writeSingle(c, &single{
		Write: q.Write, table: q.Table, key: q.Item, condition: q.Condition, blind: true,
		check: func(sh *shape) error { return sh.Table.CheckItem(q.Item) },
		apply: func(*shape, attribute.Item) (attribute.Item, error) { return q.Item, nil },
	})
}
