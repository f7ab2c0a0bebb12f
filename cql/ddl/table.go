// SPDX-License-Identifier: Apache-2.0

package ddl

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
)

func (c *change) createTable(stmt *syntax.CreateTable) error {
	d := definition{stmt: stmt, name: stmt.Name.Name}
	keyspace, err := c.keyspaceOf(stmt.Name)
	if err != nil {
		return err
	}
	if err := d.readKeys(); err != nil {
		return err
	}
	p, err := c.tableProperties(stmt.With)
	if err != nil {
		return err
	}
	if err := permit(keyspace, "CREATE", "<all tables in "+keyspace+">"); err != nil {
		return err
	}
	options, err := tableOptions(p, nil)
	if err != nil {
		return err
	}
	if err := c.customOptions(p, nil, options); err != nil {
		return err
	}
	ks := c.old.Keyspaces[keyspace]
	if ks == nil {
		return noKeyspace(keyspace)
	}
	if ks.Tables[d.name] != nil {
		if stmt.IfNotExists {
			return nil
		}
		return tableExists(keyspace, d.name)
	}
	if err := p.known(c.tableProperty); err != nil {
		return err
	}
	if stmt.CompactStorage {
		return invalid("COMPACT STORAGE is not supported by the embedded engine")
	}
	cols, err := d.columns(ks, options)
	if err != nil {
		return err
	}
	t := &schema.Table{Keyspace: keyspace, Name: d.name, Options: options, Counter: d.counter}
	if t.ID, err = c.tableID(p); err != nil {
		return err
	}
	if !validName(d.name) {
		return configError("%s.%s: Table name must not be empty or not contain non-alphanumeric-underscore characters (got \"%s\")",
			keyspace, d.name, d.name)
	}
	if err := checkOptions(options); err != nil {
		return err
	}
	t = rebuild(t, func([]*schema.Column) []*schema.Column { return cols })
	if err := c.uniqueID(t); err != nil {
		return err
	}
	c.put(keyspace, withTable(ks, t.Name, t), wire.SchemaChange{Change: wire.ChangeCreated, Target: wire.TargetTable, Name: t.Name})
	return nil
}

// tableID returns the id that the statement gives the table, or a new one.
func (c *change) tableID(p *properties) (id [16]byte, err error) {
	text, ok, err := p.string("id")
	if err != nil {
		return id, err
	}
	if !ok {
		return c.env.TableID(), nil
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(raw) != len(id) || strings.Count(text, "-") != 4 {
		return id, configError("Invalid table id")
	}
	return [16]byte(raw), nil
}

// uniqueID refuses an id that another table has.
func (c *change) uniqueID(t *schema.Table) error {
	for _, ks := range c.old.Keyspaces {
		for _, u := range ks.Tables {
			if u.ID == t.ID {
				return configError("Table id %x is already that of %s.%s", t.ID, u.Keyspace, u.Name)
			}
		}
	}
	return nil
}

// definition is the list of columns of a CREATE TABLE while they are converted to a schema.
type definition struct {
	stmt       *syntax.CreateTable
	name       string
	partition  []string
	clustering []string
	types      map[string]*value.Type
	counter    bool
}

// readKeys finds the primary key and makes the checks of Cassandra's parser.
func (d *definition) readKeys() error {
	seen := make(map[string]bool, len(d.stmt.Columns))
	display := d.name
	if d.stmt.Name.Keyspace != "" {
		display = d.stmt.Name.Keyspace + "." + d.name
	}
	d.partition, d.clustering = d.stmt.PartitionKey, d.stmt.Clustering
	for _, col := range d.stmt.Columns {
		if seen[col.Name] {
			return invalid("Duplicate column '%s' declaration for table '%s'", col.Name, display)
		}
		seen[col.Name] = true
		if col.PrimaryKey {
			if len(d.partition) > 0 {
				return invalid("Multiple PRIMARY KEY specified for table '%s' (exactly one required)", display)
			}
			d.partition = []string{col.Name}
		}
	}
	ordered := make(map[string]bool, len(d.stmt.Order))
	for _, o := range d.stmt.Order {
		if ordered[o.Column] {
			return invalid("Duplicate column '%s' in CLUSTERING ORDER BY clause for table '%s'", o.Column, display)
		}
		ordered[o.Column] = true
	}
	if len(d.partition) == 0 {
		return invalid("No PRIMARY KEY specifed for table '%s' (exactly one required)", display)
	}
	return nil
}

// columns makes the columns. It makes Cassandra's checks in Cassandra's order.
func (d *definition) columns(ks *schema.Keyspace, options map[string]any) ([]*schema.Column, error) {
	if err := d.resolve(ks); err != nil {
		return nil, err
	}
	keys := slices.Concat(d.partition, d.clustering)
	places := make(map[string]int, len(keys))
	for i, name := range keys {
		if d.types[name] == nil {
			return nil, invalid("Unknown column '%s' referenced in PRIMARY KEY for table '%s'", name, d.name)
		}
		if _, twice := places[name]; twice {
			return nil, invalid("Duplicate column '%s' in PRIMARY KEY clause for table '%s'", name, d.name)
		}
		places[name] = i
	}
	statics := map[string]bool{}
	for _, def := range d.stmt.Columns {
		statics[def.Name] = def.Static
	}
	for _, name := range keys {
		if err := checkKeyType(name, d.types[name]); err != nil {
			return nil, err
		}
		if statics[name] {
			return nil, invalid("Static column '%s' cannot be part of the PRIMARY KEY", name)
		}
	}
	desc, err := d.order()
	if err != nil {
		return nil, err
	}
	if err := d.checkRest(places, options); err != nil {
		return nil, err
	}
	var cols []*schema.Column
	for _, def := range d.stmt.Columns {
		col := &schema.Column{Name: def.Name, Type: d.types[def.Name], Kind: schema.Regular, Position: -1}
		switch place, key := places[def.Name]; {
		case key && place < len(d.partition):
			col.Kind, col.Position = schema.PartitionKey, place
		case key:
			col.Kind, col.Position = schema.Clustering, place-len(d.partition)
			col.Desc = desc[def.Name]
		case def.Static:
			col.Kind = schema.Static
		}
		cols = append(cols, col)
	}
	return cols, nil
}

func (d *definition) resolve(ks *schema.Keyspace) error {
	defs := slices.SortedFunc(slices.Values(d.stmt.Columns), func(a, b syntax.ColumnDef) int { return cmp.Compare(a.Name, b.Name) })
	d.types = make(map[string]*value.Type, len(defs))
	for _, def := range defs {
		if def.Mask != nil {
			return invalid("Column masks (MASKED WITH) are not supported by the embedded engine")
		}
		t, err := analysis.ResolveType(def.Type, ks)
		if err != nil {
			return err
		}
		d.types[def.Name] = t
	}
	for _, def := range defs {
		if nested(d.types[def.Name]) {
			return invalid("Non-frozen UDTs with nested non-frozen collections are not supported")
		}
	}
	return nil
}

// nested reports whether t is a non-frozen UDT with a non-frozen field.
func nested(t *value.Type) bool {
	return t.Kind == value.UDT && t.Multicell() && slices.ContainsFunc(t.Elems, (*value.Type).Multicell)
}

func checkKeyType(column string, t *value.Type) error {
	switch {
	case t.Multicell() && t.Collection():
		return invalid("Invalid non-frozen collection type %s for PRIMARY KEY column '%s'", t, column)
	case t.Multicell():
		return invalid("Invalid non-frozen user-defined type \"%s.%s\" for PRIMARY KEY column '%s'", t.Keyspace, t.Name, column)
	case t.Kind == value.Counter:
		return invalid("counter type is not supported for PRIMARY KEY column '%s'", column)
	case t.Contains(value.Duration):
		return invalid("duration type is not supported for PRIMARY KEY column '%s'", column)
	}
	return nil
}

// order checks CLUSTERING ORDER BY and returns which columns are descending.
func (d *definition) order() (map[string]bool, error) {
	desc := map[string]bool{}
	clustering := make(map[string]bool, len(d.clustering))
	for _, name := range d.clustering {
		clustering[name] = true
	}
	var foreign []string
	for _, o := range d.stmt.Order {
		desc[o.Column] = o.Desc
		if !clustering[o.Column] {
			foreign = append(foreign, o.Column)
		}
	}
	if len(foreign) > 0 {
		return nil, invalid("Only clustering key columns can be defined in CLUSTERING ORDER directive: [%s] are not clustering columns",
			strings.Join(foreign, ", "))
	}
	for i, o := range d.stmt.Order {
		if want := d.clustering[i]; want != o.Column {
			if _, given := desc[want]; given {
				return nil, invalid("The order of columns in the CLUSTERING ORDER directive must match that of the clustering columns (%s must appear before %s)", want, o.Column)
			}
			return nil, invalid("Missing CLUSTERING ORDER for column %s", want)
		}
	}
	return desc, nil
}

// checkRest checks the columns outside the primary key.
func (d *definition) checkRest(keys map[string]int, options map[string]any) error {
	counters, others := 0, 0
	for _, def := range d.stmt.Columns {
		if _, key := keys[def.Name]; key {
			continue
		}
		if def.Static && len(d.clustering) == 0 {
			return errStatic
		}
		if d.types[def.Name].Kind == value.Counter {
			counters++
		} else {
			others++
		}
	}
	if counters > 0 && others > 0 {
		return invalid("Cannot mix counter and non counter columns in the same table")
	}
	d.counter = counters > 0
	return checkCounterTTL(d.counter, options)
}

var errStatic = invalid("Static columns are only useful (and thus allowed) if the table has at least one clustering column")

func checkCounterTTL(counter bool, options map[string]any) error {
	if counter && options["default_time_to_live"].(int) > 0 {
		return invalid("Cannot set default_time_to_live on a table with counters")
	}
	return nil
}

// rebuild copies a table with the columns that change returns. change gets its own copy of the
// list.
func rebuild(t *schema.Table, change func([]*schema.Column) []*schema.Column) *schema.Table {
	n := *t
	cols := change(slices.Clone(t.All()))
	n.PartitionKey, n.Clustering, n.Statics, n.Regulars = nil, nil, nil, nil
	n.Columns = make(map[string]*schema.Column, len(cols))
	for _, c := range cols {
		n.Columns[c.Name] = c
		switch c.Kind {
		case schema.PartitionKey:
			n.PartitionKey = append(n.PartitionKey, c)
		case schema.Clustering:
			n.Clustering = append(n.Clustering, c)
		case schema.Static:
			n.Statics = append(n.Statics, c)
		case schema.Regular:
			n.Regulars = append(n.Regulars, c)
		}
	}
	byPosition := func(a, b *schema.Column) int { return cmp.Compare(a.Position, b.Position) }
	byName := func(a, b *schema.Column) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(n.PartitionKey, byPosition)
	slices.SortFunc(n.Clustering, byPosition)
	slices.SortFunc(n.Statics, byName)
	slices.SortFunc(n.Regulars, byName)
	return &n
}
