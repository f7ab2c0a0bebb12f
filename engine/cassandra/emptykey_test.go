// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"testing"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// TestKeysOfWhichNothingIsRead reads nothing of partitions whose key is empty, which
// Cassandra 5.0 does not look at then.
func TestKeysOfWhichNothingIsRead(t *testing.T) {
	c := newLocal(t, openMemory(t), wire.V4)
	for _, text := range []string{
		"CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE ks.t (p text, c int, v int, PRIMARY KEY (p, c))",
	} {
		if resp := c.do(ask(text)); resp.Op != wire.OpResult {
			t.Fatal(resp.Op)
		}
	}
	for text, refused := range map[string]bool{
		"SELECT p, c, count(*) FROM ks.t WHERE p = '' AND c > 5 AND c < 3 GROUP BY p, c": false,
		"SELECT p, c FROM ks.t WHERE p = '' AND c > 5 AND c < 3":                         false,
		"SELECT * FROM ks.t WHERE p IN ('x', '') AND c > 5 AND c < 3":                    false,
		"SELECT p, c, count(*) FROM ks.t WHERE p = '' GROUP BY p, c":                     true,
		"SELECT * FROM ks.t WHERE p IN ('x', '') AND c > 3":                              true,
		"SELECT * FROM ks.t WHERE p = ''":                                                true,
		"DELETE FROM ks.t WHERE p = ''":                                                  true,
	} {
		resp := c.do(ask(text))
		if resp.Op == wire.OpError != refused {
			t.Errorf("%s: %s", text, resp.Op)
		}
		if e, err := wire.ParseError(wire.V4, resp.Body); refused && (err != nil || e.Message != "Key may not be empty") {
			t.Errorf("%s: %v", text, e)
		}
	}
}
