// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestReplicasAreTheDrivers checks that replicas are those that the DataStax Python driver computes
// (testdata/vectors.py).
func TestReplicasAreTheDrivers(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var rings []struct {
		Nodes []Node
		Cases []struct {
			Replication map[string]string
			Tokens      []int64
			Replicas    [][]int
		}
	}
	if err := json.Unmarshal(text, &rings); err != nil {
		t.Fatal(err)
	}
	looked := 0
	for i, drawn := range rings {
		r := New(drawn.Nodes)
		for _, c := range drawn.Cases {
			rep, known := ParseReplication(c.Replication)
			if !known {
				t.Fatalf("%v is not known", c.Replication)
			}
			p := r.Place(rep)
			for k, token := range c.Tokens {
				got := slices.Sorted(slices.Values(p.Of(token)))
				if !slices.Equal(got, c.Replicas[k]) {
					t.Errorf("ring %d, %v: token %d is at %v, not at %v", i, c.Replication, token, got, c.Replicas[k])
				}
				looked++
			}
		}
	}
	if looked < 1000 {
		t.Errorf("only %d tokens were looked at", looked)
	}
}

// TestTheOwnerIsFirst checks that the first replica is the node that owns the range, and that no
// node occurs twice.
func TestTheOwnerIsFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := make([]Node, rapid.IntRange(1, 8).Draw(t, "nodes"))
		tokens := rapid.SliceOfNDistinct(rapid.Int64(), len(nodes), 4*len(nodes), rapid.ID[int64]).Draw(t, "tokens")
		for i := range nodes {
			nodes[i] = Node{Datacenter: "dc", Rack: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "rack")}
		}
		for i, token := range tokens {
			n := &nodes[i%len(nodes)]
			n.Tokens = append(n.Tokens, token)
		}
		r := New(nodes)
		token := rapid.Int64().Draw(t, "token")
		owner := r.tokens[0].node
		for _, o := range r.tokens {
			if o.token >= token {
				owner = o.node
				break
			}
		}
		n := rapid.IntRange(1, 4).Draw(t, "factor")
		for _, rep := range []Replication{{factor: n}, {datacenters: map[string]int{"dc": n, "elsewhere": 2}}} {
			got := r.Place(rep).Of(token)
			if got[0] != owner || len(got) != min(n, len(nodes)) {
				t.Fatalf("%d replicas of %d are at %v, the owner is %d", n, token, got, owner)
			}
			if s := slices.Sorted(slices.Values(got)); len(slices.Compact(s)) != len(got) {
				t.Fatalf("a node is named twice: %v", got)
			}
		}
	})
}

func TestReplicationsThatAreNotKnown(t *testing.T) {
	for _, options := range []map[string]string{
		nil,
		{"class": "org.apache.cassandra.locator.LocalStrategy"},
		{"class": "org.apache.cassandra.locator.EverywhereStrategy"},
		{"class": "SimpleStrategy", "replication_factor": "3/1"},
		{"class": "SimpleStrategy"},
		{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "3/1"},
		{"class": "NetworkTopologyStrategy", "dc1": "0"},
	} {
		if _, known := ParseReplication(options); known {
			t.Errorf("%v is taken for known", options)
		}
	}
	if _, known := ParseReplication(map[string]string{"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": "3"}); !known {
		t.Error("SimpleStrategy is not known by its full name")
	}
}

// TestNobody checks that an empty ring has no replicas.
func TestNobody(t *testing.T) {
	if got := New(nil).Place(Replication{factor: 3}).Of(0); got != nil {
		t.Errorf("an empty ring has replicas %v", got)
	}
}

func TestOfAllocatesNothing(t *testing.T) {
	p := New([]Node{{Tokens: []int64{0, 100}}, {Tokens: []int64{50}}}).Place(Replication{factor: 2})
	if n := testing.AllocsPerRun(100, func() { p.Of(70) }); n != 0 {
		t.Errorf("Of allocates %v times", n)
	}
}
