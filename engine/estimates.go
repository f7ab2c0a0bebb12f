// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/evenkeel/evenkeel/engine/system"

// estimates says whether a system table is of those that tell how much data tables have.
func (t *table) estimates() bool {
	return t.Keyspace == "system" && (t.Name == system.SizeEstimates || t.Name == system.TableEstimates)
}

// estimateRows are the rows of a table of estimates. only, where it is not nil, is the
// keyspace that is asked for; there may be others beside it.
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
