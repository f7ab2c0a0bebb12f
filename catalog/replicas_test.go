// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// replicated is a session over a cluster that answers what Thin asks.
type replicated struct {
	replication map[string]string // of keyspace evenkeel; nil: it does not exist
	nodes       []string          // data centres of the nodes: the one that is asked, and its peers
}

func (d *replicated) Query(_ context.Context, _ wire.Consistency, cql string, _ ...[]byte) (rows []Row, err error) {
	switch {
	case strings.Contains(cql, "system_schema.keyspaces"):
		if d.replication == nil {
			return nil, nil
		}
		options := wire.AppendInt(nil, int32(len(d.replication)))
		for k, v := range d.replication {
			options = wire.AppendBytes(wire.AppendBytes(options, []byte(k)), []byte(v))
		}
		return []Row{{"keyspace_name": []byte(Keyspace), "replication": options}}, nil
	case strings.Contains(cql, "system.local"):
		return []Row{{"data_center": []byte(d.nodes[0])}}, nil
	}
	for _, dc := range d.nodes[1:] {
		rows = append(rows, Row{"data_center": []byte(dc)})
	}
	return rows, nil
}

func TestThin(t *testing.T) {
	network := func(replicas ...string) map[string]string {
		m := map[string]string{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy"}
		for _, r := range replicas {
			dc, n, _ := strings.Cut(r, " ")
			m[dc] = n
		}
		return m
	}
	simple := func(n string) map[string]string {
		return map[string]string{"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": n}
	}
	for what, c := range map[string]struct {
		replication map[string]string
		nodes       string
		want        []string
	}{
		"none yet":                        {nil, "a a a", nil},
		"as Found creates it":             {network("a 3", "b 2"), "a a a a b b", nil},
		"created when there was one node": {network("a 1"), "a a a", []string{"1 of the 3 nodes of data centre a"}},
		"one of two is thin":              {network("a 3", "b 2"), "a a a b b b", []string{"2 of the 3 nodes of data centre b"}},
		"another data centre has none":    {network("a 3"), "a a a b b b", nil},
		"the door's own has none":         {network("a 3"), "b a a a b b", []string{"0 of the 3 nodes of data centre b"}},
		"more replicas than usual":        {network("a 5"), "a a a a a", nil},
		"one node":                        {simple("1"), "a", nil},
		"simple and thin":                 {simple("2"), "a a a a", []string{"2 of the 4 nodes"}},
		"a strategy of another store":     {map[string]string{"class": "SingleRegionStrategy"}, "a a a", nil},
	} {
		d := &replicated{c.replication, strings.Fields(c.nodes)}
		if got, err := New(Options{Session: d}).Thin(t.Context()); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q %v, want %q", what, got, err, c.want)
		}
	}
}
