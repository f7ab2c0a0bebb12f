// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

// Tables finds write-sharded tables by the names (or ARNs) that requests have; nil
// is a table that is not sharded, or none.
type Tables func(name string) *Table

// Plan is what it takes to answer a request: a *Direct, a *Fanout or a *Search.
type Plan interface {
	// String shows the physical requests.
	fmt.Stringer

	// Err returns an error of the store as the client gets it: items in it without
	// what is hidden.
	Err(err error) error
}

// Make returns the plan of a request on items, nil if it names no sharded table
// and is forwarded as it is. Errors are about the logical tables. The plan shares
// the request's memory.
func Make(q api.Request, tables Tables) (Plan, error) {
	p, err := planOf(q, tables)
	if err != nil || p == nil {
		return nil, err
	}
	return arnsOf(q).named(p), nil
}

// planOf is Make, with answers that have the tables' names.
func planOf(q api.Request, tables Tables) (Plan, error) {
	switch q := q.(type) {
	case *api.GetItem:
		if t := tables(q.Table); t != nil {
			if t.mustSearch() {
				return search(q, q.Capacity, tables, sought{t, q.Key})
			}
			return t.getItem(q)
		}
	case *api.PutItem:
		if t := tables(q.Table); t != nil {
			if t.mustSearch() && (q.Condition != nil || q.Return != api.ReturnNone) {
				return t.searchPut(q, tables)
			}
			return t.putItem(q)
		}
	case *api.UpdateItem:
		if t := tables(q.Table); t != nil {
			if t.mustSearch() {
				return search(q, q.Capacity, tables, sought{t, q.Key})
			}
			return t.updateItem(q)
		}
	case *api.DeleteItem:
		if t := tables(q.Table); t != nil {
			if t.mustSearch() {
				return search(q, q.Capacity, tables, sought{t, q.Key})
			}
			return t.deleteItem(q)
		}
	case *api.Query:
		if t := tables(q.Table); t != nil {
			return t.query(q)
		}
	case *api.Scan:
		if t := tables(q.Table); t != nil {
			return t.scan(q)
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
