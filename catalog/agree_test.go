// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// gossip is a session over a ring in which a node learns of other nodes' versions late. A query
// goes to each node in turn.
type gossip struct {
	versions []string // by node: its own
	known    string   // what each node knows of the others
	missing  bool     // one more node cannot be asked
	turn     int
}

func (g *gossip) Query(_ context.Context, _ wire.Consistency, cql string, _ ...[]byte) ([]Row, error) {
	g.turn++
	if cql == "SELECT schema_version FROM system.local" {
		return []Row{{"schema_version": []byte(g.versions[g.turn%len(g.versions)])}}, nil
	}
	return []Row{{"schema_version": []byte(g.known)}}, nil
}

func (g *gossip) EachNode(ctx context.Context, cql string) (rows []Row, all bool, err error) {
	for range g.versions {
		of, _ := g.Query(ctx, wire.One, cql)
		rows = append(rows, of...)
	}
	return rows, !g.missing, nil
}

// TestAgree checks that nodes agree only when each of them says so. A change at the first node is
// new to the second, and gossip still tells of the old version of the first.
func TestAgree(t *testing.T) {
	for _, c := range []struct {
		what string
		g    gossip
		want bool
	}{
		{"one node is behind", gossip{versions: []string{"new", "old"}, known: "old"}, false},
		{"gossip is behind", gossip{versions: []string{"new", "new"}, known: "old"}, true},
		{"a node cannot be asked and was behind", gossip{versions: []string{"new", "new"}, known: "old", missing: true}, false},
		{"a node cannot be asked and agreed", gossip{versions: []string{"new", "new"}, known: "new", missing: true}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := New(Options{Session: &c.g, Now: time.Now, UUID: uuid}).Agree(t.Context()); got != c.want {
				t.Errorf("%s: agree is %t", c.what, got)
			}
		})
	}
}
