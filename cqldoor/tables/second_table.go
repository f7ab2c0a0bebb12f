// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// refuseSecond returns an error if a statement names a physical table that clients do not see. It
// accepts every CREATE TABLE.
func (v *View) refuseSecond(h syntax.Head, text, keyspace string) error {
	if len(v.Hidden) == 0 {
		return nil
	}
	check := func(n syntax.Name) error {
		if n.Keyspace == "" {
			n.Keyspace = keyspace
		}
		if v.Hidden[n] {
			return wire.Invalidf("table %s does not exist", n.Name)
		}
		return nil
	}
	if h.Kind == syntax.StatementCreateTable {
		return nil // the store reports that the name is taken
	}
	for _, n := range []syntax.Name{h.Name, h.On} {
		if err := check(n); err != nil {
			return err
		}
	}
	for n := range syntax.Tables(text) {
		if err := check(n); err != nil {
			return err
		}
	}
	return nil
}

// LogicalError returns the store's error with the logical name in place of each hidden physical
// name.
func (v *View) LogicalError(err error) error {
	e, ok := err.(*wire.Error)
	if !ok || len(v.Hidden) == 0 {
		return err
	}
	for n := range v.Hidden {
		if t := v.logicalOf(n); t != nil && strings.Contains(e.Message, n.Name) {
			named := *e
			named.Message = strings.ReplaceAll(e.Message, n.Name, t.Entry.Table)
			e = &named
		}
	}
	return e
}

// Renamed reports whether n is a sharded table whose rows are in a physical table of another name.
// keyspace is the keyspace of an unqualified name.
func (v *View) Renamed(n syntax.Name, keyspace string) bool {
	if n.Keyspace != "" {
		keyspace = n.Keyspace
	}
	t := v.Tables[keyspace][n.Name]
	return t != nil && t.Entry.Physical != t.Entry.Table
}

// Named returns the sharded table whose rows a physical table of the store has. Clients see the
// physical table under the name of that sharded table. Named returns nil and true for a table that
// clients see unchanged, and false for a table that they do not see.
func (v *View) Named(keyspace, physical string) (*Sharded, bool) {
	n := syntax.Name{Keyspace: keyspace, Name: physical}
	if v.Hidden[n] {
		t := v.logicalOf(n)
		return t, t != nil
	}
	t := v.Tables[keyspace][physical]
	return t, t == nil || t.Entry.Physical == physical
}

// DescribesPhysical replaces the logical name in the DESCRIBE of a table by the name of the physical
// table that has the rows. It returns an error for a hidden name, and any other text unchanged.
func (v *View) DescribesPhysical(text, keyspace string) (string, error) {
	if len(v.Hidden) == 0 {
		return text, nil
	}
	tree, err := syntax.Parse(text)
	if err != nil {
		return text, nil // the store reports the error
	}
	d, ok := tree.(*syntax.Describe)
	if !ok || d.What != "" && !strings.EqualFold(d.What, "TABLE") || d.Name.Name == "" {
		return text, nil
	}
	n := d.Name
	if n.Keyspace == "" {
		n.Keyspace = keyspace
	}
	if v.Hidden[n] {
		return "", wire.Invalidf("'%s' not found in keyspace '%s'", n.Name, n.Keyspace)
	}
	if t := v.Tables[n.Keyspace][n.Name]; t != nil && t.Entry.Physical != n.Name {
		named := *d
		named.Name = syntax.Name{Keyspace: n.Keyspace, Name: t.Entry.Physical}
		return syntax.Print(&named), nil
	}
	return text, nil
}

// logicalOf returns the logical table whose rows are in the physical table n, or nil if there is
// none.
func (v *View) logicalOf(n syntax.Name) *Sharded {
	for _, t := range v.Tables[n.Keyspace] {
		if t.Entry.Physical == n.Name {
			return t
		}
	}
	return nil
}
