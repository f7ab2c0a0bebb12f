// SPDX-License-Identifier: Apache-2.0

package statements

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/partiql"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// transactionOf adds the prefix of a transaction's statement to its error.
func transactionOf(i int, err error) error {
	var e *exception.Error
	if !errors.As(err, &e) || e.Kind != exception.Validation {
		return err
	}
	return exception.Invalid("Validation failed in TransactStatements[%d]: %s", i, e.Message)
}

func (r *Runner) executeTransaction(ctx context.Context, q *api.ExecuteTransaction, use func(api.Response) error) error {
	parsed := make([]*partiql.Statement, len(q.Statements))
	reads := 0
	for i, s := range q.Statements {
		var err error
		if parsed[i], err = partiql.Parse(s.Text, s.Parameters); err != nil {
			return transactionOf(i, err)
		}
		if parsed[i].Kind() == partiql.Select {
			reads++
		}
	}
	if reads > 0 && reads < len(parsed) {
		return exception.Invalid("ExecuteTransaction API does not support both read and write operations in the same request.")
	}
	if reads > 0 {
		return r.transactReads(ctx, q, parsed, use)
	}
	return r.transactWrites(ctx, q, parsed, use)
}

// tablesOf calls check for each statement whose table exists. If a table does not exist, it returns
// the error of a cancelled transaction.
func (r *Runner) tablesOf(ctx context.Context, parsed []*partiql.Statement, check func(i int, t *schema.Table) error) error {
	var missing []exception.CancellationReason
	for i, s := range parsed {
		t, err := r.Tables.Schema(ctx, s.Table())
		if exception.Is(err, exception.ResourceNotFound) {
			if missing == nil {
				missing = make([]exception.CancellationReason, len(parsed))
				for k := range missing {
					missing[k].Code = "None"
				}
			}
			missing[i] = exception.CancellationReason{Code: "ResourceNotFound", Message: exception.Of(err).Message}
			continue
		}
		if err != nil {
			return err
		}
		if err = s.CheckTransaction(); err == nil {
			err = check(i, t)
		}
		if err != nil {
			return r.told(ctx, s, transactionOf(i, err))
		}
	}
	if missing != nil {
		return exception.Canceled(missing)
	}
	return nil
}

func (r *Runner) transactReads(ctx context.Context, q *api.ExecuteTransaction, parsed []*partiql.Statement, use func(api.Response) error) error {
	gets := &api.TransactGetItems{Capacity: q.Capacity}
	selections := make([]*partiql.Selection, len(parsed))
	err := r.tablesOf(ctx, parsed, func(i int, t *schema.Table) error {
		get, selection, err := parsed[i].Get(t, q.Operation(), false)
		if err != nil {
			return err
		}
		selections[i] = selection
		gets.Gets = append(gets.Gets, api.TransactGet{Table: get.Table, Key: get.Key, Projection: get.Projection})
		return nil
	})
	if err != nil {
		return err
	}
	return r.Items.Do(ctx, gets, func(a api.Response) error {
		answer := *a.(*api.TransactGetResponse)
		items := make([]attribute.Encoded, len(answer.Items))
		for i, text := range answer.Items {
			if text == nil {
				continue
			}
			var err error
			if items[i], _, err = selections[i].Show(0, text); err != nil {
				return err
			}
		}
		answer.Items = items
		return use(&answer)
	})
}

func (r *Runner) transactWrites(ctx context.Context, q *api.ExecuteTransaction, parsed []*partiql.Statement, use func(api.Response) error) error {
	writes := &api.TransactWriteItems{Actions: make([]api.TransactAction, len(parsed)), Token: q.Token, Capacity: q.Capacity}
	err := r.tablesOf(ctx, parsed, func(i int, t *schema.Table) error {
		var err error
		writes.Actions[i], err = parsed[i].Action(t, q.Statements[i].ReturnOnFailure)
		return err
	})
	if err != nil {
		return err
	}
	if writes.Token != "" {
		writes.Digest = api.Digest(writes.Actions)
	}
	err = r.Items.Do(ctx, writes, func(a api.Response) error {
		answer := a.(*api.TransactWriteResponse)
		return use(&api.TransactGetResponse{Items: make([]attribute.Encoded, len(parsed)), Capacity: answer.Capacity})
	})
	return duplicates(err, parsed)
}

// duplicates returns a transaction's error. For each INSERT of an item that exists, it replaces the
// reason by PartiQL's.
func duplicates(err error, parsed []*partiql.Statement) error {
	var e *exception.Error
	if !errors.As(err, &e) || e.Kind != exception.TransactionCanceled || len(e.Reasons) != len(parsed) {
		return err
	}
	reasons := append([]exception.CancellationReason(nil), e.Reasons...)
	for i, s := range parsed {
		if s.Kind() == partiql.Insert && reasons[i].Code == "ConditionalCheckFailed" {
			reasons[i] = exception.CancellationReason{Code: "DuplicateItem", Message: partiql.ErrDuplicate.Message}
		}
	}
	return exception.Canceled(reasons)
}
