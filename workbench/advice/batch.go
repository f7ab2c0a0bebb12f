// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// shared is the least mean number of rows of a value that several rows of a batch could share. A column with
// fewer tells rows apart.
const shared = 1.5

// batched returns the statements of the batch that begins at query i, and the index behind it. A query
// that stands alone is returned as it is.
func (s *facts) batched(i int) (list []*queries.Query, next int) {
	b := s.qs[i].Batch
	for next = i; next < len(s.qs) && (next == i || b != nil && s.qs[next].Batch == b); next++ {
		list = append(list, &s.qs[next])
	}
	return list, next
}

// statementsOf returns the statements of a query's batch; nil: it stands alone.
func (s *facts) statementsOf(q *queries.Query) (list []*queries.Query) {
	for i := range s.qs {
		if q.Batch != nil && s.qs[i].Batch == q.Batch {
			list = append(list, &s.qs[i])
		}
	}
	return list
}

// speaks reports whether a query stands for its batch: it is the batch's first statement that is not
// an insert, or the first one if all are inserts.
func (s *facts) speaks(q *queries.Query) bool {
	list := s.statementsOf(q)
	at := slices.IndexFunc(list, func(x *queries.Query) bool { return x.Verb != queries.Insert })
	return len(list) > 0 && list[max(at, 0)] == q
}

// fenced reports whether a query is in a batch whose condition also guards other rows. The store takes such
// a batch in one partition only. DynamoDB's transactions have no such rule.
func (s *facts) fenced(q *queries.Query) bool {
	return q.Batch != nil && q.Batch.Conditional && s.o.Target != DynamoDB && len(s.statementsOf(q)) > 1
}

// refusal says why the store refuses the batch of a query under a design; "": it does not.
func (s *serving) refusal(d *Design, q *queries.Query) string {
	if !s.fenced(q) {
		return ""
	}
	list := s.statementsOf(q)
	for _, x := range list {
		for _, e := range x.Equal {
			if e.Values != 1 && slices.ContainsFunc(append(d.columns(), d.Clustering...), func(c string) bool { return c == e.Column }) {
				return fmt.Sprintf("Cassandra refuses the batch of line %d: it has a condition, and IN on %s", q.Line, e.Column)
			}
		}
	}
	if why := s.apart(d, list); why != "" {
		return fmt.Sprintf("Cassandra refuses the batch of line %d: its condition and its rows lie in several partitions (%s)", q.Line, why)
	}
	return ""
}

// apart says why the rows of a batch's statements do not all lie in one partition; "": they can.
func (s *serving) apart(d *Design, list []*queries.Query) string {
	if len(list) < 2 {
		return ""
	}
	proven := true
	for _, p := range d.Partition {
		why, equal := given(list, p.Column)
		switch {
		case why != "":
			return why
		case !equal && p.Bucket != profile.Whole:
			return fmt.Sprintf("nothing says that they are of the same %s of %s", p.Bucket, p.Column)
		}
		proven = proven && equal
	}
	if !proven && s.apartByKey(d) {
		return fmt.Sprintf("nearly every row has another (%s)", strings.Join(s.partNames(d), ", "))
	}
	if d.Shards > 1 && !s.inOneShard(d, list) {
		return fmt.Sprintf("the rows of a partition key are in %d shards", d.Shards)
	}
	return ""
}

// apartByKey reports whether a design's partition key tells rows apart: nearly each row has a value of its
// own in one of its columns, or no two rows of the data share a partition. Few rows of a partition are no
// proof: the data may be a small part of what there will be.
func (s *serving) apartByKey(d *Design) bool {
	for _, p := range d.Partition {
		if c := s.p.Column(p.Column); p.Bucket == profile.Whole && c.Distinct.Value*shared >= float64(c.Values) {
			return true
		}
	}
	m := s.ofPartition(d.Partition)
	return m != nil && m.RowSizes.Max.High <= 1
}

// inOneShard reports whether the statements are known to give the same value for each column that is hashed.
func (s *serving) inOneShard(d *Design, list []*queries.Query) bool {
	by := d.By
	if len(by) == 0 {
		if by = d.Clustering; d.AddID {
			return false
		}
	}
	return len(by) > 0 && !slices.ContainsFunc(by, func(c string) bool { _, equal := given(list, c); return !equal })
}

// given says why statements do not give one value for a column; "": they may. equal says that they give
// the same literal or the same named marker.
func given(list []*queries.Query, column string) (why string, equal bool) {
	equal = true
	var first *queries.Bound
	text := ""
	for i, q := range list {
		b := q.Given(column)
		switch {
		case b == nil:
			return fmt.Sprintf("not each statement gives one %s", column), false
		case text != "" && b.Text != "" && b.Text != text:
			return fmt.Sprintf("%s is %s in one statement and %s in another", column, text, b.Text), false
		case i == 0:
			first = b
		}
		if b.Text != "" {
			text = b.Text
		}
		equal = equal && (b.Text != "" || b.Marker != "") && b.Text == first.Text && b.Marker == first.Marker
	}
	return "", equal
}

// fences returns the lines of the batches whose conditions also guard other rows, and which a design takes.
func (s *serving) fences(d *Design) (list []int) {
	for i := range s.qs {
		if q := &s.qs[i]; s.fenced(q) && s.speaks(q) && s.refusal(d, q) == "" && !s.oneRow(d, q) && !slices.Contains(list, q.Line) {
			list = append(list, q.Line)
		}
	}
	return list
}

// oneRow reports whether all statements of a query's batch are known to be of one row.
func (s *serving) oneRow(d *Design, q *queries.Query) bool {
	list := s.statementsOf(q)
	return !d.AddID && !slices.ContainsFunc(append(d.columns(), d.Clustering...), func(c string) bool { _, equal := given(list, c); return !equal })
}

// sharedBy returns the clustering columns that keep the rows of a fenced batch in one shard, if they choose
// the shard.
func (s *serving) sharedBy(d *Design, q *queries.Query) (by []string) {
	if !s.fenced(q) || !s.speaks(q) || s.oneRow(d, q) {
		return nil
	}
	list := s.statementsOf(q)
	for _, c := range d.Clustering {
		if _, equal := given(list, c); equal {
			by = append(by, c)
		}
	}
	return by
}

// fenceKeys adds the partition keys that could have all rows of a fenced batch: columns that all its statements
// give and that are not unique to each row, alone and together.
func (s *proposer) fenceKeys(add func(columns []string, weight float64)) {
	for i := range s.qs {
		q := &s.qs[i]
		if !s.fenced(q) || !s.speaks(q) {
			continue
		}
		var all []string
		for j := range s.p.Columns {
			c := s.p.Columns[j].Name
			why, _ := given(s.statementsOf(q), c)
			if s.keyable(c) && why == "" && !s.apartByKey(&Design{Partition: wholes([]string{c})}) {
				all = append(all, c)
				add([]string{c}, rateOf(q)/2)
			}
		}
		add(all, rateOf(q)/2)
	}
}

// fence says that a table is not for sharding, and why, if batches with conditions hold the rows of a key
// together and limits are exceeded; "": that is not so.
func (s *ranker) fence(d *Design, c *score) string {
	list := s.fences(d)
	if len(list) == 0 || len(c.exceeded) == 0 || d.Shards > 1 {
		return ""
	}
	less := ""
	if s.o.Target.nodes() && s.growthOf(d).Unbounded {
		less = ". Its size stays bounded if old rows are deleted, or have a TTL"
	}
	return fmt.Sprintf("such a table is not for sharding: the batch of %s has a condition that guards its other rows, and Cassandra takes such a batch only in one partition of one table. Shards, or buckets of time, would put its rows into several. A finer fence would change that: a column that all rows of a batch share, in each of its statements, and in the partition key; or the same named marker for it in each statement, so that it can choose the shard%s", lines(list), less)
}

// fenceReason says what holds the rows of fenced batches together; "": there are none.
func (s *serving) fenceReason(d *Design) string {
	list := s.fences(d)
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("the condition of the batch of %s guards its other rows: they are in one partition, as Cassandra requires, where such batches take turns, as long as all its statements have the same %s", lines(list), strings.Join(s.partNames(d), " and "))
}

// judged reports whether designs are judged by a query: it looks rows up, or stands for a batch that the
// store may refuse.
func (s *ranker) judged(q *queries.Query) bool {
	return q.Verb != queries.Insert || !s.alone && s.fenced(q) && s.speaks(q)
}

// refused says why the store refuses the batch of a query. It is "" for the designs of further tables, which
// such a batch does not write.
func (s *ranker) refused(d *Design, q *queries.Query) string {
	if s.alone {
		return ""
	}
	return s.refusal(d, q)
}

// logNodes is the number of nodes that write a logged batch down before it is carried out, and that remove
// it afterwards.
const logNodes = 2

// logCost returns what a batch of several partitions costs in addition to its writes, as a number of
// writes: the average over RF nodes. further is the number of further tables, which the batch also
// writes.
func (s *serving) logCost(d *Design, further int, q *queries.Query) float64 {
	if q.Batch == nil || q.Batch.Kind != syntax.BatchLogged || q.Batch.Conditional || !s.speaks(q) || further == 0 && s.apart(d, s.statementsOf(q)) == "" {
		return 0
	}
	return 2.0 * logNodes / RF
}

// twice reports whether a store that bills requests writes the rows of a query's batch twice: to prepare
// and to commit.
func (s *facts) twice(q *queries.Query) bool {
	return q.Batch != nil && q.Batch.Kind == syntax.BatchLogged && len(s.statementsOf(q)) > 1 && (s.o.Target == DynamoDB || s.o.Target == Keyspaces && !q.Batch.Conditional)
}

// batchNote says what it costs that a batch is on several partitions; "": it is in one.
func (s *serving) batchNote(d *Design, further int, q *queries.Query) string {
	why := s.apart(d, s.statementsOf(q))
	switch {
	case why == "" && further == 0 || s.fenced(q):
		return ""
	case why == "":
		why = "it writes several tables"
	}
	switch {
	case q.Batch.Kind != syntax.BatchLogged:
		return fmt.Sprintf("in several partitions (%s): a part of it may be carried out, and not the rest", why)
	case s.o.Target == Keyspaces:
		return fmt.Sprintf("in several partitions (%s)", why)
	}
	return fmt.Sprintf("in several partitions (%s): the batch is first written to a log on %d nodes, and removed there afterwards", why, logNodes)
}

// findTwice finds how many of the writes are written twice.
func (s *traffic) findTwice() {
	twice, all := 0.0, 0.0
	for i := range s.qs {
		if q := &s.qs[i]; q.Writes() {
			all += rateOf(q)
			twice += rateOf(q) * boolTo(s.twice(q))
		}
	}
	if all > 0 {
		s.load.twice = twice / all
	}
}

// doubled returns the mean units of a write, if a part of the writes takes twice the units of its
// item.
func (l *load) doubled(u profile.Units) profile.Units {
	u.Mean, u.Low, u.High, u.Square = u.Mean*(1+l.twice), u.Low*(1+l.twice), u.High*(1+l.twice), u.Square*(1+3*l.twice)
	return u
}
