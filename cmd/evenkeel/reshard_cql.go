// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/reshard"
)

// cqlChanger is a reshard.Changer for a table behind a CQL door. It sends ALTER TABLE … WITH
// write_sharding, as any driver can.
type cqlChanger struct {
	door    *cluster.Cluster
	session *catalog.StoreSession
	table   string // written as CQL
}

// openCQLChanger connects to a door. table is keyspace.table.
func openCQLChanger(ctx context.Context, at, table string) (reshard.Changer, error) {
	keyspace, name, ok := strings.Cut(table, ".")
	if !ok || keyspace == "" || name == "" {
		return nil, withHint(fmt.Errorf("%s is not a table of CQL", table), "name it with its keyspace: keyspace.table")
	}
	door, err := cluster.Connect(ctx, cluster.Options{Contacts: []string{at}})
	if err != nil {
		return nil, withHint(err, "--cql says where a front door listens; evenkeel serve starts one")
	}
	quoted := string(syntax.AppendName(nil, syntax.Name{Keyspace: keyspace, Name: name}))
	return &cqlChanger{door: door, session: catalog.NewSession(door), table: quoted}, nil
}

// Close implements reshard.Changer.
func (c *cqlChanger) Close() {
	c.session.Close()
	_ = c.door.Close() // all answers have been read
}

// alter sends ALTER TABLE with these options, and decodes the JSON answer into v.
func (c *cqlChanger) alter(ctx context.Context, options string, v any) error {
	rows, err := c.session.Query(ctx, wire.LocalQuorum, "ALTER TABLE "+c.table+" WITH write_sharding = {"+options+"}")
	var refused *wire.Error
	if errors.As(err, &refused) {
		return errors.New(refused.Message)
	}
	if err != nil || v == nil {
		return err
	}
	if len(rows) != 1 || rows[0]["[json]"] == nil {
		return withHint(errors.New("the answer is not a door's"), "--cql is the address of an evenkeel door, not of Cassandra itself")
	}
	return json.Unmarshal(rows[0]["[json]"], v)
}

// order sends one order and returns the status after it.
func (c *cqlChanger) order(ctx context.Context, o string) (s reshard.Status, err error) {
	return s, c.alter(ctx, "'change': '"+o+"'", &s)
}

func shardsOption(to reshard.Target) string { return "'shards': '" + strconv.Itoa(to.Shards) + "'" }

// optionsOf returns the options that stand for a layout. A plain table has none.
func optionsOf(to reshard.Target) (options []string) {
	for _, word := range strings.Fields(to.Layout) {
		name, value, _ := strings.Cut(word, "=")
		option := append(syntax.AppendString(nil, name), ": "...)
		options = append(options, string(syntax.AppendString(option, value)))
	}
	if to.Shards != 0 {
		options = append(options, shardsOption(to))
	}
	return options
}

// Plan implements reshard.Changer.
func (c *cqlChanger) Plan(ctx context.Context, to reshard.Target) (o reshard.Outlook, err error) {
	return o, c.alter(ctx, strings.Join(append(optionsOf(to), "'change': 'plan'"), ", "), &o)
}

// Start implements reshard.Changer.
func (c *cqlChanger) Start(ctx context.Context, to reshard.Target) (s reshard.Status, err error) {
	if err := c.alter(ctx, strings.Join(optionsOf(to), ", "), nil); err != nil {
		return s, err
	}
	return c.Status(ctx)
}

// Status implements reshard.Changer.
func (c *cqlChanger) Status(ctx context.Context) (reshard.Status, error) {
	return c.order(ctx, "status")
}

// Pause implements reshard.Changer.
func (c *cqlChanger) Pause(ctx context.Context) (reshard.Status, error) { return c.order(ctx, "pause") }

// Resume implements reshard.Changer.
func (c *cqlChanger) Resume(ctx context.Context) (reshard.Status, error) {
	return c.order(ctx, "resume")
}

// Rollback implements reshard.Changer.
func (c *cqlChanger) Rollback(ctx context.Context) (reshard.Status, error) {
	return c.order(ctx, "rollback")
}

// Finish implements reshard.Changer.
func (c *cqlChanger) Finish(ctx context.Context) (reshard.Status, error) {
	return c.order(ctx, "finish")
}

// Key implements reshard.Changer.
func (c *cqlChanger) Key(ctx context.Context, key string, shards int) (s reshard.Status, err error) {
	options := syntax.AppendString([]byte("'key': "), key)
	if err := c.alter(ctx, string(options)+", "+shardsOption(reshard.Target{Shards: shards}), nil); err != nil {
		return s, err
	}
	return c.Status(ctx)
}
