package engine

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestLongRequestsAtOnce holds the answers to many long reads back: no more than a
// few are carried out, and so held in memory, at a time, and all are in the end.
func TestLongRequestsAtOnce(t *testing.T) {
	e, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	l, err := e.Open(t.Context(), store.LinkOptions{Version: wire.V4})
	if err != nil {
		t.Fatal(err)
	}
	query := func(text string) wire.Message {
		q := wire.Query{Text: []byte(text), Params: wire.Params{Consistency: wire.One}}
		return wire.Message{Op: wire.OpQuery, Body: wire.AppendQuery(nil, wire.V4, &q)}
	}
	ask := func(text string) {
		t.Helper()
		done := make(chan wire.Op, 1)
		l.Send(query(text), func(resp wire.Message) { done <- resp.Op })
		if op := <-done; op != wire.OpResult {
			t.Fatalf("%s: %s", text, op)
		}
	}
	ask("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	ask("CREATE TABLE ks.t (k int, c int, v text, PRIMARY KEY (k, c))")
	for i := range 50 {
		ask(fmt.Sprintf("INSERT INTO ks.t (k, c, v) VALUES (1, %d, '%s')", i, strings.Repeat("x", 1000)))
	}
	const n = 200
	var (
		mu        sync.Mutex
		now, most int
		all       sync.WaitGroup
		hold      = make(chan struct{})
	)
	all.Add(n)
	for range n {
		go l.Send(query("SELECT * FROM ks.t"), func(wire.Message) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			<-hold
			mu.Lock()
			now--
			mu.Unlock()
			all.Done()
		})
	}
	time.Sleep(200 * time.Millisecond)
	close(hold)
	all.Wait()
	if limit := cap(e.long); most == 0 || most > limit {
		t.Errorf("%d were carried out at once, the limit is %d", most, limit)
	}
}
