// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/profile"
)

// ddl writes a verdict's statements.
func (s *Study) ddl(d *Design, v *Verdict) {
	if s.o.Target == DynamoDB {
		v.CreateTable = s.createTable(d, v)
		v.DDL = []string{string(v.CreateTable)}
		return
	}
	v.DDL = []string{s.createCQL(d, s.table())}
	for i := range v.Extras {
		e := &v.Extras[i]
		e.DDL = s.createCQL(e.design, s.furtherTable(e))
		v.DDL = append(v.DDL, e.DDL)
	}
}

// plainName is a name of lower case letters, digits and underscores.
func plainName(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}, strings.ToLower(name))
}

// ident writes a name as CQL has it.
func ident(name string) string { return string(syntax.AppendIdent(nil, name)) }

// tableName writes a name that may have a keyspace.
func tableName(name string) string {
	if keyspace, table, two := strings.Cut(name, "."); two {
		return ident(keyspace) + "." + ident(table)
	}
	return ident(name)
}

// createCQL is CREATE TABLE of a design.
func (s *Study) createCQL(d *Design, table string) string {
	sharding := ""
	if d.Shards > 1 {
		sharding = s.layout(d).String()
	}
	return s.createSharded(d, table, sharding)
}

// createWith is CREATE of a design's table with some write_sharding.
func (s *Study) createWith(d *Design) string {
	if s.o.Target == DynamoDB {
		return ""
	}
	return s.createSharded(d, s.table(), s.layout(d).String())
}

// createSharded is CREATE TABLE with that write_sharding; "" for none.
func (s *Study) createSharded(d *Design, table, sharding string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (\n", tableName(table))
	var bucket *BucketColumn
	if d.bucket() != nil {
		bucket = s.bucketColumnOf(d)
	}
	for i := range s.p.Columns {
		c := &s.p.Columns[i]
		fmt.Fprintf(&b, "    %s %s,\n", ident(c.Name), typeOf(c))
		if bucket != nil && bucket.Of == c.Name {
			fmt.Fprintf(&b, "    %s %s,\n", ident(bucket.Name), bucket.Type)
		}
	}
	if d.AddID {
		fmt.Fprintf(&b, "    %s timeuuid,\n", idColumn)
	}
	var parts []string
	for _, p := range d.Partition {
		if p.Bucket != profile.Whole {
			parts = append(parts, ident(bucket.Name))
			continue
		}
		parts = append(parts, ident(p.Column))
	}
	fmt.Fprintf(&b, "    PRIMARY KEY ((%s)", strings.Join(parts, ", "))
	for _, c := range d.clusteringNames() {
		b.WriteString(", " + ident(c))
	}
	b.WriteString(")\n)")
	with := []string{}
	if slices.Contains(d.Desc, true) {
		var order []string
		for i, c := range d.clusteringNames() {
			dir := "ASC"
			if i < len(d.Desc) && d.Desc[i] {
				dir = "DESC"
			}
			order = append(order, ident(c)+" "+dir)
		}
		with = append(with, "CLUSTERING ORDER BY ("+strings.Join(order, ", ")+")")
	}
	if sharding != "" {
		with = append(with, "write_sharding = "+sharding)
	}
	if len(with) > 0 {
		b.WriteString(" WITH " + strings.Join(with, "\n  AND "))
	}
	b.WriteString(";")
	return b.String()
}

// layout is a design's write_sharding.
func (s *Study) layout(d *Design) *shard.Layout {
	l := &shard.Layout{N: d.Shards, Column: shard.DefaultColumn, By: d.By}
	for s.p.Column(l.Column) != nil {
		l.Column += "_"
	}
	if d.Strategy() == "random" {
		l.Strategy = shard.Random
	}
	return l
}

// typeOf is a column's type in a table: what is nested in JSON is kept as text.
func typeOf(c *profile.Column) string {
	if c.Nested || c.Type == nil || c.Type.Kind == value.Custom {
		return "text"
	}
	return c.Type.String()
}

// attribute is a part of a DynamoDB CreateTable request.
type attribute struct {
	AttributeName string `json:"AttributeName"`
	AttributeType string `json:"AttributeType"`
}

type keyElement struct {
	AttributeName string `json:"AttributeName"`
	KeyType       string `json:"KeyType"`
}

type index struct {
	IndexName  string            `json:"IndexName"`
	KeySchema  []keyElement      `json:"KeySchema"`
	Projection map[string]string `json:"Projection"`
}

type tag struct {
	Key   string `json:"Key"`
	Value string `json:"Value"`
}

// createTable is a DynamoDB CreateTable request. A key of several columns is one
// attribute that joins them by #, which the application writes.
func (s *Study) createTable(d *Design, v *Verdict) json.RawMessage {
	var attributes []attribute
	define := func(name, typ string) string {
		if !slices.ContainsFunc(attributes, func(a attribute) bool { return a.AttributeName == name }) {
			attributes = append(attributes, attribute{name, typ})
		}
		return name
	}
	schema := func(e *Design, unique bool) []keyElement {
		hash, hashType := s.attribute(partNames(s, e), len(e.Partition) == 1 && e.bucket() == nil, e)
		out := []keyElement{{define(hash, hashType), "HASH"}}
		clustering := e.clusteringNames()
		if !unique && len(clustering) > 1 { // an index's sort key need not tell items apart
			clustering = clustering[:1]
		}
		if len(clustering) > 0 {
			sort, sortType := s.attribute(clustering, len(clustering) == 1, e)
			out = append(out, keyElement{define(sort, sortType), "RANGE"})
		}
		if unique {
			for _, k := range out {
				if s.p.Column(k.AttributeName) == nil && !slices.Contains(v.Added, k.AttributeName) {
					v.Added = append(v.Added, k.AttributeName)
				}
			}
		}
		return out
	}
	request := struct {
		TableName              string       `json:"TableName"`
		AttributeDefinitions   []attribute  `json:"AttributeDefinitions"`
		KeySchema              []keyElement `json:"KeySchema"`
		GlobalSecondaryIndexes []index      `json:"GlobalSecondaryIndexes,omitempty"`
		BillingMode            string       `json:"BillingMode"`
		Tags                   []tag        `json:"Tags,omitempty"`
	}{TableName: s.dynamoTable(), KeySchema: schema(d, true), BillingMode: "PAY_PER_REQUEST"}
	if d.Shards > 1 {
		request.Tags = append(request.Tags, tag{"write-sharding", fmt.Sprintf("strategy=calculated shards=%d", d.Shards)})
	}
	for i := range v.Extras {
		e := &v.Extras[i]
		name := s.indexName(e)
		request.GlobalSecondaryIndexes = append(request.GlobalSecondaryIndexes, index{name, schema(e.design, false), map[string]string{"ProjectionType": "ALL"}})
		if e.Shards > 1 {
			request.Tags = append(request.Tags, tag{"write-sharding.index." + name, fmt.Sprintf("shards=%d", e.Shards)})
		}
	}
	request.AttributeDefinitions = attributes
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(request); err != nil {
		panic(fmt.Sprintf("advice: CreateTable: %v", err)) // strings and numbers
	}
	return bytes.TrimSpace(out.Bytes())
}

// partNames are the names of a partition key's columns in the table.
func partNames(s *Study, d *Design) []string {
	var out []string
	for _, p := range d.Partition {
		if p.Bucket != profile.Whole {
			out = append(out, s.bucketColumnOf(d).Name)
			continue
		}
		out = append(out, p.Column)
	}
	return out
}

// attribute is the attribute that holds some columns, and its type.
func (s *Study) attribute(names []string, single bool, d *Design) (name, typ string) {
	name, typ = strings.Join(names, "#"), "S"
	c := s.p.Column(name)
	if !single || c == nil || c.Type == nil {
		return name, typ
	}
	switch c.Type.Kind {
	case value.Int, value.Bigint, value.Smallint, value.Tinyint, value.Varint, value.Decimal, value.Float, value.Double:
		typ = "N"
	case value.Blob:
		typ = "B"
	}
	return name, typ
}
