// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"maps"
	"slices"

	"github.com/evenkeel/evenkeel/engine/throughput"
)

// Consumption returns the units taken and the requests refused by the limits of each table and
// global index since the store was opened. It returns nothing if there are no limits.
func (s *Store) Consumption() []throughput.Consumption {
	if s.options.Capacity == nil {
		return nil
	}
	tables := s.tables.all()
	var all []throughput.Consumption
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		sh := tables[name].shape.Load()
		all = append(all, throughput.Consumption{Table: name, Totals: sh.model.Totals()})
		for i := range sh.indexes {
			if ix := &sh.indexes[i]; ix.model != nil {
				all = append(all, throughput.Consumption{Table: name, Index: ix.Name, Totals: ix.model.Totals()})
			}
		}
	}
	return all
}
