// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// batch writes the statements of a batch as one, with those for the further tables in it. Cassandra takes
// a batch with a condition only for one table: then they are another batch, which the application sends
// behind it.
func (s cqlWriter) batch(d *Design, extras []Extra, list []*queries.Query) (out []Statement) {
	first := list[0]
	main, behind := s.emptyBatch(first.Batch), s.emptyBatch(first.Batch)
	var notes, after []string
	for _, q := range list {
		made, more := s.tree(d, s.table(), q)
		if s.manyBuckets(d, q) {
			x := written(q.Line, made, append([]string{"by itself, before the batch: the door takes no deletion of many buckets in one"}, more...))
			out = append(out, x)
			continue
		}
		main.Statements, notes = append(main.Statements, made), added(notes, more)
	}
	for j := range extras {
		e := &extras[j]
		for _, q := range list {
			made, more := s.tree(e.design, s.furtherTable(e), q)
			more = append([]string{s.same(e)}, more...)
			switch {
			case s.manyBuckets(e.design, q):
				out = append(out, written(q.Line, made, append([]string{"by itself, before the batch: the door takes no deletion of many buckets in one"}, more...)))
			case first.Batch.Conditional:
				behind.Statements, after = append(behind.Statements, unconditional(made)), added(after, more)
			default:
				main.Statements, notes = append(main.Statements, made), added(notes, more)
			}
		}
	}
	if why := s.refusal(d, first); why != "" {
		notes = append([]string{why}, notes...)
	}
	further := len(extras)
	if first.Batch.Conditional {
		further = 0
	}
	if t := s.batchNote(d, further, first); t != "" {
		notes = append(notes, t)
	}
	if s.twice(first) {
		notes = append(notes, "each row is billed twice, for it is written to prepare and to commit")
	}
	if len(main.Statements) > 0 {
		out = append(out, written(first.Line, main, notes))
	}
	if len(behind.Statements) > 0 {
		note := "once the batch with the condition has been applied, and again after a crash between the two: Cassandra takes no second table in that batch"
		out = append(out, written(first.Line, behind, append([]string{note}, after...)))
	}
	return out
}

// emptyBatch returns a batch of the same kind, with the same USING, without statements.
func (s cqlWriter) emptyBatch(b *queries.Batch) *syntax.Batch {
	out := &syntax.Batch{Kind: b.Kind}
	if tree, err := syntax.Parse(b.Text); err == nil {
		if own, is := tree.(*syntax.Batch); is {
			out.Using = own.Using
		}
	}
	return out
}

// manyBuckets reports whether a statement deletes rows in many of the buckets that the layout keeps. The door
// refuses that in a batch.
func (s cqlWriter) manyBuckets(d *Design, q *queries.Query) bool {
	return s.timed(d) && q.Verb == queries.Delete && q.Bound(d.bucket().Column) == nil
}

// unconditional takes the condition from a statement.
func unconditional(tree syntax.Statement) syntax.Statement {
	switch x := tree.(type) {
	case *syntax.Insert:
		x.IfNotExists = false
	case *syntax.Update:
		x.If, x.IfExists = nil, false
	case *syntax.Delete:
		x.If, x.IfExists = nil, false
	}
	return tree
}

// added adds the notes that are not there yet.
func added(notes, more []string) []string {
	for _, n := range more {
		if !slices.Contains(notes, n) {
			notes = append(notes, n)
		}
	}
	return notes
}

// behindBatch says how a further table is written if the rows of the table are written by batches with
// conditions; "": there are none.
func (s *facts) behindBatch() string {
	var list []int
	for i := range s.qs {
		if q := &s.qs[i]; q.Batch != nil && q.Batch.Conditional && s.o.Target != DynamoDB && s.speaks(q) && !slices.Contains(list, q.Line) {
			list = append(list, q.Line)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("; the batch of %s cannot keep it up to date, for Cassandra takes a batch with a condition only in one table: the application writes it afterwards, and again after a crash between the two", lines(list))
}

// together says how a design serves the query at an index: a batch as a whole, if it is one.
func (s *serving) together(d *Design, i int) (v Service, kind string) {
	list, _ := s.batched(i)
	for n, q := range list {
		x := s.serve(d, q)
		if n == 0 || x.Kind > v.Kind {
			v.Kind, v.Why = x.Kind, x.Why
		}
		v.Rows += x.Rows
		v.Partitions += x.Partitions
	}
	if len(list) == 1 {
		return v, v.Kind.String()
	}
	why := s.apart(d, list)
	if refused := s.refusal(d, list[0]); refused != "" {
		v.Why = refused
		return v, "refused"
	}
	if v.Kind == OnePartition {
		if why == "" {
			v.Partitions = 1
		} else {
			v.Kind, v.Why = FanOut, why
		}
	}
	return v, v.Kind.String()
}
