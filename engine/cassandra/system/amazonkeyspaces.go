// SPDX-License-Identifier: Apache-2.0

package system

import (
	"maps"
	"strings"
	"sync"

	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// keyspacesDefinitions are the tables in which Amazon Keyspaces shows keyspaces and tables together
// with its own properties of them. ("System keyspaces in Amazon Keyspaces")
const keyspacesDefinitions = ddl.KeyspacesSystem + `.keyspaces: keyspace_name text key; durable_writes boolean; replication frozen<map<text, text>>
` + ddl.KeyspacesSystem + `.tables: keyspace_name text key; table_name text clustering; bloom_filter_fp_chance double; caching frozen<map<text, text>>; ` +
	`cdc boolean; comment text; compaction frozen<map<text, text>>; compression frozen<map<text, text>>; crc_check_chance double; ` +
	`custom_properties frozen<map<text, frozen<map<text, text>>>>; dclocal_read_repair_chance double; default_time_to_live int; ` +
	`extensions frozen<map<text, blob>>; flags frozen<set<text>>; gc_grace_seconds int; id uuid; max_index_interval int; ` +
	`memtable_flush_period_in_ms int; min_index_interval int; read_repair_chance double; speculative_retry text; status text`

// Limited returns the system keyspaces of an engine that enforces the limits of Amazon Keyspaces.
// They include the PartitionsTable and the keyspace of Keyspaces' own tables.
var Limited = sync.OnceValue(func() map[string]*schema.Keyspace {
	all := maps.Clone(Keyspaces())
	for line := range strings.Lines(partitionsDefinition + "\n" + keyspacesDefinitions) {
		t := parseTable(strings.TrimSpace(line))
		ks := &schema.Keyspace{Name: t.Keyspace, Replication: replication(t.Keyspace), DurableWrites: true,
			Tables: map[string]*schema.Table{}, Types: map[string]*value.Type{}}
		if there := all[t.Keyspace]; there != nil {
			*ks = *there
			ks.Tables = maps.Clone(there.Tables)
		}
		ks.Tables[t.Name] = t
		all[t.Keyspace] = ks
	}
	return all
})

// keyspacesRows returns the contents of Amazon Keyspaces' own tables: the rows of system_schema,
// with more columns for tables. All keyspaces and tables are active, because no change takes long
// here.
func keyspacesRows(t *schema.Table, s *schema.Schema) []Row {
	rows := schemaRows(t.Name, s)
	if t.Name != "tables" {
		return rows
	}
	for _, r := range rows {
		for name := range r {
			if t.Columns[name] == nil {
				delete(r, name)
			}
		}
		of := s.Table(string(r["keyspace_name"]), string(r["table_name"]))
		cdc, _ := of.Options["cdc"].(bool)
		r["cdc"] = boolean(cdc)
		r["status"] = []byte("ACTIVE")
		if !Has(of.Keyspace) {
			custom := ddl.ShownProperties(of)
			b := value.AppendCount(nil, len(custom))
			for _, name := range sortedKeys(custom) {
				b = value.AppendPart(value.AppendPart(b, []byte(name)), textMap(custom[name]))
			}
			r["custom_properties"] = b
		}
	}
	return rows
}
