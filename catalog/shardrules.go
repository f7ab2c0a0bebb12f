// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// The shard rules, which shard tables whose CREATE TABLE has no property, are stored in one row
// of a table of their own. So all doors use the same rules.

// RulesTable is the name of the table of shard rules. It is created with the first rules.
const RulesTable = "shard_rules"

const (
	createRules = "CREATE TABLE IF NOT EXISTS evenkeel." + RulesTable + " (scope text PRIMARY KEY, rules text, door text, written_at timestamp)"
	readRules   = "SELECT rules, door, written_at FROM evenkeel." + RulesTable + " WHERE scope = 'cql'"
	insertRules = "INSERT INTO evenkeel." + RulesTable + " (scope, rules, door, written_at) VALUES ('cql', ?, ?, ?) IF NOT EXISTS"
	updateRules = "UPDATE evenkeel." + RulesTable + " SET rules = ?, door = ?, written_at = ? WHERE scope = 'cql' IF rules = ?"
)

// Rules holds the shard rules as they are stored.
type Rules struct {
	Text    []byte // encoded by package shardrules
	Door    string // address of the door that wrote them
	Written time.Time
}

// Rules reads the shard rules. It returns nil if there are none.
func (c *Catalog) Rules(ctx context.Context) (*Rules, error) {
	rows, err := c.opts.Session.Query(ctx, wire.One, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = '"+Keyspace+"' AND table_name = '"+RulesTable+"'")
	if err != nil || len(rows) == 0 {
		return nil, wrap("look for the shard rules", err)
	}
	within, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	err = c.ready(within, func() error {
		rows, err = c.opts.Session.Query(ctx, wire.LocalSerial, readRules)
		if refused := (*wire.Error)(nil); errors.As(err, &refused) && definite(err) {
			rows, err = c.opts.Session.Query(ctx, wire.LocalQuorum, readRules)
		}
		return wrap("read the shard rules", err)
	})
	if err != nil || len(rows) == 0 || rows[0]["rules"] == nil {
		return nil, err
	}
	r := &Rules{Text: rows[0]["rules"], Door: string(rows[0]["door"])}
	if b := rows[0]["written_at"]; len(b) == 8 {
		r.Written = time.UnixMilli(rows[0].Int("written_at"))
	}
	return r, nil
}

// KeepRules replaces old, the rules that were read (nil: none), by next. It returns false if
// others were written meanwhile.
func (c *Catalog) KeepRules(ctx context.Context, old, next *Rules) (bool, error) {
	if err := c.ensureRules(ctx); err != nil {
		return false, err
	}
	at := millis(next.Written)
	if old == nil {
		return c.apply(ctx, insertRules, next.Text, []byte(next.Door), at)
	}
	return c.apply(ctx, updateRules, next.Text, []byte(next.Door), at, old.Text)
}

// ensureRules creates the table of rules, and the catalogue's keyspace if there is none.
func (c *Catalog) ensureRules(ctx context.Context) error {
	if ok, err := c.keyspaceExists(ctx); err != nil {
		return err
	} else if !ok {
		like, err := c.everywhere(ctx)
		if err != nil {
			return err
		}
		if err := c.createKeyspace(ctx, like); err != nil {
			return err
		}
	}
	c.Agree(ctx) // only some nodes may know the keyspace
	if _, err := c.opts.Session.Query(ctx, wire.LocalQuorum, createRules); err != nil {
		return wrap("create the table of the shard rules", err)
	}
	c.Agree(ctx)
	within, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	return c.ready(within, func() error {
		_, err := c.opts.Session.Query(ctx, wire.LocalQuorum, readRules)
		return wrap("read the shard rules", err)
	})
}

// mostReplicas is how many replicas the catalogue gets in a data centre if no keyspace of a
// client gives a number.
const mostReplicas = 3

// everywhere returns a keyspace with replicas in all data centres of the store.
func (c *Catalog) everywhere(ctx context.Context) (*schema.Keyspace, error) {
	nodes := map[string]int{}
	for _, cql := range []string{"SELECT data_center FROM system.local", "SELECT data_center FROM system.peers"} {
		rows, err := c.opts.Session.Query(ctx, wire.One, cql)
		if err != nil {
			return nil, wrap("read the data centres", err)
		}
		for _, r := range rows {
			if dc := string(r["data_center"]); dc != "" {
				nodes[dc]++
			}
		}
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("create the catalogue's keyspace: the store names no data centre; create keyspace %s with the replication that suits you", Keyspace)
	}
	like := &schema.Keyspace{Name: "of " + strconv.Itoa(len(nodes)) + " data centres", Replication: map[string]string{"class": "NetworkTopologyStrategy"}}
	for dc, n := range nodes {
		like.Replication[dc] = strconv.Itoa(min(n, mostReplicas))
	}
	return like, nil
}
