// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// deaf is a store whose events do not arrive.
type deaf struct{ store.Store }

func (d deaf) Events(ctx context.Context, _ func([]byte)) error {
	<-ctx.Done()
	return ctx.Err()
}

func (d deaf) MaxVersion(ctx context.Context) (wire.Version, error) {
	return d.Store.(store.Versioned).MaxVersion(ctx)
}

// TestTablesOfAnotherDoor uses tables that one door has made at another door that has received no
// event of them. The first use is each possible statement.
func TestTablesOfAnotherDoor(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		a := newScene(t, st)
		b := &scene{t: t, store: st, keyspace: a.keyspace}
		first := map[string]func(t *testing.T, c *difftest.Conn, table string){
			"select": func(t *testing.T, c *difftest.Conn, table string) {
				answer := b.must(c, "SELECT * FROM "+table)
				if len(answer.Rows) != 20 || strings.Contains(fmt.Sprint(answer.Columns), "shard") {
					t.Errorf("%d rows of %v", len(answer.Rows), answer.Columns)
				}
			},
			"prepare": func(t *testing.T, c *difftest.Conn, table string) {
				if answer := b.prepared(c, "SELECT c FROM "+table+" WHERE p = 1", 3); len(answer.Rows) != 20 {
					t.Errorf("%d rows", len(answer.Rows))
				}
			},
			"insert": func(t *testing.T, c *difftest.Conn, table string) {
				b.must(c, "INSERT INTO "+table+" (p, c, v) VALUES (1, 5, 50)")
			},
			"truncate": func(t *testing.T, c *difftest.Conn, table string) {
				b.must(c, "TRUNCATE "+table)
			},
			"written batch": func(t *testing.T, c *difftest.Conn, table string) {
				b.must(c, "BEGIN BATCH INSERT INTO "+table+" (p, c) VALUES (2, 5); INSERT INTO "+table+" (p, c) VALUES (2, 6); APPLY BATCH")
			},
			"batch": func(t *testing.T, c *difftest.Conn, table string) {
				answer, err := c.Batch(&message.Batch{Children: []*message.BatchChild{{Query: "INSERT INTO " + table + " (p, c) VALUES (2, 5)"}}})
				if err != nil || answer.Kind != difftest.Void {
					t.Errorf("%v %+v", err, answer)
				}
			},
			"describe": func(t *testing.T, c *difftest.Conn, table string) {
				rows := fmt.Sprintf("%q", b.must(c, "DESCRIBE TABLE "+table).Rows)
				if strings.Contains(rows, "shard int") || !strings.Contains(rows, "write_sharding") {
					t.Error(rows)
				}
			},
			"schema": func(t *testing.T, c *difftest.Conn, table string) {
				_, name, _ := strings.Cut(table, ".")
				answer := b.must(c, fmt.Sprintf("SELECT column_name FROM system_schema.columns WHERE keyspace_name = '%s' AND table_name = '%s'", a.keyspace, name))
				if len(answer.Rows) != 3 {
					t.Errorf("%q", answer.Rows)
				}
			},
			"index": func(t *testing.T, c *difftest.Conn, table string) {
				answer := b.query(c, "CREATE INDEX ON "+table+" (v)")
				if answer.Kind != difftest.Error || !strings.Contains(answer.Text, "write_sharding") {
					t.Errorf("%+v", answer)
				}
			},
			"alter": func(t *testing.T, c *difftest.Conn, table string) {
				answer := b.query(c, "ALTER TABLE "+table+" ADD shard int")
				if answer.Kind != difftest.Error || !strings.Contains(answer.Text, "write_sharding") {
					t.Errorf("%+v", answer)
				}
			},
			"drop": func(t *testing.T, c *difftest.Conn, table string) {
				b.must(c, "DROP TABLE "+table)
			},
		}
		n := 0
		for name, use := range first {
			for _, v := range []primitive.ProtocolVersion{primitive.ProtocolVersion4, primitive.ProtocolVersion5} {
				t.Run(fmt.Sprint(name, "/v", v), func(t *testing.T) {
					n++
					table := fmt.Sprintf("%s.t%d", a.keyspace, n)
					at := serveDoor(t, deaf{st}, startRouter(t, deaf{st}))
					c := dial(t, at, v)
					b.t = t
					for range 2 { // there is no such table: the store's answer
						answer := b.query(c, "SELECT v FROM "+table)
						if answer.Kind != difftest.Error || answer.Code != primitive.ErrorCodeInvalid {
							t.Fatalf("%+v", answer)
						}
					}
					a.must(a.v5, "CREATE TABLE "+table+" (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '4'}")
					for i := range 20 {
						a.must(a.v5, fmt.Sprintf("INSERT INTO %s (p, c, v) VALUES (1, %d, 7)", table, i))
					}
					use(t, c, table)
					// The door learns of another door's ALTER TABLE when a client needs it.
					if name != "drop" {
						a.must(a.v5, "ALTER TABLE "+table+" ADD w int")
						b.must(c, "SELECT w FROM "+table+" WHERE p = 1")
						a.must(a.v5, "DROP TABLE "+table)
					}
					// The door passes on statements on another client's unsharded table.
					a.must(a.direct, "CREATE TABLE "+table+"u (p int PRIMARY KEY, shard int)")
					b.must(c, "INSERT INTO "+table+"u (p, shard) VALUES (1, 2)")
					if answer := b.must(c, "SELECT shard FROM "+table+"u"); len(answer.Rows) != 1 {
						t.Errorf("%q", answer.Rows)
					}
				})
			}
		}
	})
}
