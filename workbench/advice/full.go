// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"fmt"
	"math"

	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// nodesFor returns how many nodes are needed if all writes go to that many tables, which are spread
// evenly; 0: the queries have no rates, or the store has no nodes of the user's own.
func (s *traffic) nodesFor(tables int) float64 {
	if s.load.from != FromQueries || !s.o.Target.nodes() {
		return 0
	}
	return math.Max(RF, math.Ceil(s.load.writes*RF*float64(tables)/s.o.NodeWrites))
}

// nodes returns the number of nodes on which heat is judged: Nodes, or as many as the present writes
// to one table need.
func (s *traffic) nodes() float64 { return math.Max(Nodes, s.cluster) }

// full reports whether Nodes are too few to write all rows to a further table, too.
func (s *traffic) full() bool { return s.nodesFor(2) > Nodes }

// moreNodes says how many nodes that many further tables take; "" if Nodes are enough.
func (s *traffic) moreNodes(further int) string {
	n := s.nodesFor(1 + further)
	if n <= Nodes {
		return ""
	}
	return fmt.Sprintf("with %s the writes need %s nodes in place of %s", countOf(float64(further), "further table"), number(n), number(s.nodes()))
}

// NodesNeeded is how many nodes the writes need.
type NodesNeeded struct {
	Nodes    int     `json:"nodes"`
	Writes   float64 `json:"writes_per_second"` // stated
	Tables   int     `json:"tables"`            // that each row is written to
	Replicas int     `json:"replicas"`
	PerNode  float64 `json:"node_writes_per_second"` // that a node bears

	// Busiest is the number of writes a second in the busiest time of the data, and AtBusiest the
	// number of nodes that these need; 0: no time is busier.
	Busiest   float64 `json:"busiest_writes_per_second,omitempty"`
	AtBusiest int     `json:"nodes_at_busiest,omitempty"`
}

// nodesNeeded returns how many nodes a table and its further tables need; nil: that cannot be said.
func (s *ranker) nodesNeeded(tables int) *NodesNeeded {
	n := s.nodesFor(tables)
	if n == 0 {
		return nil
	}
	out := &NodesNeeded{Nodes: int(n), Writes: s.load.writes, Tables: tables, Replicas: RF, PerNode: s.o.NodeWrites}
	if all := s.busiest(&Design{}, nil).All; all > s.load.writes*1.1 {
		out.Busiest = all
		out.AtBusiest = int(math.Max(n, math.Ceil(all*RF*float64(tables)/s.o.NodeWrites)))
	}
	return out
}

// Text says how many nodes are needed, and from which figures.
func (n *NodesNeeded) Text() string {
	tables := ""
	if n.Tables > 1 {
		tables = fmt.Sprintf(" × %d tables", n.Tables)
	}
	t := fmt.Sprintf("the writes need %d nodes: %s writes/s%s × %d replicas, of which a node bears %s", n.Nodes, number(n.Writes), tables, n.Replicas, number(n.PerNode))
	if n.AtBusiest > n.Nodes {
		t += fmt.Sprintf("; the busiest time of the data, at %s writes/s, needs %d", number(n.Busiest), n.AtBusiest)
	}
	return t
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
