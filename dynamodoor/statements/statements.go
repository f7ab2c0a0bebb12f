// SPDX-License-Identifier: Apache-2.0

package statements

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/partiql"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/items"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// Runner carries out statements. It is safe for concurrent use. Its maker sets the fields.
type Runner struct {
	Backend backend.Store
	Tables  *tables.Registry
	Items   *items.Runner
	Log     *slog.Logger
	Fanout  int // largest number of statements of a batch under way at a time
}

// Forwards reports whether the backend can answer a request of statements itself: it knows PartiQL,
// and all statements are on plain tables.
func (r *Runner) Forwards(q api.Request) bool {
	if !r.Backend.Has(q.Operation()) {
		return false
	}
	tables := r.Tables.All()
	for _, s := range api.StatementsOf(q) {
		parsed, err := partiql.Parse(s.Text, s.Parameters)
		if err != nil {
			return len(tables) == 0 // the table of the statement is unknown
		}
		if name := api.TableName(parsed.Table()); catalog.Owns(name) || tables[name] != nil {
			return false
		}
	}
	return true
}

// Do carries out a request of statements.
func (r *Runner) Do(ctx context.Context, q api.Request, use func(api.Response) error) error {
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

func (r *Runner) executeStatement(ctx context.Context, q *api.ExecuteStatement, use func(api.Response) error) error {
	s, err := partiql.Parse(q.Text, q.Parameters)
	if err != nil {
		return err
	}
	if s.Kind() == partiql.Exists {
		return errExists
	}
	t, err := r.Tables.Schema(ctx, s.Table())
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

// told returns err only if the client has the right to make such a request, because err reveals
// something about the table. Otherwise it returns the store's refusal.
func (r *Runner) told(ctx context.Context, s *partiql.Statement, err error) error {
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
	return r.Items.Permitted(ctx, like, err)
}

// selection returns the reads that a SELECT becomes.
func (r *Runner) selection(ctx context.Context, q *api.ExecuteStatement, s *partiql.Statement, t *schema.Table) (*partiql.Selection, error) {
	selection, err := s.Select(t, q.Consistent)
	if exception.Is(err, exception.Validation) { // a client may have created an index since
		if t, err = r.Tables.SchemaAnew(ctx, s.Table()); err != nil {
			return nil, err
		}
		selection, err = s.Select(t, q.Consistent)
	}
	if err != nil {
		return nil, r.told(ctx, s, err)
	}
	return selection, nil
}

// selectItems answers a page of a SELECT.
func (r *Runner) selectItems(ctx context.Context, q *api.ExecuteStatement, s *partiql.Statement, t *schema.Table, answer *api.StatementResponse) error {
	selection, err := r.selection(ctx, q, s, t)
	if err != nil {
		return err
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
		err := r.Items.Do(ctx, selection.Request(at.Read, at.After, limit, q.Capacity), func(a api.Response) error {
			page, err := items.Own(a.(*api.ItemsResponse))
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

// addConsumed adds the capacity that a request consumed. It copies the table's name, whose memory
// ends with the answer.
func addConsumed(to **api.ConsumedCapacity, took *api.ConsumedCapacity) {
	if *to == nil {
		*to = &api.ConsumedCapacity{Table: strings.Clone(took.Table), Detail: took.Detail, Display: took.Display}
	}
	(*to).Add(took)
}

// write carries out an INSERT, UPDATE or DELETE. It returns the item that the statement returns, if
// any.
func (r *Runner) write(ctx context.Context, s *partiql.Statement, t *schema.Table, w api.Write) (item attribute.Encoded, took *api.ConsumedCapacity, err error) {
	q, err := s.Write(t, w)
	if err != nil {
		return nil, nil, r.told(ctx, s, err)
	}
	err = r.Items.Do(ctx, q, func(a api.Response) error {
		answer := a.(*api.ItemResponse)
		if len(answer.Attributes) > len("{}") { // an answer without attributes means no item, not an empty one
			item = append(attribute.Encoded{}, answer.Attributes...)
		}
		if answer.Capacity != nil {
			addConsumed(&took, answer.Capacity)
		}
		return nil
	})
	if s.Kind() == partiql.Insert && exception.Is(err, exception.ConditionalCheckFailed) {
		err = partiql.ErrDuplicate
	}
	return item, took, err
}
