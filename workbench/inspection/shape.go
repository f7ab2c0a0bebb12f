// SPDX-License-Identifier: Apache-2.0

package inspection

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// Shape is one of the forms of a primary key.
type Shape string

// These are the four forms.
const (
	SingleKey           Shape = "single key"
	KeyAndClustering    Shape = "key and clustering columns"
	CompositeKey        Shape = "composite partition key"
	CompositeClustering Shape = "composite partition key and clustering columns"
)

// Key describes a table's primary key, and what it means.
type Key struct {
	Shape        Shape     `json:"shape"`
	CQL          string    `json:"cql"`
	PartitionKey []string  `json:"partition_key"`
	Clustering   []string  `json:"clustering"`
	Means        string    `json:"means"`
	Findings     []Finding `json:"findings"`
}

// Finding is something that the user should know about a table.
type Finding struct {
	Name     string   `json:"name"`
	Columns  []string `json:"columns,omitempty"`
	Evidence string   `json:"evidence"`
	Advice   string   `json:"advice,omitempty"`
	Warning  bool     `json:"warning"`
}

// KeyOf explains a primary key by its form alone.
func KeyOf(t *schema.Table) Key {
	k := Key{PartitionKey: []string{}, Clustering: []string{}, Findings: []Finding{}}
	var orders []string
	desc := false
	for _, c := range t.PartitionKey {
		k.PartitionKey = append(k.PartitionKey, c.Name)
	}
	for _, c := range t.Clustering {
		k.Clustering = append(k.Clustering, c.Name)
		order := " ASC"
		if c.Desc {
			order, desc = " DESC", true
		}
		orders = append(orders, ident(c.Name)+order)
	}
	partition := idents(k.PartitionKey)
	if len(k.PartitionKey) > 1 {
		partition = "(" + partition + ")"
	}
	k.CQL = "PRIMARY KEY (" + partition
	if len(k.Clustering) > 0 {
		k.CQL += ", " + idents(k.Clustering)
	}
	k.CQL += ")"
	if desc {
		k.CQL += " WITH CLUSTERING ORDER BY (" + strings.Join(orders, ", ") + ")"
	}
	whole := all(k.PartitionKey)
	switch {
	case len(k.PartitionKey) == 1 && len(k.Clustering) == 0:
		k.Shape = SingleKey
		k.Means = fmt.Sprintf("Each %s is a partition of one row. Another row with the same %s overwrites it. Queries must give the whole key: there are no ranges and no order.", whole, whole)
	case len(k.PartitionKey) == 1:
		k.Shape = KeyAndClustering
		k.Means = fmt.Sprintf("All rows of a %s are one partition, on one node and its replicas, sorted by %s. A row is identified within its partition by %s: a second row with the same values overwrites it.", whole, inOrder(t), all(k.Clustering))
	case len(k.Clustering) == 0:
		k.Shape = CompositeKey
		k.Means = fmt.Sprintf("%s together are a partition of one row. Queries must give them all. Another row with the same values overwrites it.", whole)
	default:
		k.Shape = CompositeClustering
		k.Means = fmt.Sprintf("%s together are a partition. Queries must give them all. The partition's rows are sorted by %s. A row is identified within its partition by %s: a second row with the same values overwrites it.", whole, inOrder(t), all(k.Clustering))
	}
	return k
}

func inOrder(t *schema.Table) string {
	var parts []string
	for _, c := range t.Clustering {
		order := ", least first"
		if c.Desc {
			order = ", greatest first (DESC)"
		}
		parts = append(parts, c.Name+order)
	}
	return strings.Join(parts, ", then ")
}

func ident(name string) string { return string(syntax.AppendIdent(nil, name)) }

func idents(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = ident(n)
	}
	return strings.Join(out, ", ")
}

// all joins names: a, b and c.
func all(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func isTimestamp(t *value.Type) bool { return t.Kind == value.Timestamp }

// isTime reports whether a column's type holds points in time.
func isTime(t *value.Type) bool {
	return t.Kind == value.Timestamp || t.Kind == value.Timeuuid || t.Kind == value.Date
}

var (
	periodName = regexp.MustCompile(`(?i)(^|_)(year|quarter|month|week|day|date|hour|minute|yyyymm(dd)?|period|time_?bucket)(_?bucket)?$`)
	shardName  = regexp.MustCompile(`(?i)(^|_)(shard|bucket|salt|partition|part|slot|suffix|stripe|bin|chunk)(_?(id|no|nr|num|number|key))?$`)
)

// ShardColumn returns the position in the partition key of a column that looks like a shard: its
// name says so, its type is small, and it is not the only column. -1: there is none. Its values
// decide later (see findings).
func ShardColumn(t *schema.Table) int {
	if len(t.PartitionKey) < 2 {
		return -1
	}
	for i, c := range t.PartitionKey {
		switch c.Type.Kind {
		case value.Int, value.Smallint, value.Tinyint, value.Bigint, value.Varint, value.Text, value.Ascii:
			if shardName.MatchString(c.Name) && !periodName.MatchString(c.Name) {
				return i
			}
		}
	}
	return -1
}

// bucket says which period a key's column stands for; "": none.
func bucket(c *schema.Column, seen *KeyColumn) string {
	switch c.Type.Kind {
	case value.Date:
		return "day"
	case value.Timestamp:
		if seen == nil || seen.Distinct.N() == 0 {
			return ""
		}
		switch {
		case seen.Unit >= 86_400_000:
			return "day"
		case seen.Unit >= 3_600_000:
			return "hour"
		case seen.Unit >= 60_000 && seen.Distinct.N() > 2:
			return "minute"
		}
	case value.Text, value.Ascii, value.Int, value.Bigint, value.Smallint:
		if m := periodName.FindStringSubmatch(c.Name); m != nil {
			return strings.ToLower(m[2])
		}
	}
	return ""
}
