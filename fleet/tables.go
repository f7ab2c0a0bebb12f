// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/deadline"
)

// scope is the key of the one partition of each table. So a beat reads with one request from one
// set of replicas.
const scope = "cql"

// definitions creates the tables. A door's row disappears 10 minutes after its last write, which
// is far longer than a barrier waits.
var definitions = []struct{ table, cql string }{
	{"doors", "CREATE TABLE IF NOT EXISTS evenkeel.doors (scope text, id uuid, host_id uuid, cql text, dynamodb text, data_center text, rack text, " +
		"release text, formats text, steps text, lease bigint, beat bigint, acknowledged text, schema_version uuid, PRIMARY KEY (scope, id)) WITH default_time_to_live = 600"},
	{"published", "CREATE TABLE IF NOT EXISTS evenkeel.published (scope text, keyspace_name text, table_name text, table_id uuid, generation bigint, step text, " +
		"PRIMARY KEY (scope, keyspace_name, table_name, table_id))"},
	{"settings", "CREATE TABLE IF NOT EXISTS evenkeel.settings (name text PRIMARY KEY, value text)"},
}

const (
	writeDoor = "INSERT INTO evenkeel.doors (" + doorColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	readDoors = "SELECT " + doorColumns + ", ttl(beat) FROM evenkeel.doors WHERE scope = ?"

	// A door that is late neither replaces nor removes what another door has published since.
	writePublished   = "INSERT INTO evenkeel.published (scope, keyspace_name, table_name, table_id, generation, step) VALUES (?, ?, ?, ?, ?, ?) IF NOT EXISTS"
	replacePublished = "UPDATE evenkeel.published SET generation = ?, step = ?" + ofPublished + " IF generation < ?"
	removePublished  = "DELETE FROM evenkeel.published" + ofPublished + " IF generation <= ?"
	ofPublished      = " WHERE scope = ? AND keyspace_name = ? AND table_name = ? AND table_id = ?"
	readPublished    = "SELECT keyspace_name, table_name, table_id, generation, step FROM evenkeel.published WHERE scope = ?"

	writeSetting = "INSERT INTO evenkeel.settings (name, value) VALUES (?, ?)"
	readSettings = "SELECT name, value FROM evenkeel.settings"
)

// tables are the fleet's tables, in the catalogue's keyspace.
type tables struct{ session catalog.Session }

// query executes a statement at LOCAL_QUORUM. So a door goes on while another data centre is down.
func (t tables) query(ctx context.Context, cql string, values ...[]byte) ([]catalog.Row, error) {
	return t.session.Query(ctx, wire.LocalQuorum, cql, values...)
}

// ensure creates missing tables and waits until they can be read.
func (t tables) ensure(ctx context.Context) error {
	rows, err := t.session.Query(ctx, wire.One, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = '"+catalog.Keyspace+"'")
	if err != nil {
		return fmt.Errorf("look for the table of doors: %w", err)
	}
	for _, d := range definitions {
		if slices.ContainsFunc(rows, func(r catalog.Row) bool { return string(r["table_name"]) == d.table }) {
			continue
		}
		err := t.ready(ctx, func() error { // some nodes may not know a new keyspace yet
			return catalog.CreateTable(ctx, t.session, d.cql)
		})
		if err != nil {
			return fmt.Errorf("create table %s.%s: %w", catalog.Keyspace, d.table, err)
		}
	}
	if err := t.addColumn(ctx, rows); err != nil {
		return err
	}
	// Another door may have just created a table that some nodes do not know yet.
	catalog.Agree(ctx, t.session)
	for _, read := range []func() error{
		func() error { _, err := t.doors(ctx); return err },
		func() error { _, err := t.published(ctx); return err },
		func() error { _, err := t.query(ctx, readSettings); return err },
	} {
		if err := t.ready(ctx, read); err != nil {
			return err
		}
	}
	return nil
}

// addColumn adds the column schema_version to a table that an older release created. Another door
// may be adding it at the same time.
func (t tables) addColumn(ctx context.Context, tables []catalog.Row) error {
	if !slices.ContainsFunc(tables, func(r catalog.Row) bool { return string(r["table_name"]) == "doors" }) {
		return nil // the table was just created with it
	}
	const column = "SELECT column_name FROM system_schema.columns WHERE keyspace_name = '" + catalog.Keyspace + "' AND table_name = 'doors' AND column_name = 'schema_version'"
	rows, err := t.session.Query(ctx, wire.One, column)
	if err != nil || len(rows) > 0 {
		return err
	}
	_, wrong := t.session.Query(ctx, wire.LocalQuorum, "ALTER TABLE evenkeel.doors ADD schema_version uuid")
	if wrong == nil {
		return nil
	}
	if rows, err = t.session.Query(ctx, wire.One, column); err != nil || len(rows) > 0 {
		return err
	}
	return fmt.Errorf("add a column to the table of doors: %w", wrong)
}

// ready repeats a statement until the store can execute it.
func (t tables) ready(ctx context.Context, execute func() error) error {
	const tries, pause = 50, 100 * time.Millisecond
	var err error
	for range tries {
		if err = execute(); err == nil {
			return nil
		}
		var e *wire.Error
		if !errors.As(err, &e) || e.Code != wire.CodeInvalid && e.Code != wire.CodeServer && e.Code != wire.CodeReadFailure {
			return err
		}
		if deadline.Sleep(ctx, pause) != nil {
			return err
		}
	}
	return err
}

func (t tables) write(ctx context.Context, d *Door) error {
	_, err := t.query(ctx, writeDoor, d.values()...)
	return err
}

// doors returns all doors, by id. The rows of doors in other data centres may be a moment old.
func (t tables) doors(ctx context.Context) ([]*Door, error) {
	return listDoors(t.query(ctx, readDoors, []byte(scope)))
}

// allDoors returns all doors of all data centres, by id.
func (t tables) allDoors(ctx context.Context) ([]*Door, error) {
	return listDoors(catalog.Everywhere(ctx, t.session, readDoors, []byte(scope)))
}

func listDoors(rows []catalog.Row, err error) ([]*Door, error) {
	if err != nil {
		return nil, fmt.Errorf("read the doors: %w", err)
	}
	var all []*Door
	for _, r := range rows {
		d, err := readDoor(r)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// published returns all publications, by table.
func (t tables) published(ctx context.Context) ([]Publication, error) {
	rows, err := t.query(ctx, readPublished, []byte(scope))
	if err != nil {
		return nil, fmt.Errorf("read what is published: %w", err)
	}
	var all []Publication
	for _, r := range rows {
		p := Publication{Table: Table{Keyspace: string(r["keyspace_name"]), Name: string(r["table_name"])},
			Generation: readBigint(r["generation"]), Step: string(r["step"])}
		copy(p.Table.ID[:], r["table_id"])
		all = append(all, p)
	}
	return all, nil
}

// publish writes a publication, unless that generation or a later one is published. It repeats a write
// if the store does not know whether the write took place.
func (t tables) publish(ctx context.Context, p Publication) error {
	key, generation, step := keyOf(p.Table), bigint(p.Generation), []byte(p.Step)
	for {
		there, err := catalog.Everywhere(ctx, t.session, writePublished, append(key, generation, step)...)
		if err == nil && refused(there) && there[0].Int("generation") < p.Generation {
			replaced, wrong := catalog.Everywhere(ctx, t.session, replacePublished, slices.Concat([][]byte{generation, step}, key, [][]byte{generation})...)
			if wrong == nil && refused(replaced) {
				continue // another door has replaced or withdrawn it
			}
			err = wrong
		}
		if catalog.Unknown(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("publish generation %d of %s: %w", p.Generation, p.Table, err)
		}
		return nil
	}
}

// withdraw removes what is published of a table, up to a generation.
func (t tables) withdraw(ctx context.Context, of Table, generation int64) error {
	for {
		_, err := catalog.Everywhere(ctx, t.session, removePublished, append(keyOf(of), bigint(generation))...)
		if catalog.Unknown(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("withdraw generation %d of %s: %w", generation, of, err)
		}
		return nil
	}
}

// keyOf returns the primary key of a table's publication.
func keyOf(t Table) [][]byte {
	return [][]byte{[]byte(scope), []byte(t.Keyspace), []byte(t.Name), t.ID[:]}
}

// refused says whether the condition of a write did not hold.
func refused(rows []catalog.Row) bool { return len(rows) == 1 && !rows[0].Bool("[applied]") }

// settings are the values that all doors must share.
type settings struct {
	format string
	lease  time.Duration
}

// settings reads the settings, and writes those that are missing.
func (t tables) settings(ctx context.Context, lease time.Duration) (settings, error) {
	rows, err := t.query(ctx, readSettings)
	if err != nil {
		return settings{}, fmt.Errorf("read the settings: %w", err)
	}
	have := map[string]string{}
	for _, r := range rows {
		have[string(r["name"])] = string(r["value"])
	}
	for name, value := range map[string]string{"format": Format, "lease": lease.String()} {
		if have[name] != "" {
			continue
		}
		if _, err := t.query(ctx, writeSetting, []byte(name), []byte(value)); err != nil {
			return settings{}, fmt.Errorf("write the setting %s: %w", name, err)
		}
		have[name] = value
	}
	s := settings{format: have["format"]}
	if s.lease, err = time.ParseDuration(have["lease"]); err != nil || s.lease <= 0 {
		return settings{}, fmt.Errorf("the length of leases in %s.settings is %q; write one such as '2s'", catalog.Keyspace, have["lease"])
	}
	return s, nil
}
