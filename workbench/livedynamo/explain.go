// SPDX-License-Identifier: Apache-2.0

package livedynamo

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/workbench/livetable"
)

// Explain asks an evenkeel door how it would carry out a request or statement on the table. It returns
// the door's JSON.
func (t *Table) Explain(ctx context.Context, q *api.Explain) ([]byte, error) {
	text, refused, err := t.own(ctx, q)
	switch {
	case err != nil:
		return nil, t.at.explain(err)
	case refused == nil:
		return text, nil
	}
	if kind, known := exception.ByName(refused.Type); !known || kind == exception.UnknownOperation {
		return nil, &livetable.Error{At: "table " + t.at.Table, Err: errors.New("what listens there is no evenkeel door that shards tables"),
			Hint: "give the address of a door, started without --dynamodb-sharding off"}
	}
	return nil, &livetable.Error{At: "table " + t.at.Table, Err: errors.New(refused.Message)}
}
