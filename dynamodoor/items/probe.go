// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
)

// Permitted returns err, or the store's error if the client may not make the request
// at all.
func (r *Runner) Permitted(ctx context.Context, q api.Request, err error) error {
	if err == nil || !r.Tables.Shared() || principal.Of(ctx) == (principal.Principal{}) {
		return err
	}
	probe := impossible(q)
	if probe == nil {
		return err
	}
	refused := r.Backend.Answer(ctx, probe, func(api.Response) error { return nil })
	var e *exception.Error
	if errors.As(refused, &e) && (e.Kind == exception.Validation || e.Kind == exception.TransactionCanceled || e.Kind == exception.ResourceNotFound) {
		return err
	}
	if refused == nil {
		return err
	}
	return refused
}

// ToldOf is what is wrong with a request about a table, for a client that may read
// it, and the store's refusal for others.
func (r *Runner) ToldOf(ctx context.Context, name string, err error) error {
	return r.Permitted(ctx, &api.Scan{Read: api.Read{Table: name}}, err)
}

// NoKey is the key of no item.
func NoKey() attribute.Item {
	return attribute.NewItem(attribute.Attribute{Name: "evenkeel.none", Value: attribute.String("none")})
}

// impossible is a request on the same tables that reads and changes nothing; nil for
// requests that are made of the store anyway.
func impossible(q api.Request) api.Request {
	const noIndex = "evenkeel.none"
	switch q := q.(type) {
	case *api.GetItem:
		return &api.GetItem{Table: q.Table, Key: NoKey()}
	case *api.PutItem:
		return &api.PutItem{Table: q.Table, Item: NoKey()}
	case *api.UpdateItem:
		return &api.UpdateItem{Table: q.Table, Key: NoKey()}
	case *api.DeleteItem:
		return &api.DeleteItem{Table: q.Table, Key: NoKey()}
	case *api.Query:
		return &api.Query{Read: api.Read{Table: q.Table, Index: noIndex, Limit: 1}, KeyCondition: q.KeyCondition}
	case *api.Scan:
		return &api.Scan{Read: api.Read{Table: q.Table, Index: noIndex, Limit: 1}}
	case *api.BatchGetItem:
		p := new(api.BatchGetItem)
		for _, t := range q.Tables {
			p.Tables = append(p.Tables, api.BatchGetTable{Table: t.Table, Keys: []attribute.Item{NoKey()}})
		}
		return p
	case *api.BatchWriteItem:
		p := new(api.BatchWriteItem)
		for _, t := range q.Tables {
			writes := api.BatchWriteTable{Table: t.Table}
			for _, w := range t.Writes {
				if w.Key != nil {
					w.Key = NoKey()
				} else {
					w.Item = NoKey()
				}
				writes.Writes = append(writes.Writes, w)
			}
			p.Tables = append(p.Tables, writes)
		}
		return p
	case *api.TransactGetItems:
		p := new(api.TransactGetItems)
		for _, g := range q.Gets {
			p.Gets = append(p.Gets, api.TransactGet{Table: g.Table, Key: NoKey()})
		}
		return p
	case *api.TransactWriteItems:
		p := new(api.TransactWriteItems)
		for _, a := range q.Actions {
			if a.Kind == api.TransactPut {
				a.Item = NoKey()
			} else {
				a.Key = NoKey()
			}
			p.Actions = append(p.Actions, a)
		}
		return p
	}
	return nil
}
