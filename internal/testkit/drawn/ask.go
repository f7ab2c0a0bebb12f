// SPDX-License-Identifier: Apache-2.0

package drawn

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// read is a statement that reads.
type read struct {
	equal    []role
	hasRange bool
	ranged   role
	newest   bool // ordered by time, the newest first
	limit    int
	rate     float64
	rare     bool // so rare that it must not decide
}

// ask writes the queries.
func (s *Set) ask(r *rand.Rand) {
	var b strings.Builder
	if chance(r, 40) {
		fmt.Fprintf(&b, "%s what %s is asked\n\n", pick(r, "#", "//", "--"), s.Table)
	}
	dialect := "cql"
	if s.Target == "dynamodb" {
		dialect = pick(r, "cql", "dynamodb", "partiql")
	}
	style := r.IntN(5)
	var lines []string
	for _, q := range s.reads {
		lines = append(lines, s.readText(&q, dialect)+rateText(q.rate, style))
	}
	for _, c := range s.changes {
		lines = append(lines, s.changeText(&c, dialect)+rateText(c.rate, style))
	}
	if s.batch != nil && dialect == "cql" {
		lines = append(lines, s.batchText()+rateText(s.batch.change.rate, style))
	}
	insert := s.insertText(dialect) + rateText(s.rate, style)
	if chance(r, 50) {
		lines = append(lines, insert)
	} else {
		lines = append([]string{insert}, lines...)
	}
	end := pick(r, "\n", "\n\n", "\r\n")
	for _, l := range lines {
		b.WriteString(l + end)
	}
	s.Queries = b.String()
}

// rateText returns the comment after a statement.
func rateText(rate float64, style int) string {
	n, unit := rate, "s"
	switch {
	case rate < 0.02:
		n, unit = rate*3600, "h"
	case rate < 1:
		n, unit = rate*60, "min"
	}
	text := fmt.Sprintf("%.4g", n)
	if n >= 1000 {
		text = fmt.Sprintf("%.0f", n)
	}
	switch {
	case style == 1:
		return fmt.Sprintf(" -- %s per %s", text, map[string]string{"s": "sec", "min": "min", "h": "hour"}[unit])
	case style == 2 && n >= 1000:
		return fmt.Sprintf(" -- %gk/%s", n/1000, unit)
	case style == 3:
		return fmt.Sprintf("; -- %s/%s", text, unit)
	case style == 4:
		return fmt.Sprintf("   --%s / %s", text, unit)
	}
	return fmt.Sprintf(" -- %s/%s", text, unit)
}

// ident returns a column's name as a dialect writes it.
func ident(name, dialect string) string {
	if dialect == "cql" && strings.ToLower(name) != name {
		return `"` + name + `"`
	}
	return name
}

func (s *Set) readText(q *read, dialect string) string {
	column := func(ro role) string { return ident(s.roles[ro], dialect) }
	condition := s.conditions(q, dialect)
	switch dialect {
	case "dynamodb":
		if q.limit == 0 {
			return "GetItem " + condition
		}
		text := fmt.Sprintf("Query %s LIMIT %d", condition, q.limit)
		if q.newest {
			text += " BACKWARD"
		}
		return text
	case "partiql":
		text := fmt.Sprintf(`SELECT * FROM "%s" WHERE %s`, s.tableName(), condition)
		if q.newest {
			text += " ORDER BY " + s.roles[s.byTime()] + " DESC"
		}
		return text
	}
	text := fmt.Sprintf("SELECT * FROM %s WHERE %s", s.Table, condition)
	if q.newest {
		text += " ORDER BY " + column(s.byTime()) + " DESC"
	}
	if q.limit > 0 {
		text += fmt.Sprintf(" LIMIT %d", q.limit)
	}
	return text
}

// byTime returns the column whose order gives the newest rows.
func (s *Set) byTime() role {
	if s.app == feed {
		return id
	}
	return when
}

// tableName returns the table's name without its keyspace.
func (s *Set) tableName() string {
	if _, name, two := strings.Cut(s.Table, "."); two {
		return name
	}
	return s.Table
}

func (s *Set) insertText(dialect string) string {
	switch dialect {
	case "dynamodb":
		return "PutItem " + strings.Join(s.Names, ", ")
	case "partiql":
		var fields []string
		for _, n := range s.Names {
			fields = append(fields, "'"+n+"': ?")
		}
		return fmt.Sprintf(`INSERT INTO "%s" VALUE {%s}`, s.tableName(), strings.Join(fields, ", "))
	}
	var names []string
	for _, n := range s.Names {
		names = append(names, ident(n, dialect))
	}
	text := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s?)", s.Table, strings.Join(names, ", "), strings.Repeat("?, ", len(names)-1))
	if s.ttl > 0 {
		text += fmt.Sprintf(" USING TTL %.0f", s.ttl)
	}
	return text
}
