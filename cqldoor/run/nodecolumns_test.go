// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"testing"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/internal/difftest"
)

// TestColumnsNamedAsThoseOfNodes reads tables of clients whose columns have the names of columns of system.local, in
// which the door shows itself. The door shows what the clients have written.
func TestColumnsNamedAsThoseOfNodes(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s := newSceneOf(t, st, startDoorWith(t, st, "a:1", func(*Options) {}))
		const columns = "k int, c int, host_id int, rpc_address text, tokens text, rpc_port int, PRIMARY KEY (k, c)"
		const row = "1, 2, 3, 'here', 'none', 4"
		for table, sharded := range map[string]string{"plain": "", "one": " WITH write_sharding = {'shards': '1'}", "spread": " WITH write_sharding = {'shards': '5'}"} {
			name := s.keyspace + "." + table
			s.must(s.v5, "CREATE TABLE "+name+" ("+columns+")"+sharded)
			s.must(s.v5, "INSERT INTO "+name+" (k, c, host_id, rpc_address, tokens, rpc_port) VALUES ("+row+")")
			for _, where := range []string{"", " WHERE k = 1", " WHERE k = 1 AND c = 2"} {
				text := "SELECT k, c, host_id, rpc_address, tokens, rpc_port FROM " + name + where
				for v, conn := range map[string]*difftest.Conn{"v4": s.v4, "v5": s.v5} {
					for way, a := range map[string]*difftest.Answer{"QUERY": s.query(conn, text), "EXECUTE": s.prepared(conn, text, 0)} {
						if len(a.Rows) != 1 || fmt.Sprint(a.Rows[0]) != fmt.Sprint([][]byte{be32(1), be32(2), be32(3), []byte("here"), []byte("none"), be32(4)}) {
							t.Errorf("%s, %s: %s gives %s", v, way, text, show(a))
						}
					}
				}
			}
		}
	})
}
