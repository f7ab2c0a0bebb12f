// SPDX-License-Identifier: Apache-2.0

package cassandra

import "github.com/evenkeel/evenkeel/engine/cassandra/system"

// estimates reports whether a system table is one of those with size estimates.
func (t *table) estimates() bool {
	return t.Keyspace == "system" && (t.Name == system.SizeEstimates || t.Name == system.TableEstimates)
}

// estimateRows returns the rows of a table of estimates. If only is not nil, it is the keyspace
// that the caller needs; the result may contain others.
func estimateRows(s *state, t *table, only []byte) ([]system.Row, error) {
	var all []system.Row
	for _, of := range s.tables {
		if of.store == nil || only != nil && string(only) != of.Keyspace {
			continue
		}
		stats, err := of.store.Stats()
		if err != nil {
			return nil, err
		}
		e := system.Estimate{Keyspace: of.Keyspace, Table: of.Name, Partitions: stats.Partitions, Bytes: stats.Bytes}
		all = append(all, e.Rows(t.Name)...)
	}
	return all, nil
}
