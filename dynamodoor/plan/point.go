// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

// These are the operations on single items. Each goes to the one shard that the key determines.

func getItem(t *Table, q *api.GetItem) (Plan, error) {
	key, err := t.Key(q.Key)
	if err != nil {
		return nil, err
	}
	if err := checkPaths(slices.Values(q.Projection.Paths())); err != nil {
		return nil, err
	}
	if err := t.Logical.CheckPaths(slices.Values(q.Projection.Paths())); err != nil {
		return nil, err
	}
	p := *q
	p.Table, p.Key = t.Physical, key
	return direct(t, &p), nil
}

func putItem(t *Table, q *api.PutItem) (Plan, error) {
	item, err := t.checkPut(q.Item, q.Condition)
	if err != nil {
		return nil, err
	}
	p := *q
	p.Table, p.Item = t.Physical, item
	if p.Condition, err = t.guard(q.Condition, q.Item); err != nil {
		return nil, err
	}
	d := direct(t, &p)
	d.Buckets, d.Filled = t.BucketOf(q.Item), t.filledBy(q.Item)
	return d, nil
}

func deleteItem(t *Table, q *api.DeleteItem) (Plan, error) {
	key, err := t.Key(q.Key)
	if err != nil {
		return nil, err
	}
	if err := t.checkCondition(q.Condition); err != nil {
		return nil, err
	}
	p := *q
	p.Table, p.Key = t.Physical, key
	return direct(t, &p), nil
}

func updateItem(t *Table, q *api.UpdateItem) (Plan, error) {
	key, update, err := t.checkUpdate(q.Key, q.Update, q.Condition)
	if err != nil {
		return nil, err
	}
	p := *q
	p.Table, p.Key, p.Update = t.Physical, key, update
	if p.Condition, err = t.guard(q.Condition, q.Key); err != nil {
		return nil, err
	}
	d := direct(t, &p)
	d.Buckets, d.Filled = t.BucketOf(q.Key), t.filledBy(q.Key)
	if q.Return != api.ReturnUpdatedOld && q.Return != api.ReturnUpdatedNew {
		return d, nil
	}
	// If the logical partition key is not a key of the physical table, the update sets it, too. The
	// client did not name it.
	answer := d.answer
	d.answer = func(r api.Response) error {
		if err := answer(r); err != nil {
			return err
		}
		out := r.(*api.ItemResponse)
		if out.Attributes == nil {
			return nil
		}
		also := ""
		if t.hidesKey() {
			also = t.hash.Name
		}
		if out.Attributes = strip(out.Attributes, also); string(out.Attributes) == "{}" {
			out.Attributes = nil
		}
		return nil
	}
	return d, nil
}

// direct returns the plan of a physical request that involves only this table.
func direct(t *Table, q api.Request) *Direct {
	return &Direct{Request: q, answer: func(r api.Response) error { return t.visible(r) }, of: func(int) *Table { return t }}
}
