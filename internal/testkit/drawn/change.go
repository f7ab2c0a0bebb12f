// SPDX-License-Identifier: Apache-2.0

package drawn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// change is a statement that changes or deletes rows. Changes are so rare that they decide nothing.
type change struct {
	deletes bool
	set     role   // the column of an update
	equal   []role // identify the rows
	older   bool   // and everything before a time
	rate    float64
}

// rowKey returns the columns by which a statement names a row.
func (s *Set) rowKey() (row []role) {
	switch s.app {
	case timeline:
		row = []role{entity, when}
	case composite:
		row = []role{entity, kind, when}
	case items, feed:
		row = []role{entity, id}
	case byID:
		row = []role{id}
	case dated:
		row = []role{day, id}
	}
	if row[len(row)-1] == when && s.unique {
		row = append(row, id)
	}
	return row
}

// change draws the statements that change rows.
func (s *Set) change(r *rand.Rand) {
	row := s.rowKey()
	few := 0.002 * min(s.rate, s.load())
	set := role(number)
	if s.roles[set] == "" {
		set = note
	}
	if s.roles[set] != "" && chance(r, 60) {
		s.changes = append(s.changes, change{set: set, equal: row, rate: few})
	}
	switch {
	case !chance(r, 60):
	case s.Target != "dynamodb" && (s.app == timeline || s.app == composite) && chance(r, 50):
		s.changes = append(s.changes, change{deletes: true, equal: row[:len(s.reads[0].equal)], older: true, rate: few / 2})
	default:
		s.changes = append(s.changes, change{deletes: true, equal: row, rate: few / 2})
	}
}

// changesBy reports whether a change names rows by a column.
func (s *Set) changesBy(ro role) bool {
	return slices.ContainsFunc(s.changes, func(c change) bool { return slices.Contains(c.equal, ro) }) || s.batch != nil && slices.Contains(s.batch.change.equal, ro)
}

func (s *Set) changeText(c *change, dialect string) string {
	q := read{equal: c.equal}
	where := s.conditions(&q, dialect)
	if c.older {
		where += " AND " + ident(s.roles[when], dialect) + " < ?"
	}
	column, table := ident(s.roles[c.set], dialect), s.Table
	if dialect == "partiql" {
		table = `"` + s.tableName() + `"`
	}
	switch {
	case dialect == "dynamodb" && c.deletes:
		return "DeleteItem " + where
	case dialect == "dynamodb":
		return fmt.Sprintf("UpdateItem %s SET %s", where, column)
	case c.deletes:
		return fmt.Sprintf("DELETE FROM %s WHERE %s", table, where)
	}
	return fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s", table, column, where)
}

// conditions returns a statement's conditions on rows.
func (s *Set) conditions(q *read, dialect string) string {
	var where []string
	column := func(ro role) string { return ident(s.roles[ro], dialect) }
	mark := func(ro role) string {
		if dialect == "dynamodb" {
			return ":" + strings.ToLower(s.roles[ro][:1])
		}
		return "?"
	}
	for _, ro := range q.equal {
		where = append(where, column(ro)+" = "+mark(ro))
	}
	if q.hasRange {
		if dialect == "cql" {
			where = append(where, column(q.ranged)+" >= ?", column(q.ranged)+" < ?")
		} else {
			where = append(where, column(q.ranged)+" BETWEEN "+mark(q.ranged)+" AND "+mark(q.ranged)+map[bool]string{true: "2"}[dialect == "dynamodb"])
		}
	}
	return strings.Join(where, " AND ")
}
