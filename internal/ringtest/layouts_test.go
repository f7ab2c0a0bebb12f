// SPDX-License-Identifier: Apache-2.0

package ringtest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/evenkeel/evenkeel/internal/testkit/cassandra"
	"github.com/evenkeel/evenkeel/reshard"
)

// layouts changes the layouts of two tables under load: a sharded table gets more shards, and a plain one becomes
// sharded; then both get the layouts of before. In each round a node is killed while rows move, and starts again.
func layouts(t *testing.T, binary string, nodes []*cassandra.Instance) {
	// A write that is under way when the door begins to use the next step of a change has a write timeout if the door
	// cannot repeat it. While the door cannot renew its lease, it refuses writes.
	overtaken := append([]string{"write: the door's write timeout"}, ofCluster...)
	killed := append([]string{"write: the door's overloaded"}, unanswered...)
	l := under(t, binary, "layouts", nodes)
	l.learn(t)
	for i, to := range []map[string]string{
		{"layouts.sharded": "{'shards': '30'}", "layouts.plain": "{'shards': '8'}"},
		{"layouts.sharded": "{'shards': '20'}", "layouts.plain": "{}"},
	} {
		n := nodes[1+i]
		name := fmt.Sprintf("round %d: ", i+1)
		l.during(t, name+"the layouts change, and a node is killed", func() error {
			for table, layout := range to {
				if err := l.s.Query("ALTER TABLE " + table + " WITH write_sharding = " + layout).Exec(); err != nil {
					return err
				}
			}
			if err := n.Kill(); err != nil {
				return err
			}
			for table := range to {
				s, err := statusOf(l.s, table, "status")
				if err != nil {
					return err
				}
				if s.Phase == reshard.NoPhase {
					return fmt.Errorf("the change of %s has ended before the node was killed", table)
				}
				t.Logf("%s: %s when the node was killed, %d rows moved", table, s.Phase, s.RowsMoved)
			}
			return nil
		}, killed...)
		l.during(t, name+"the node starts again", func() error { return n.Restart(t.Context()) }, overtaken...)
		l.during(t, name+"the changes end", func() error {
			for table := range to {
				await(t, "the change of "+table+" has ended", 200*time.Millisecond, func() (bool, error) {
					s, err := statusOf(l.s, table, "status")
					if err == nil && s.Phase == "settled" {
						s, err = statusOf(l.s, table, "finish") // do not wait for the longest time that hints may take
					}
					return s.Phase == reshard.NoPhase, err
				})
			}
			return nil
		}, overtaken...)
	}
	l.verify(t)
}

// statusOf gives an order to the change of a table, and returns the change's status.
func statusOf(s *gocql.Session, table, order string) (status reshard.Status, err error) {
	var text string
	if err := s.Query("ALTER TABLE " + table + " WITH write_sharding = {'change': '" + order + "'}").Scan(&text); err != nil {
		return status, err
	}
	return status, json.Unmarshal([]byte(text), &status)
}
