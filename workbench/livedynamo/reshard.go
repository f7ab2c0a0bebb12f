// SPDX-License-Identifier: Apache-2.0

package livedynamo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/workbench/livetable"
)

// Resharder changes the layout of a table through an evenkeel door.
type Resharder struct{ t *Table }

var _ reshard.Changer = (*Resharder)(nil)

// Reshard returns a Resharder of the table. Closing it closes the table.
func (t *Table) Reshard() *Resharder { return &Resharder{t} }

// Close implements reshard.Changer.
func (r *Resharder) Close() { r.t.Close() }

// ask makes the door do something, and reads its answer.
func (r *Resharder) ask(ctx context.Context, action string, to reshard.Target, key *string, answer any) error {
	at := "table " + r.t.at.Table
	if r.t.at.Endpoint == "" {
		return &livetable.Error{At: at, Err: errors.New("AWS itself has no write-sharded tables"), Hint: "give the address of an evenkeel door: --dynamodb http://127.0.0.1:8000"}
	}
	q := &api.Reshard{Table: r.t.at.Table, Action: action, Shards: to.Shards, Layout: to.Layout, Key: key}
	text, refused, err := r.t.own(ctx, q)
	switch {
	case err != nil:
		return r.t.at.explain(err)
	case refused != nil:
		e := &livetable.Error{At: at, Err: errors.New(refused.Message)}
		if kind, known := exception.ByName(refused.Type); !known || kind == exception.UnknownOperation {
			e.Err, e.Hint = errors.New("what listens there is no evenkeel door that shards tables"), "give the address of a door, started without --dynamodb-sharding off"
		}
		return e
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("the door's answer about %s: %w", at, err)
	}
	return nil
}

// readsTable reports whether the door reads the whole table before it answers, however long that
// takes.
func readsTable(q *api.Reshard) bool {
	return q.Action == "plan" || q.Action == "start" || q.Action == "rollback"
}

func (r *Resharder) status(ctx context.Context, action string, to reshard.Target) (s reshard.Status, err error) {
	err = r.ask(ctx, action, to, nil, &s)
	return s, err
}

// Plan implements reshard.Changer.
func (r *Resharder) Plan(ctx context.Context, to reshard.Target) (o reshard.Outlook, err error) {
	err = r.ask(ctx, "plan", to, nil, &o)
	return o, err
}

// Start implements reshard.Changer.
func (r *Resharder) Start(ctx context.Context, to reshard.Target) (reshard.Status, error) {
	return r.status(ctx, "start", to)
}

// Status implements reshard.Changer.
func (r *Resharder) Status(ctx context.Context) (reshard.Status, error) {
	return r.status(ctx, "status", reshard.Target{})
}

// Pause implements reshard.Changer.
func (r *Resharder) Pause(ctx context.Context) (reshard.Status, error) {
	return r.status(ctx, "pause", reshard.Target{})
}

// Resume implements reshard.Changer.
func (r *Resharder) Resume(ctx context.Context) (reshard.Status, error) {
	return r.status(ctx, "resume", reshard.Target{})
}

// Rollback implements reshard.Changer.
func (r *Resharder) Rollback(ctx context.Context) (reshard.Status, error) {
	return r.status(ctx, "rollback", reshard.Target{})
}

// Finish implements reshard.Changer.
func (r *Resharder) Finish(ctx context.Context) (reshard.Status, error) {
	return r.status(ctx, "finish", reshard.Target{})
}

// Key implements reshard.Changer.
func (r *Resharder) Key(ctx context.Context, key string, shards int) (s reshard.Status, err error) {
	err = r.ask(ctx, "start", reshard.Target{Shards: shards}, &key, &s)
	return s, err
}
