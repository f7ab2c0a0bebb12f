// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"encoding/binary"
	"fmt"

	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// Placement counts the rows of a sharded table's physical table by the value of the hidden
// partition-key column, as the store itself has them. If a door accepts write_sharding and does
// nothing, that table has no such column.
func Placement(t Target, keyspace, table string) (map[int]int, error) {
	c, err := Dial(t.Backend, primitive.ProtocolVersion4, t.Username, t.Password)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s := &Session{Target: t, Conn: c, Keyspace: keyspace}

	a, err := c.Query(Request{Query: fmt.Sprintf(
		"SELECT table_name, column_name, kind FROM system_schema.columns WHERE keyspace_name = '%s'", keyspace)})
	if err != nil {
		return nil, err
	}
	if a.Kind != Rows {
		return nil, fmt.Errorf("columns of %s: %v", keyspace, a)
	}
	const hidden = "shard"
	found := false
	for _, r := range a.Rows {
		if string(r[0]) == table && string(r[1]) == hidden && string(r[2]) == "partition_key" {
			found = true
		}
	}
	if !found {
		return nil, fmt.Errorf("the store's table %s.%s has no partition-key column %q", keyspace, table, hidden)
	}
	all, _, err := s.readPages(Request{Query: fmt.Sprintf("SELECT %s FROM %s.%s", hidden, keyspace, table), PageSize: 1000}, nil, false)
	if err != nil {
		return nil, err
	}
	if all.Kind != Rows {
		return nil, fmt.Errorf("rows of %s.%s: %v", keyspace, table, all)
	}
	rows := map[int]int{}
	for _, r := range all.Rows {
		if len(r[0]) != 4 {
			return nil, fmt.Errorf("shard %x of %s.%s is not an int", r[0], keyspace, table)
		}
		rows[int(int32(binary.BigEndian.Uint32(r[0])))]++
	}
	return rows, nil
}
