// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// located is a store that says of each shard that it is at one of two pairs of nodes. It notes how
// often it is asked, and to which nodes the parts of fan-outs go.
type located struct {
	store.Store
	mu    sync.Mutex
	asked int
	parts [][2]int
}

// pairs are the nodes of shards, by the shard's parity. The first of a pair is best.
var pairs = [2][]int{{3, 5}, {4, 5}}

func (l *located) AppendNodes(dst []int, _ string, key []byte) ([]int, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	shard := binary.BigEndian.Uint32(key[len(key)-5:]) // the last part of a composite key
	return append(dst, pairs[shard%2]...), 1
}

func (l *located) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	inner, err := l.Store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return locatedLink{inner.(store.Forwarder), l}, nil
}

type locatedLink struct {
	store.Forwarder
	l *located
}

func (l locatedLink) Forward(ctx context.Context, req wire.Message, to store.Receiver, tag uint32) {
	if node, other := store.NodesOf(ctx); store.IsWide(ctx) && node >= 0 {
		l.l.mu.Lock()
		l.l.parts = append(l.l.parts, [2]int{node, other})
		l.l.mu.Unlock()
	}
	l.Forwarder.Forward(ctx, req, to, tag)
}

// take returns what was noted since the last call.
func (l *located) take() (asked int, parts [][2]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked, parts = l.asked, l.parts
	l.asked, l.parts = 0, nil
	return asked, parts
}

// TestPartsOfAReadNameTheirNodes checks that each request of a fan-out names a node that has all of
// its shards, and another that can serve it. The store is asked for the nodes of each shard once.
func TestPartsOfAReadNameTheirNodes(t *testing.T) {
	l := &located{Store: embedded(t)}
	s := newScene(t, l)
	s.must(s.v5, "CREATE TABLE "+s.keyspace+".t (p int, c int, v int, PRIMARY KEY (p, c)) WITH write_sharding = {'shards': '16'}")
	for c := range 40 {
		s.must(s.v5, fmt.Sprintf("INSERT INTO %s.t (p, c, v) VALUES (1, %d, %d)", s.keyspace, c, c))
	}
	for _, text := range []string{"SELECT count(*), sum(v) FROM %s.t WHERE p = 1", "SELECT c FROM %s.t WHERE p = 1"} {
		text = fmt.Sprintf(text, s.keyspace)
		s.must(s.v5, text) // the door learns how large rows are: later requests read several shards
		l.take()
		s.must(s.v5, text)
		asked, parts := l.take()
		slices.SortFunc(parts, func(a, b [2]int) int { return a[0] - b[0] })
		if asked != 16 || !slices.Equal(parts, [][2]int{{3, 5}, {4, 5}}) {
			t.Errorf("%s: the store is asked %d times for the nodes of 16 shards, and parts go to the nodes %v", text, asked, parts)
		}
	}
}
