// SPDX-License-Identifier: Apache-2.0

package statements

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/partiql"
)

// executeBatch carries out the statements of a batch independently, several at a time.
func (r *Runner) executeBatch(ctx context.Context, q *api.BatchExecuteStatement, use func(api.Response) error) error {
	parsed := make([]*partiql.Statement, len(q.Statements))
	wrong := make([]error, len(q.Statements))
	reads, writes := false, false
	for i := range q.Statements {
		if wrong[i] = q.Statements[i].CheckParameters(); wrong[i] != nil {
			continue
		}
		if parsed[i], wrong[i] = partiql.Parse(q.Statements[i].Text, q.Statements[i].Parameters); wrong[i] != nil {
			continue
		}
		if parsed[i].Kind() == partiql.Select {
			reads = true
		} else {
			writes = true
		}
	}
	if reads && writes {
		return exception.Invalid("BatchExecuteStatement API does not support both read and write operations in the same request.")
	}
	answer := &api.BatchStatementResponse{Results: make([]api.StatementResult, len(parsed))}
	took := make([]*api.ConsumedCapacity, len(parsed))
	var all sync.WaitGroup
	slots := make(chan struct{}, r.Fanout)
	for i, s := range parsed {
		if wrong[i] != nil {
			answer.Results[i].Error = statementError(wrong[i])
			continue
		}
		slots <- struct{}{}
		if ctx.Err() != nil { // nobody waits for the rest
			<-slots
			break
		}
		all.Go(func() {
			result := &answer.Results[i]
			defer func() {
				if p := recover(); p != nil { // a bug harms only its own statement
					wrong[i] = fmt.Errorf("a bug: %v", p)
					result.Error = statementError(wrong[i])
				}
				<-slots
			}()
			if took[i], wrong[i] = r.one(ctx, q, i, s, result); wrong[i] != nil {
				result.Error = statementError(wrong[i])
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if q.Capacity != api.CapacityNone {
		answer.Capacity = []api.ConsumedCapacity{}
	}
	for i := range took {
		if wrong[i] != nil && exception.Of(wrong[i]).Kind == exception.InternalServerError {
			r.Log.Error("dynamodb: a statement of a batch", "error", wrong[i])
		}
		if took[i] != nil {
			answer.Capacity = append(answer.Capacity, *took[i])
		}
	}
	return use(answer)
}

// one carries out one statement of a batch.
func (r *Runner) one(ctx context.Context, q *api.BatchExecuteStatement, i int, s *partiql.Statement, result *api.StatementResult) (took *api.ConsumedCapacity, err error) {
	if s.Kind() == partiql.Exists {
		return nil, errExists
	}
	t, err := r.Tables.Schema(ctx, s.Table())
	if err != nil {
		return nil, err
	}
	if s.Kind() != partiql.Select {
		result.Table = t.Name
		result.Item, took, err = r.write(ctx, s, t, api.Write{ReturnOnFailure: q.Statements[i].ReturnOnFailure, Capacity: q.Capacity})
		return took, err
	}
	get, selection, err := s.Get(t, q.Operation(), q.Statements[i].Consistent)
	if err != nil {
		return nil, r.told(ctx, s, err)
	}
	result.Table = t.Name
	get.Capacity = q.Capacity
	err = r.Items.Do(ctx, get, func(a api.Response) error {
		answer := a.(*api.ItemResponse)
		if answer.Capacity != nil {
			addConsumed(&took, answer.Capacity)
		}
		if answer.Item == nil {
			return nil
		}
		shown, _, err := selection.Show(0, answer.Item)
		result.Item = append(attribute.Encoded{}, shown...)
		return err
	})
	return took, err
}

// statementError converts an error into that of one statement of a batch.
func statementError(err error) *api.StatementError {
	e := exception.Of(err)
	code := strings.TrimSuffix(e.Kind.Name(), "Exception")
	switch e.Kind {
	case exception.Validation:
		code = "ValidationError"
	case exception.Throttling:
		code = "ThrottlingError"
	case exception.ServiceUnavailable:
		code = exception.InternalServerError.Name()
	}
	return &api.StatementError{Code: code, Message: e.Message, Item: e.Item}
}
