// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

func (wr *writer) updateItem(c *Call, q *api.UpdateItem) (api.Response, error) {
	return wr.writeSingle(c, &single{
		Write: q.Write, table: q.Table, key: q.Key, condition: q.Condition,
		check: func(sh *shape) error { return checkUpdate(sh, q.Key, q.Update) },
		apply: func(sh *shape, old attribute.Item) (attribute.Item, error) {
			return update(sh, q.Key, q.Update, old)
		},
		changes: q.Update.Changes(),
	})
}

// checkUpdate returns an error if the table does not allow the update.
func checkUpdate(sh *shape, key attribute.Item, u *expression.Update) error {
	if err := sh.Table.CheckKey(key); err != nil {
		return err
	}
	return sh.Table.CheckUpdate(u)
}

// update returns the item after an update; nil if there is none. An item that did not exist begins
// with its key. An update that only removes does not create an item.
func update(sh *shape, key attribute.Item, u *expression.Update, old attribute.Item) (attribute.Item, error) {
	if old == nil {
		if u.OnlyRemoves() {
			return nil, nil
		}
		old = key
	}
	item, err := u.Apply(old)
	if err != nil {
		return nil, err
	}
	return item, sh.Table.CheckUpdated(old, item)
}
