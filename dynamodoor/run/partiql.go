// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/partiql"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// PartiQL statements become the requests of the rest of the API, which are planned
// and carried out as if a client had sent them: what they mean is the same for
// plain tables and sharded ones. Where the backend knows PartiQL itself, statements
// on plain tables are forwarded as they are.

// isPartiQL tells whether an operation is one of PartiQL's.
func isPartiQL(operation string) bool {
	switch operation {
	case "ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction":
		return true
	}
	return false
}

// statementsOf are the statements of a request.
func statementsOf(q api.Request) (all []api.Statement) {
	switch q := q.(type) {
	case *api.ExecuteStatement:
		all = append(all, q.Statement)
	case *api.BatchExecuteStatement:
		for i := range q.Statements {
			all = append(all, q.Statements[i].Statement)
		}
	case *api.ExecuteTransaction:
		all = q.Statements
	}
	return all
}

// forwards tells whether a request of statements is the backend's own matter: it
// knows PartiQL, and no statement is about a table that is not plain.
func (r *Router) forwards(q api.Request) bool {
	if !r.backend.Has(q.Operation()) {
		return false
	}
	tables := *r.tables.Load()
	for _, s := range statementsOf(q) {
		parsed, err := partiql.Parse(s.Text, s.Parameters)
		if err != nil {
			return len(tables) == 0 // nobody can tell which table it is about
		}
		if name := simpleName(parsed.Table()); name == catalog.Table || tables[name] != nil {
			return false
		}
	}
	return true
}

// schemaLife is for how long a plain table's schema is believed. Changes through
// this door are known at once.
const schemaLife = 10 * time.Second

// known is a plain table's schema, as it was told then.
type known struct {
	table *schema.Table
	at    time.Time
}

var errNoTable = exception.New(exception.ResourceNotFound, "Requested resource not found")

// Schema is schemaOf.
func (r *Router) Schema(ctx context.Context, name string) (*schema.Table, error) {
	return r.schemaOf(ctx, name)
}

// schemaOf is the schema of a table as clients know it.
func (r *Router) schemaOf(ctx context.Context, name string) (*schema.Table, error) {
	name = simpleName(name)
	if name == catalog.Table {
		return nil, errNoTable
	}
	if e := (*r.tables.Load())[name]; e != nil {
		if e.wrong != nil {
			return nil, e.wrong
		}
		return e.table.Logical, nil
	}
	now := time.Now()
	if k, ok := r.schemas.Load(name); ok && now.Sub(k.(known).at) < schemaLife {
		return k.(known).table, nil
	}
	t, err := r.physical(ctx, name)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, errNoTable
	}
	r.schemas.Store(strings.Clone(name), known{t, now})
	return t, nil
}

// schemaAnew is schemaOf of a table that has been looked at a moment ago.
func (r *Router) schemaAnew(ctx context.Context, name string) (*schema.Table, error) {
	name = simpleName(name)
	if e := (*r.tables.Load())[name]; e != nil && e.stale() {
		if _, err := r.refresh(ctx, name); err != nil {
			return nil, doorError(err)
		}
	}
	if k, ok := r.schemas.Load(name); ok && time.Since(k.(known).at) > glance {
		r.schemas.Delete(name)
	}
	return r.schemaOf(ctx, name)
}

// forget has a table's schema told anew.
func (r *Router) forget(name string) { r.schemas.Delete(simpleName(name)) }

// statements carries out a request of statements.
func (r *Router) statements(ctx context.Context, q api.Request, use func(api.Response) error) error {
	switch q := q.(type) {
	case *api.ExecuteStatement:
		return r.executeStatement(ctx, q, use)
	case *api.BatchExecuteStatement:
		return r.executeBatch(ctx, q, use)
	case *api.ExecuteTransaction:
		return r.executeTransaction(ctx, q, use)
	}
	return fmt.Errorf("operation %s is none of PartiQL's", q.Operation())
}

func (r *Router) executeStatement(ctx context.Context, q *api.ExecuteStatement, use func(api.Response) error) error {
	s, err := partiql.Parse(q.Text, q.Parameters)
	if err != nil {
		return err
	}
	if s.Kind() == partiql.Exists {
		return errExists
	}
	t, err := r.schemaOf(ctx, s.Table())
	if err != nil {
		return err
	}
	answer := &api.StatementResponse{Items: []attribute.Encoded{}}
	if s.Kind() == partiql.Select {
		err = r.selectItems(ctx, q, s, t, answer)
	} else {
		var item attribute.Encoded
		item, answer.Capacity, err = r.write(ctx, s, t, api.Write{ReturnOnFailure: q.ReturnOnFailure, Capacity: q.Capacity})
		if item != nil {
			answer.Items = append(answer.Items, item)
		}
	}
	if err != nil {
		return err
	}
	return use(answer)
}

var errExists = exception.Invalid("EXISTS can only be used in ExecuteTransaction write requests.")

// told returns what is wrong with a statement, which tells of its table, to who may
// carry out such a one.
func (r *Router) told(ctx context.Context, s *partiql.Statement, err error) error {
	var like api.Request
	switch s.Kind() {
	case partiql.Insert:
		like = &api.PutItem{Table: s.Table()}
	case partiql.Update:
		like = &api.UpdateItem{Table: s.Table()}
	case partiql.Delete:
		like = &api.DeleteItem{Table: s.Table()}
	default:
		like = &api.GetItem{Table: s.Table()}
	}
	return r.permitted(ctx, like, err)
}

// selectItems answers a page of a SELECT.
func (r *Router) selectItems(ctx context.Context, q *api.ExecuteStatement, s *partiql.Statement, t *schema.Table, answer *api.StatementResponse) error {
	selection, err := s.Select(t, q.Consistent)
	if is(err, exception.Validation) { // an index may have been made since
		if t, err = r.schemaAnew(ctx, s.Table()); err != nil {
			return err
		}
		selection, err = s.Select(t, q.Consistent)
	}
	if err != nil {
		return r.told(ctx, s, err)
	}
	at, err := partiql.ParseToken(q, selection.Len())
	if err != nil {
		return err
	}
	scanned, size := 0, 0
	for ; at.Read < selection.Len(); at = (partiql.Position{Read: at.Read + 1}) {
		limit := 0
		if q.Limit > 0 {
			limit = q.Limit - scanned
		}
		if q.Limit > 0 && limit <= 0 || size >= plan.PageSize {
			answer.NextToken = at.Token(q)
			return nil
		}
		var last attribute.Item
		err := r.execute(ctx, selection.Request(at.Read, at.After, limit, q.Capacity), func(a api.Response) error {
			page, err := own(a.(*api.ItemsResponse))
			if err != nil {
				return err
			}
			scanned += page.ScannedCount
			last = page.LastKey
			if page.Capacity != nil {
				addConsumed(&answer.Capacity, page.Capacity)
			}
			for _, text := range page.Items {
				size += len(text)
				shown, ok, err := selection.Show(at.Read, text)
				if err != nil {
					return err
				}
				if ok {
					answer.Items = append(answer.Items, shown)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if last != nil {
			at.After = last
			answer.NextToken, answer.LastKey = at.Token(q), last
			return nil
		}
	}
	return nil
}

// addConsumed adds what a request took, whose memory ends with its answer.
func addConsumed(to **api.ConsumedCapacity, took *api.ConsumedCapacity) {
	if *to == nil {
		*to = &api.ConsumedCapacity{Table: strings.Clone(took.Table), Detail: took.Detail, Display: took.Display}
	}
	(*to).Add(took)
}

// write carries out an INSERT, UPDATE or DELETE, and returns what it is to return.
func (r *Router) write(ctx context.Context, s *partiql.Statement, t *schema.Table, w api.Write) (item attribute.Encoded, took *api.ConsumedCapacity, err error) {
	q, err := s.Write(t, w)
	if err != nil {
		return nil, nil, r.told(ctx, s, err)
	}
	err = r.execute(ctx, q, func(a api.Response) error {
		answer := a.(*api.ItemResponse)
		if len(answer.Attributes) > len("{}") { // nothing that was changed is there: no item, not an empty one
			item = append(attribute.Encoded{}, answer.Attributes...)
		}
		if answer.Capacity != nil {
			addConsumed(&took, answer.Capacity)
		}
		return nil
	})
	if s.Kind() == partiql.Insert && is(err, exception.ConditionalCheckFailed) {
		err = partiql.ErrDuplicate
	}
	return item, took, err
}

func is(err error, k exception.Kind) bool {
	var e *exception.Error
	return errors.As(err, &e) && e.Kind == k
}
