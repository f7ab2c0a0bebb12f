// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"

	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// nodeWith returns the writes per second that each node takes if all of them are also written to
// that many further tables, and all tables are spread evenly.
func (s *traffic) nodeWith(further int) float64 {
	if s.load.from != FromQueries || !s.o.Target.nodes() {
		return 0
	}
	return s.load.writes * RF / Nodes * float64(1+further)
}

// full reports whether the nodes do not bear that all writes are written to one further table.
func (s *traffic) full() bool { return s.nodeWith(1) > s.o.NodeWrites }

// moreNodes says how many nodes it takes to bear that many further tables; "" if the nodes bear
// them.
func (s *traffic) moreNodes(further int) string {
	each := s.nodeWith(further)
	if each <= s.o.NodeWrites {
		return ""
	}
	return fmt.Sprintf("with %s, each of %d nodes takes %s writes/s, it bears %s: add nodes first, %s in all",
		countOf(float64(further), "further table"), Nodes, number(each), number(s.o.NodeWrites), number(math.Ceil(each*Nodes/s.o.NodeWrites)))
}

// Listed values are named one by one in a query that does not restrict their column.
const (
	mostListed   = 8
	rowsOfListed = 1000 // so many rows show that there are no others
)

// listed returns the number of a column's values if a query can name all of them instead of reading
// a further table. The values must be few and known for long. The nodes must be full: otherwise a
// further table is better, because it does not miss a value that is new.
func (s *traffic) listed(p profile.Part, q *queries.Query) (n float64, ok bool) {
	c := s.p.Column(p.Column)
	if c == nil || p.Bucket != profile.Whole || q.Verb != queries.Read || q.Range(p.Column) != nil || !s.full() {
		return 0, false
	}
	known := len(c.Growth) == 10 && c.Growth[0] >= 0.99 && s.p.Rows >= rowsOfListed
	return c.Distinct.Value, known && c.Distinct.Exact && c.Distinct.Value <= mostListed && c.Nulls+c.Empty == 0
}
