// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"

	"github.com/evenkeel/evenkeel/internal/difftest"
)

// attackCatalogue sends statements with names of the hidden keyspace. The server must refuse them,
// or answer as for a keyspace that does not exist, and the catalogue must not change.
func attackCatalogue(f *field) error {
	return f.eachStore("catalogue", func(s *server, direct string) error {
		c, err := difftest.Dial(s.cql, primitive.ProtocolVersion5, "", "")
		if err != nil {
			return err
		}
		defer c.Close()
		for _, text := range []string{"DROP KEYSPACE IF EXISTS w", workKeyspace, "CREATE TABLE w.t (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '3'}", "CREATE TABLE w.plain (p int, c int, v int, PRIMARY KEY (p, c))",
			"CREATE TYPE w.u (a int)", "INSERT INTO w.t (p, c, v) VALUES (1, 1, 1)"} {
			if a, err := c.Query(difftest.Request{Query: text}); err != nil || a.Kind == difftest.Error {
				return fmt.Errorf("%s: %v %w", text, a, err)
			}
		}
		before, err := catalogueRows(direct)
		if err != nil {
			return err
		}
		for n := 0; !f.over(); n++ {
			if n%10 == 0 {
				f.guessIDs(s)
			}
			version := pick(f.Rand, primitive.ProtocolVersion4, primitive.ProtocolVersion5, primitive.ProtocolVersion5)
			text := hiddenText(f.Rand)
			f.reach(s, version, text)
			if n%200 == 0 {
				after, err := catalogueRows(direct)
				if err != nil {
					return err
				}
				if !slices.Equal(before, after) {
					f.fault("the catalogue was changed", "before %q\nafter %q", before, after)
					return nil
				}
				if a, err := c.Query(difftest.Request{Query: "SELECT v FROM w.t WHERE p = 1"}); err != nil || a.Kind != difftest.Rows || len(a.Rows) != 1 {
					f.fault("the catalogue was changed", "a sharded table answers %v, %v", a, err)
					return nil
				}
			}
		}
		return nil
	})
}

// eachStore attacks the embedded engine and, if there is a Cassandra, a door in front of it, each
// for half of the time. direct is the Cassandra's address.
func (f *field) eachStore(name string, attack func(s *server, direct string) error, flags ...string) error {
	stores := []string{""}
	if f.cassandra != "" {
		stores = append(stores, f.cassandra)
	}
	f.limit /= time.Duration(len(stores))
	for i, direct := range stores {
		front := slices.Clone(flags)
		if direct != "" {
			front = append(front, "--cassandra", direct)
		}
		s, err := f.newServer(fmt.Sprintf("%s-%d", name, i), front...)
		if err != nil {
			return err
		}
		f.begin()
		sent := f.sent.Load()
		err = attack(s, direct)
		s.close(f)
		if err != nil {
			return err
		}
		if f.sent.Load() == sent && f.ctx.Err() == nil {
			return fmt.Errorf("no request was sent to %s", s.cql)
		}
	}
	return nil
}

// hiddenName is the hidden keyspace, and absentName one that does not exist. The names have the
// same length, so that positions in errors agree.
const hiddenName, absentName = "evenkeel", "evenkeex"

var named = regexp.MustCompile(`@K`)

// hiddenText draws a statement with @K at the place of a keyspace.
func hiddenText(r *rand.Rand) string {
	table := pick(r, "layouts", "doors", "x", "leases", "changes")
	t := pick(r, "@K.", "@K.", `"@K".`) + table
	return pick(r,
		"SELECT * FROM "+t, "SELECT JSON * FROM "+t+" LIMIT 1", "SELECT count(*) FROM "+t, "SELECT DISTINCT a FROM "+t+" ALLOW FILTERING",
		"INSERT INTO "+t+" (a, b) VALUES (1, 2)", "INSERT INTO "+t+" JSON '{}'", "UPDATE "+t+" SET a = 1 WHERE b = 2", "UPDATE "+t+" SET a = 1 WHERE b = 2 IF EXISTS", "DELETE FROM "+t+" WHERE a = 1",
		"BEGIN BATCH INSERT INTO "+t+" (a) VALUES (1); APPLY BATCH", "BEGIN BATCH INSERT INTO w.plain (p, c, v) VALUES (1, 1, 1); DELETE FROM "+t+" WHERE a = 1; APPLY BATCH", "BEGIN UNLOGGED BATCH UPDATE "+t+" SET a = 1 WHERE b = 1; APPLY BATCH",
		"TRUNCATE "+t, "TRUNCATE TABLE "+t, "DROP TABLE "+t, "DROP TABLE IF EXISTS "+t, "ALTER TABLE "+t+" ADD z int", "ALTER TABLE "+t+" DROP shards", "ALTER TABLE "+t+" WITH comment = 'x'", "ALTER TABLE "+t+" RENAME a TO b",
		"CREATE TABLE "+t+" (a int PRIMARY KEY)", "CREATE TABLE IF NOT EXISTS "+t+" (a int, b int, PRIMARY KEY (a, b)) WITH write_sharding = {'shards': '3'}", "CREATE TABLE w.copy LIKE "+t, "CREATE TABLE "+t+" LIKE w.plain",
		"CREATE INDEX ON "+t+" (a)", "CREATE INDEX IF NOT EXISTS i ON "+t+" (a)", "CREATE CUSTOM INDEX i ON "+t+" (a) USING 'sai'", "DROP INDEX @K.i", "DROP INDEX IF EXISTS @K.i",
		"CREATE MATERIALIZED VIEW "+t+" AS SELECT * FROM w.plain WHERE p IS NOT NULL AND c IS NOT NULL PRIMARY KEY (p, c)", "CREATE MATERIALIZED VIEW w.mv AS SELECT * FROM "+t+" WHERE a IS NOT NULL PRIMARY KEY (a)", "DROP MATERIALIZED VIEW "+t, "ALTER MATERIALIZED VIEW "+t+" WITH comment = 'x'",
		"CREATE TYPE @K.u (a int)", "CREATE TYPE IF NOT EXISTS @K.u (a int)", "ALTER TYPE @K.u ADD b int", "DROP TYPE @K.u", "DROP TYPE IF EXISTS @K.u",
		"CREATE FUNCTION @K.f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'", "CREATE OR REPLACE FUNCTION @K.f (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1;'", "DROP FUNCTION @K.f", "DROP FUNCTION IF EXISTS @K.f (int)",
		"CREATE AGGREGATE @K.g (int) SFUNC f STYPE int", "CREATE OR REPLACE AGGREGATE @K.g (int) SFUNC f STYPE int INITCOND 0", "DROP AGGREGATE @K.g", "DROP AGGREGATE IF EXISTS @K.g (int)",
		"CREATE TRIGGER x ON "+t+" USING 'y'", "DROP TRIGGER x ON "+t, "DROP TRIGGER IF EXISTS x ON "+t,
		"USE @K", `USE "@K"`, "ALTER KEYSPACE @K WITH durable_writes = false", "ALTER KEYSPACE IF EXISTS @K WITH durable_writes = false", "DROP KEYSPACE @K", "DROP KEYSPACE IF EXISTS @K",
		"CREATE KEYSPACE @K WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", "CREATE KEYSPACE IF NOT EXISTS @K WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"GRANT SELECT ON KEYSPACE @K TO cassandra", "GRANT ALL ON "+t+" TO cassandra", "GRANT EXECUTE ON ALL FUNCTIONS IN KEYSPACE @K TO cassandra", "GRANT MODIFY ON ALL TABLES IN KEYSPACE @K TO cassandra", "REVOKE SELECT ON KEYSPACE @K FROM cassandra", "REVOKE ALL ON "+t+" FROM cassandra",
		"LIST ALL PERMISSIONS ON KEYSPACE @K", "LIST SELECT ON "+t, "GRANT EXECUTE ON FUNCTION @K.f(int) TO cassandra",
		"DESCRIBE KEYSPACE @K", "DESCRIBE TABLE "+t, "DESCRIBE ONLY KEYSPACE @K", "DESCRIBE @K", "DESC TYPE @K.u", "DESCRIBE FUNCTION @K.f", "DESCRIBE INDEX @K.i", "DESCRIBE MATERIALIZED VIEW "+t, "DESCRIBE TYPES", "DESCRIBE TABLES", "DESCRIBE KEYSPACES", "DESCRIBE FULL SCHEMA",
		"SELECT @K.f(v) FROM w.plain", "SELECT @K.f(v) FROM w.t", "INSERT INTO w.plain (p, c, v) VALUES (1, 1, @K.f(1))", "SELECT CAST(p AS text) FROM "+t,
		"CREATE TABLE w.z (p int PRIMARY KEY, v frozen<@K.u>)", "ALTER TABLE w.plain ADD y frozen<@K.u>", "ALTER TYPE w.u ADD b frozen<@K.u>", "CREATE FUNCTION w.h (a frozen<@K.u>) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1;'",
		"CREATE AGGREGATE w.g (int) SFUNC @K.f STYPE int", "COMMENT ON KEYSPACE @K IS 'x'", "SELECT * FROM system_schema.tables WHERE keyspace_name = '@K'", "SELECT * FROM system_schema.keyspaces WHERE keyspace_name = '@K'", "SELECT * FROM system_schema.columns WHERE keyspace_name IN ('@K', 'x')",
		"SELECT * FROM system.size_estimates WHERE keyspace_name = '@K'", "SELECT * FROM system.table_estimates WHERE keyspace_name = '@K'", "SELECT * FROM system_virtual_schema.tables WHERE keyspace_name = '@K'",
		"SELECT * FROM layouts", "INSERT INTO layouts (a) VALUES (1)", "TRUNCATE layouts", "DROP TABLE layouts", "BEGIN BATCH DELETE FROM layouts WHERE a = 1; APPLY BATCH", "CREATE TABLE q (a int PRIMARY KEY)", "ALTER TABLE layouts ADD z int", "DROP TABLE IF EXISTS q", "CREATE TYPE u (a int)", "DESCRIBE TABLES", "DESCRIBE TABLE layouts")
}

// reach sends a statement with the hidden name and with the absent one, by every kind of message,
// and compares the answers.
func (f *field) reach(s *server, version primitive.ProtocolVersion, text string) {
	inKeyspace := version >= primitive.ProtocolVersion5 && (!strings.Contains(text, "@K") || f.IntN(5) == 0)
	if f.IntN(6) == 0 {
		text = strings.ReplaceAll(text, "@K.", pick(f.Rand, "@K .", "@K. ", "@K/**/.", "@K--\n."))
	}
	if f.IntN(8) == 0 {
		text = pick(f.Rand, " ", "\n-- x\n", "/* y */", "// c\n") + text + pick(f.Rand, "", ";", " ;", ";\n--")
	}
	how := pick(f.Rand, "query", "prepare", "batch", "query", "prepared batch")
	upper := f.IntN(5) == 0 // an unquoted name may be in upper case
	var answers [2]string
	var whole [2]*difftest.Answer
	for i, name := range []string{hiddenName, absentName} {
		c, err := difftest.Dial(s.cql, version, "", "")
		if err != nil {
			f.fault("a client cannot connect", "%v", err)
			return
		}
		written := name
		if upper && !strings.Contains(text, `"`) && !strings.Contains(text, "'@K") {
			written = strings.ToUpper(name)
		}
		query := named.ReplaceAllString(text, written)
		keyspace := ""
		if inKeyspace {
			keyspace = name
		}
		a, err := f.by(c, how, query, keyspace)
		c.Close()
		f.sent.Add(1)
		if err != nil {
			f.fault("a connection is lost", "%s of %q in keyspace %q: %v", how, query, keyspace, err)
			return
		}
		whole[i] = a
		if i == 1 && a.Kind == difftest.Schema {
			// The server created the absent keyspace, because its name is not reserved.
			if c, err := difftest.Dial(s.cql, version, "", ""); err == nil {
				_, _ = c.Query(difftest.Request{Query: "DROP KEYSPACE IF EXISTS " + absentName})
				c.Close()
			}
		}
		answers[i] = strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(a), strings.ToUpper(name), "@K"), name, "@K")
	}
	// Two errors may differ. It is no secret which of a statement's faults is reported, nor that
	// the name is reserved.
	if answers[0] != answers[1] && whole[0].Kind != difftest.Error {
		f.fault("the hidden keyspace differs from an absent one", "%s in keyspace %v (v%d): %q\n%s: %.500s\n%s: %.500s", how, inKeyspace, version, text, hiddenName, answers[0], absentName, answers[1])
	}
	if whole[0].Kind == difftest.Keyspace || showsHidden(whole[0]) {
		f.fault("the hidden keyspace is reached", "%s in keyspace %v (v%d): %q\n%.500s", how, inKeyspace, version, text, answers[0])
	}
}

// property is the part of a sharded table's layout that a client may see.
var property = regexp.MustCompile(`write_sharding = \{[^}]*\}`)

// showsHidden reports whether a cell of any row names the hidden keyspace, or holds a layout as the
// catalogue has it.
func showsHidden(a *difftest.Answer) bool {
	for _, row := range a.Rows {
		for _, cell := range row {
			cell = property.ReplaceAll(cell, nil)
			if bytes.Contains(bytes.ToLower(cell), []byte(hiddenName)) || bytes.Contains(cell, []byte("murmur3")) {
				return true
			}
		}
	}
	return false
}

// by sends a statement in one of several ways.
func (f *field) by(c *difftest.Conn, how, query, keyspace string) (*difftest.Answer, error) {
	options := &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne, Keyspace: keyspace}
	prepare := func() (*difftest.Answer, error) { return c.Send(&message.Prepare{Query: query, Keyspace: keyspace}) }
	switch how {
	case "query":
		return c.Send(&message.Query{Query: query, Options: options})
	case "prepare":
		p, err := prepare()
		if err != nil || p.Kind != difftest.Prepared {
			return p, err
		}
		return c.Execute(p, difftest.Request{})
	case "batch":
		return c.Batch(&message.Batch{Keyspace: keyspace, Children: []*message.BatchChild{{Query: "INSERT INTO w.plain (p, c) VALUES (1, 1)"}, {Query: query}}})
	default:
		p, err := prepare()
		if err != nil || p.Kind != difftest.Prepared {
			return p, err
		}
		return c.Batch(&message.Batch{Keyspace: keyspace, Children: []*message.BatchChild{{Id: p.ID}}})
	}
}

// guessIDs executes ids of statements that no client has prepared: those on the hidden keyspace,
// and the physical ones that `explain` shows.
func (f *field) guessIDs(s *server) {
	c, err := difftest.Dial(s.cql, primitive.ProtocolVersion5, "", "")
	if err != nil {
		return
	}
	defer c.Close()
	logical := pick(f.Rand, "SELECT * FROM w.t WHERE p = 1", "SELECT v FROM w.t WHERE p = ? AND c > ?", "INSERT INTO w.t (p, c, v) VALUES (?, ?, ?)", "DELETE FROM w.t WHERE p = ?", "SELECT count(*) FROM w.t", "UPDATE w.t SET v = ? WHERE p = ? AND c = ?")
	// The door prepares the physical statements that it needs.
	if p, err := c.Prepare(logical); err == nil && p.Kind == difftest.Prepared {
		var values []*primitive.Value
		for range strings.Count(logical, "?") {
			values = append(values, primitive.NewValue([]byte{0, 0, 0, 9}))
		}
		_, _ = c.Execute(p, difftest.Request{Values: values})
	}
	texts := []string{"SELECT * FROM evenkeel.layouts", "SELECT * FROM w.t WHERE p = ? AND shard = ?", "INSERT INTO w.t (p, c, v, shard) VALUES (?, ?, ?, ?)", "INSERT INTO w.t (p, shard, c, v) VALUES (?, ?, ?, ?)", "DELETE FROM w.t WHERE p = ? AND shard = ?"}
	if out, err := exec.CommandContext(f.ctx, f.binary, "explain", "--cql", s.cql, logical).Output(); err == nil {
		for line := range strings.Lines(string(out)) {
			if at := strings.IndexAny(line, "SIUD"); at >= 0 {
				texts = append(texts, strings.TrimRight(line[at:], "; \n"))
			}
		}
	}
	for _, text := range texts {
		if strings.Contains(text, "w.t") && !strings.Contains(text, "shard") {
			continue // the client's own statements
		}
		for _, before := range []string{"", "w", "evenkeel", "system"} {
			id := md5.Sum([]byte(before + text))
			for _, send := range []func() (*difftest.Answer, error){
				func() (*difftest.Answer, error) {
					return c.Execute(&difftest.Answer{ID: id[:], MetadataID: id[:]}, difftest.Request{Values: []*primitive.Value{primitive.NewValue([]byte{0, 0, 0, 1}), primitive.NewValue([]byte{0, 0, 0, 1}), primitive.NewValue([]byte{0, 0, 0, 1}), primitive.NewValue([]byte{0, 0, 0, 1})}})
				},
				func() (*difftest.Answer, error) {
					return c.Batch(&message.Batch{Children: []*message.BatchChild{{Id: id[:], Values: []*primitive.Value{primitive.NewValue([]byte{0, 0, 0, 1})}}}})
				},
			} {
				f.sent.Add(1)
				if a, err := send(); err != nil || a.Kind != difftest.Error || a.Code != primitive.ErrorCodeUnprepared {
					f.fault("a guessed id is executed", "%q: %v %v", before+text, a, err)
				}
			}
		}
	}
}

// catalogueRows reads the hidden keyspace, if that is possible.
func catalogueRows(direct string) ([]string, error) {
	if direct == "" {
		return nil, nil
	}
	c, err := difftest.Dial(direct, primitive.ProtocolVersion5, "", "")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var out []string
	for _, text := range []string{"SELECT * FROM evenkeel.layouts WHERE keyspace_name = 'w' ALLOW FILTERING", "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'evenkeel'", "SELECT type_name FROM system_schema.types WHERE keyspace_name = 'evenkeel'",
		"SELECT function_name FROM system_schema.functions WHERE keyspace_name = 'evenkeel'", "SELECT table_name, column_name FROM system_schema.columns WHERE keyspace_name = 'evenkeel'"} {
		a, err := c.Query(difftest.Request{Query: text})
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprint(a))
	}
	return out, nil
}
