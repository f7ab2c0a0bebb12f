// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/engine/cassandra/system"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/engine/throughput"
	"github.com/evenkeel/evenkeel/partitioner"
)

// An engine that enforces limits has a virtual table, system.PartitionsTable, with one row for each
// partition in the model of each table. Without limits the engine has only Cassandra's system
// keyspaces.

// keyspaces returns the system keyspaces.
func (l *limiter) keyspaces() map[string]*schema.Keyspace {
	if l == nil {
		return system.Keyspaces()
	}
	return system.Limited()
}

// systemRows returns the contents of a system table. If only is not nil, it is the serialized key
// of the partition that the caller needs; the result may contain others.
func (e *Engine) systemRows(s *state, t *table, only []byte) ([]system.Row, error) {
	if t.estimates() {
		return estimateRows(s, t, only)
	}
	if t.Keyspace != "system_views" || t.Name != system.PartitionsTable {
		return system.Rows(t.Table, s.schema, e.info(s)), nil
	}
	var all []system.Row
	for _, of := range s.tables {
		if of.store == nil {
			continue
		}
		if only != nil && string(only) != string(partitioner.AppendComposite(nil, []byte(of.Keyspace), []byte(of.Name))) {
			continue
		}
		rows, err := e.partitionRows(of)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// partitionRows returns the rows about the partitions of one table.
func (e *Engine) partitionRows(t *table) ([]system.Row, error) {
	l := e.limits
	limits := l.limits.WithDefaults()
	now := l.clock()
	model, mode := l.model(t), ddl.PayPerRequest
	if !model.Settings().OnDemand {
		mode = ddl.Provisioned
	}
	var all []system.Row
	for i, p := range model.Map(now) {
		out := system.Partition{
			Keyspace: t.Keyspace, Table: t.Name, Number: i + 1, Mode: mode, Share: p.Share, Bytes: p.Bytes, Since: p.Born.UnixMilli(),
			Read: useOf(p.Read), Write: useOf(p.Write), MaxRead: limits.Partition.Read, MaxWrite: limits.Partition.Write,
			SplitAfter: max(-1, limits.SplitAfter.Seconds()),
		}
		if p.From != nil {
			token, key, clustering := t.store.SplitPosition(p.From)
			out.From = &token
			if key != nil {
				out.FromKey = t.keyTexts(key)
			}
			for j, v := range clustering {
				out.FromClustering = append(out.FromClustering, valueText(t.Clustering[j].Type, v))
			}
		}
		if err := t.partitionKeys(&out, &p, now.Unix()); err != nil {
			return nil, err
		}
		all = append(all, out.Row())
	}
	return all, nil
}

// partitionKeys adds the keys of a partition to out: those with requests and, if they are few,
// those with rows.
func (t *table) partitionKeys(out *system.Partition, p *throughput.Partition, seconds int64) error {
	seen := map[string]bool{}
	add := func(key []byte, units float64, throttled int64) {
		if text := t.keyTexts(key); text != nil && !seen[string(key)] {
			seen[string(key)] = true
			out.Keys = append(out.Keys, system.KeyUse{Key: text, Units: units, Throttled: throttled})
		}
	}
	for _, k := range p.Keys {
		if _, key, _ := t.store.SplitPosition(k.Key); key != nil {
			add(key, k.Units, k.Refused)
		}
	}
	it := t.store.Between(p.From, p.To, &storage.Query{Now: seconds, Static: true, Columns: t.statics()})
	var there [][]byte
	for it.NextPartition() {
		if out.KeyCount == throughput.CountedKeys {
			out.More = true
			break
		}
		out.KeyCount++
		if _, key := it.Partition(); len(there) <= throughput.ListedKeys {
			there = append(there, append([]byte{}, key...))
		}
	}
	if out.KeyCount <= throughput.ListedKeys {
		for _, key := range there {
			add(key, 0, 0)
		}
	}
	err := it.Err()
	if e := it.Close(); err == nil {
		err = e
	}
	return storageError(err)
}

// statics returns the static columns. A partition has a static row if it has a cell in any of them.
func (t *table) statics() (all storage.ColumnSet) {
	for _, c := range t.Statics {
		all.Add(t.ids.of[c.Name])
	}
	return all
}

func useOf(u throughput.Usage) system.Use {
	return system.Use{Units: u.Units, UnitsTotal: u.UnitsTotal, Throttled: u.Refused, ThrottledTotal: u.RefusedTotal, ThrottledOwnTotal: u.RefusedOwnTotal}
}

// keyTexts returns the values of a serialized partition key as text; nil: it is not a key of the
// table.
func (t *table) keyTexts(key []byte) []string {
	values, err := partitioner.SplitComposite(nil, key, len(t.PartitionKey))
	if err != nil {
		return nil
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = valueText(t.PartitionKey[i].Type, v)
	}
	return texts
}

// valueText returns a value as text for people: as in CQL, but without quotes around a scalar.
func valueText(t *value.Type, v []byte) string {
	if t.Kind != value.Blob {
		if text, ok := t.Text(v); ok && utf8.ValidString(text) {
			return text
		}
	}
	return string(t.Format(nil, v))
}

// Consumption returns the units taken and the requests refused for each table since the engine was
// opened. It lists tables that were used or are provisioned. It returns nil without limits.
func (e *Engine) Consumption() []throughput.Consumption {
	if e.limits == nil {
		return nil
	}
	s := e.state.Load()
	var all []throughput.Consumption
	for _, t := range s.tables {
		if m, ok := e.limits.models.Load(t.ID); ok && t.store != nil {
			all = append(all, throughput.Consumption{Table: t.Keyspace + "." + t.Name, Totals: m.(*throughput.Model).Totals()})
		}
	}
	return all
}
