// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// TestHiddenFromTheFirst checks that a client that reads the schema while a sharded table is
// created sees no table or the logical one, never the physical one. Drivers read the schema as soon
// as they hear of a change.
func TestHiddenFromTheFirst(t *testing.T) {
	for _, s := range openAll(t, targets(t), primitive.ProtocolVersion5) {
		if s.Sharding == "" {
			continue
		}
		other, err := Dial(s.Addr, primitive.ProtocolVersion5, s.Username, s.Password)
		if err != nil {
			t.Fatal(err)
		}
		created := make(chan struct{})
		var watch sync.WaitGroup
		watch.Go(func() {
			defer other.Close()
			for last := false; !last; {
				select {
				case <-created:
					last = true
				default:
				}
				a, err := other.Query(Request{Query: fmt.Sprintf("SELECT table_name, column_name FROM system_schema.columns WHERE keyspace_name = '%s'", s.Keyspace)})
				if err != nil || a.Kind != Rows {
					t.Errorf("%s: %v %v", s.Name, a, err)
					return
				}
				var columns []string
				for _, r := range a.Rows {
					columns = append(columns, string(r[0])+"."+string(r[1]))
				}
				if strings.Contains(strings.Join(columns, " "), "shard") {
					t.Errorf("%s: the schema shows %v", s.Name, columns)
					return
				}
			}
		})
		for i := range 5 {
			if err := s.must(s.text(fmt.Sprintf("CREATE TABLE t%d (p int, c int, v int, PRIMARY KEY (p, c))", i))); err != nil {
				t.Error(err)
			}
		}
		close(created)
		watch.Wait()
	}
}
