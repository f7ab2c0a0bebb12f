// SPDX-License-Identifier: Apache-2.0

package system

import (
	"crypto/md5"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/evenkeel/evenkeel/cql/ddl"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
)

// definitions has one table in each line: its name, then its columns with their types and roles.
//
//go:embed tables.txt
var definitions string

// Keyspaces returns the system keyspaces by name. All callers share them, so they must not be
// changed.
var Keyspaces = sync.OnceValue(func() map[string]*schema.Keyspace {
	all := map[string]*schema.Keyspace{}
	for line := range strings.Lines(definitions) {
		t := parseTable(strings.TrimSpace(line))
		ks := all[t.Keyspace]
		if ks == nil {
			ks = &schema.Keyspace{
				Name: t.Keyspace, Replication: replication(t.Keyspace), DurableWrites: true,
				Tables: map[string]*schema.Table{}, Types: map[string]*value.Type{},
			}
			all[t.Keyspace] = ks
		}
		ks.Tables[t.Name] = t
	}
	return all
})

// Has reports whether a keyspace is one of Keyspaces or of Limited.
func Has(keyspace string) bool {
	return Keyspaces()[keyspace] != nil || keyspace == ddl.KeyspacesSystem
}

// Virtual reports whether Cassandra would show a keyspace in system_virtual_schema and not in
// system_schema.
func Virtual(keyspace string) bool {
	return keyspace == "system_views" || keyspace == "system_virtual_schema" || keyspace == ddl.KeyspacesSystem
}

func replication(keyspace string) map[string]string {
	const locator = "org.apache.cassandra.locator."
	factor := map[string]string{"system_auth": "1", "system_distributed": "3", "system_traces": "2"}[keyspace]
	if factor == "" {
		return map[string]string{"class": locator + "LocalStrategy"}
	}
	return map[string]string{"class": locator + "SimpleStrategy", "replication_factor": factor}
}

// parseTable parses a line of definitions. The line is a part of the program: parseTable panics at
// a mistake, and the tests parse every line.
func parseTable(line string) *schema.Table {
	name, columns, ok := strings.Cut(line, ": ")
	keyspace, name, dot := strings.Cut(name, ".")
	if !ok || !dot {
		panic("system: bad definition: " + line)
	}
	t := &schema.Table{
		Keyspace: keyspace, Name: name, ID: tableID(keyspace, name),
		Columns: map[string]*schema.Column{}, Options: options(keyspace),
	}
	for def := range strings.SplitSeq(columns, "; ") {
		c := &schema.Column{Kind: schema.Regular, Position: -1}
		c.Name, def, _ = strings.Cut(def, " ")
		def, c.Desc = strings.CutSuffix(def, " desc")
		if d, ok := strings.CutSuffix(def, " key"); ok {
			def, c.Kind, c.Position = d, schema.PartitionKey, len(t.PartitionKey)
			t.PartitionKey = append(t.PartitionKey, c)
		} else if d, ok := strings.CutSuffix(def, " clustering"); ok {
			def, c.Kind, c.Position = d, schema.Clustering, len(t.Clustering)
			t.Clustering = append(t.Clustering, c)
		} else if d, ok := strings.CutSuffix(def, " static"); ok {
			def, c.Kind = d, schema.Static
			t.Statics = append(t.Statics, c)
		} else {
			t.Regulars = append(t.Regulars, c)
		}
		typ, err := value.ParseType(def, func(name string) (*value.Type, error) { return nil, fmt.Errorf("unknown type %s", name) })
		if err != nil {
			panic(fmt.Sprintf("system: %s.%s: %v", keyspace, name, err))
		}
		c.Type = typ
		t.Columns[c.Name] = c
	}
	return t
}

// options returns the table options that system_schema shows.
func options(keyspace string) map[string]any {
	o := ddl.DefaultOptions()
	if keyspace == "system" || keyspace == "system_schema" {
		o["gc_grace_seconds"] = 0
		o["memtable_flush_period_in_ms"] = 3600000
	}
	return o
}

// tableID returns the id that Cassandra gives a system table: the name-based UUID of its keyspace
// and name.
func tableID(keyspace, name string) [16]byte {
	id := md5.Sum([]byte(keyspace + name))
	id[6] = id[6]&0x0f | 0x30
	id[8] = id[8]&0x3f | 0x80
	return id
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
