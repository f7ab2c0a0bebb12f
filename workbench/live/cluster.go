// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/catalog"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/workbench/livetable"
)

// Cluster holds what the store says about itself.
type Cluster struct {
	Name        string
	Release     string
	Partitioner string // without its package
	Nodes       []Node // sorted by data centre and address

	// Door says that an evenkeel door answers. It shows itself as one node with the whole ring, and
	// hides its backend's nodes.
	Door bool

	// Keyspaces says that it is Amazon Keyspaces, which bills reads.
	Keyspaces bool
}

// Node is a node of the ring.
type Node struct {
	Address    string
	DataCenter string
	Rack       string
	HostID     string
	Tokens     []int64 // ascending; each ends a range that the node owns
}

// Cluster reads system.local and system.peers.
func (t *Table) Cluster(ctx context.Context) (*Cluster, error) {
	local, err := t.Query(ctx, "SELECT * FROM system.local")
	if err != nil {
		return nil, err
	}
	if len(local) != 1 {
		return nil, &livetable.Error{At: strings.Join(t.at.Hosts, ", "), Err: fmt.Errorf("system.local has %d rows", len(local))}
	}
	me := local[0]
	c := &Cluster{Name: string(me["cluster_name"]), Release: string(me["release_version"])}
	class := string(me["partitioner"])
	c.Partitioner = class[strings.LastIndexByte(class, '.')+1:]
	node, err := nodeOf(me, "broadcast_address", "rpc_address")
	if err != nil {
		return nil, err
	}
	c.Nodes = append(c.Nodes, node)
	// Ask the same node: another node's peers lack that node and contain this one.
	peers, err := t.on(node.HostID).Query(ctx, wire.One, "SELECT * FROM system.peers")
	if err != nil {
		return nil, t.reading(err)
	}
	for _, p := range peers {
		n, err := nodeOf(p, "peer", "rpc_address")
		if err != nil {
			return nil, err
		}
		if len(n.Tokens) > 0 {
			c.Nodes = append(c.Nodes, n)
		}
	}
	slices.SortFunc(c.Nodes, func(a, b Node) int {
		return strings.Compare(a.DataCenter+"\x00"+a.Address, b.DataCenter+"\x00"+b.Address)
	})
	c.Door = len(c.Nodes) == 1 && slices.Equal(node.Tokens, []int64{0})
	c.Keyspaces = strings.Contains(class, "amazonaws") || c.Name == "Amazon Keyspaces" ||
		slices.ContainsFunc(t.at.Hosts, func(h string) bool {
			return strings.HasPrefix(h, "cassandra.") && strings.Contains(h, ".amazonaws.com")
		})
	return c, nil
}

func nodeOf(row catalog.Row, addresses ...string) (Node, error) {
	n := Node{DataCenter: string(row["data_center"]), Rack: string(row["rack"])}
	for _, name := range addresses {
		if a, ok := netip.AddrFromSlice(row[name]); ok && n.Address == "" {
			n.Address = a.Unmap().String()
		}
	}
	if u := row["host_id"]; len(u) == 16 {
		n.HostID = gocql.UUID(u).String()
	}
	texts := value.SetOf(value.Native(value.Text), false)
	for p := texts.Parts(row["tokens"]); p.Next(); {
		token, err := strconv.ParseInt(string(p.Part()), 10, 64)
		if err != nil {
			return n, &livetable.Error{At: "node " + n.Address, Err: fmt.Errorf("token %.40s is not Murmur3Partitioner's", p.Part()), Hint: "only clusters with Murmur3Partitioner are read by ranges of tokens"}
		}
		n.Tokens = append(n.Tokens, token)
	}
	slices.Sort(n.Tokens)
	return n, nil
}

// on returns a session whose statements one node answers; any node if the id is unknown.
func (t *Table) on(hostID string) pinned { return pinned{t.session, hostID} }

type pinned struct {
	session *gocql.Session
	hostID  string
}

func (p pinned) Query(ctx context.Context, cl wire.Consistency, cql string, values ...[]byte) ([]catalog.Row, error) {
	return system{p.session}.query(ctx, p.hostID, cql, values...)
}

// Age returns how long the table has had its columns; 0: the store does not say.
func (t *Table) Age(ctx context.Context) time.Duration {
	iter := t.session.Query("SELECT WRITETIME(kind) FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?", t.at.Keyspace, t.at.Table).IterContext(ctx)
	var micros int64
	oldest := time.Now()
	for iter.Scan(&micros) {
		if at := time.UnixMicro(micros); micros > 0 && at.Before(oldest) {
			oldest = at
		}
	}
	if iter.Close() != nil {
		return 0
	}
	return time.Since(oldest)
}

// Estimate holds the figures of system.size_estimates: each node's own ranges as its last
// compaction or flush left them, renewed every five minutes.
type Estimate struct {
	Partitions float64 // of the whole table
	MeanBytes  float64 // of a partition
	Covered    float64 // share of the ring that has estimates
}

// Estimate adds up system.size_estimates of the nodes that answer. ok is false if the store has
// none for this table.
func (t *Table) Estimate(ctx context.Context, c *Cluster) (e Estimate, ok bool, err error) {
	var bytes float64
	for _, n := range c.Nodes {
		found, err := t.on(n.HostID).Query(ctx, wire.One,
			"SELECT range_start, range_end, mean_partition_size, partitions_count FROM system.size_estimates WHERE keyspace_name = ? AND table_name = ?",
			[]byte(t.at.Keyspace), []byte(t.at.Table))
		if err != nil {
			if ctx.Err() != nil {
				return e, false, ctx.Err()
			}
			continue // this node's share is inferred from the others'
		}
		for _, r := range found {
			start, err1 := strconv.ParseInt(string(r["range_start"]), 10, 64)
			end, err2 := strconv.ParseInt(string(r["range_end"]), 10, 64)
			if err1 != nil || err2 != nil {
				continue
			}
			count := float64(integer(r["partitions_count"]))
			e.Partitions += count
			bytes += count * float64(integer(r["mean_partition_size"]))
			e.Covered += Range{start, end}.Share()
		}
	}
	if e.Partitions == 0 || e.Covered <= 0 {
		return Estimate{}, false, nil
	}
	e.MeanBytes = bytes / e.Partitions
	e.Covered = math.Min(1, e.Covered)
	e.Partitions /= e.Covered
	return e, true, nil
}

// Share returns the range's share of the ring. If its end is not above its beginning, it goes over
// the ring's start.
func (r Range) Share() float64 {
	width := uint64(r.UpTo) - uint64(r.After)
	if width == 0 {
		return 1
	}
	return float64(width) / (1 << 64)
}

func integer(v []byte) (n int64) {
	for i, b := range v {
		if i == 0 {
			n = int64(int8(b))
			continue
		}
		n = n<<8 | int64(b)
	}
	return n
}

// View is a number about the table that a node shows in system_views.
type View struct {
	Node   string
	Table  string // of system_views
	Column string
	Value  float64
}

// views are the tables of system_views that describe a table's partitions.
var views = []string{"max_partition_size", "max_sstable_size", "disk_usage", "tombstones_per_read", "rows_per_read"}

// Views reads what the nodes show about the table in system_views; nothing if the store has no such
// tables.
func (t *Table) Views(ctx context.Context, c *Cluster) ([]View, error) {
	var out []View
	for _, n := range c.Nodes {
		for _, name := range views {
			found, err := t.on(n.HostID).Query(ctx, wire.One, "SELECT * FROM system_views."+name+" WHERE keyspace_name = ? AND table_name = ?",
				[]byte(t.at.Keyspace), []byte(t.at.Table))
			if err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				continue // the store, or this node, does not show it
			}
			for _, r := range found {
				for column, v := range r {
					if len(v) != 8 || column == "keyspace_name" || column == "table_name" {
						continue
					}
					number := float64(integer(v))
					if column != "mebibytes" && column != "count" {
						number = math.Float64frombits(uint64(integer(v)))
					}
					out = append(out, View{Node: n.Address, Table: name, Column: column, Value: number})
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b View) int {
		return strings.Compare(a.Node+"\x00"+a.Table+"\x00"+a.Column, b.Node+"\x00"+b.Table+"\x00"+b.Column)
	})
	return out, nil
}

// Same returns an error if the table is no longer the one that was opened.
func (t *Table) Same(ctx context.Context) error {
	found, err := t.Query(ctx, "SELECT id FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?", []byte(t.at.Keyspace), []byte(t.at.Table))
	if err != nil {
		return err
	}
	if len(found) == 0 || [16]byte(append(found[0]["id"], make([]byte, 16)...)) != t.schema.ID {
		return livetable.Dropped(t.at.Name())
	}
	return nil
}
