// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

// Tables finds write-sharded tables by the names or ARNs in requests. It returns nil for a table
// that is not sharded or does not exist.
type Tables func(name string) *Table

// Plan says how to answer a request. It is a *Direct, a *Fanout or a *Search.
type Plan interface {
	// String describes the physical requests.
	fmt.Stringer

	// Err converts the store's error into the client's: it removes hidden attributes from the
	// items.
	Err(err error) error
}

// Make returns the plan of a request on items. It returns nil if the request names no sharded
// table, so that the door forwards it unchanged. Errors are about the logical tables. The plan
// shares the request's memory.
func Make(q api.Request, tables Tables) (Plan, error) {
	p, err := planOf(q, tables)
	if err != nil || p == nil {
		return nil, err
	}
	return arnsOf(q).named(p), nil
}

// planOf makes the plan, whose answers use the tables' names and not their ARNs.
func planOf(q api.Request, tables Tables) (Plan, error) {
	switch q := q.(type) {
	case *api.GetItem:
		if t := tables(q.Table); t != nil {
			if t.mustSearch() {
				return search(q, q.Capacity, tables, sought{t, q.Key})
			}
			return getItem(t, q)
		}
	case *api.PutItem:
		if t := tables(q.Table); t != nil {
			if t.mustSearch() && (q.Condition != nil || q.Return != api.ReturnNone) {
				return searchPut(t, q, tables)
			}
			return putItem(t, q)
		}
	case *api.UpdateItem:
		if t := tables(q.Table); t != nil {
			if t.mustSearch() {
				return search(q, q.Capacity, tables, sought{t, q.Key})
			}
			return updateItem(t, q)
		}
	case *api.DeleteItem:
		if t := tables(q.Table); t != nil {
			if t.mustSearch() {
				return search(q, q.Capacity, tables, sought{t, q.Key})
			}
			return deleteItem(t, q)
		}
	case *api.Query:
		if t := tables(q.Table); t != nil {
			return query(t, q)
		}
	case *api.Scan:
		if t := tables(q.Table); t != nil {
			return scan(t, q)
		}
	case *api.BatchGetItem:
		return batchGet(q, tables)
	case *api.BatchWriteItem:
		return batchWrite(q, tables)
	case *api.TransactGetItems:
		return transactGet(q, tables)
	case *api.TransactWriteItems:
		return transactWrite(q, tables)
	}
	return nil, nil
}
