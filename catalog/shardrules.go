// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"time"

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
	if ok, err := c.tables.exists(ctx, RulesTable); err != nil || !ok {
		return nil, err
	}
	var rows []Row
	within, cancel := context.WithTimeout(ctx, settled)
	defer cancel()
	err := c.nodes.ready(within, func() (err error) {
		rows, err = c.opts.Session.Query(ctx, wire.LocalQuorum, readRules)
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

// KeepRules replaces old, the rules that the door has read (nil: none), by next. It returns false
// if another door wrote rules meanwhile.
func (c *Catalog) KeepRules(ctx context.Context, old, next *Rules) (bool, error) {
	if err := c.tables.ensureRules(ctx); err != nil {
		return false, err
	}
	at := millis(next.Written)
	if old == nil {
		return c.layouts.apply(ctx, insertRules, next.Text, []byte(next.Door), at)
	}
	return c.layouts.apply(ctx, updateRules, next.Text, []byte(next.Door), at, old.Text)
}
