package plan

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// The tags that declare a table write-sharded, on CreateTable.
const (
	Tag            = "write-sharding"
	IndexTagPrefix = Tag + ".index."
)

// Declaration is a CreateTable that declares a write-sharded table.
type Declaration struct {
	Layout   *shard.Layout
	Hash     schema.Definition   // the logical partition key
	Physical *schema.Declaration // of the physical table, which bears the client's tags
}

// Sharded returns what a CreateTable declares, nil if the table is to be a plain
// one. Errors are about the logical table.
func Sharded(d *schema.Declaration) (*Declaration, error) {
	value, declared := "", false
	for _, tag := range d.Tags {
		switch {
		case tag.Key == Tag:
			value, declared = tag.Value, true
		case strings.HasPrefix(tag.Key, Tag):
			return nil, refuse(d.Name, "the tag %s is not known; %s = 'strategy=calculated shards=N' shards the table", tag.Key, Tag)
		}
	}
	if name := reservedName(d); name != "" {
		return nil, refuse(d.Name, "attribute %s: names that begin with %s are reserved; choose another name", name, HiddenPrefix)
	}
	if !declared {
		return nil, nil
	}
	logical, err := schema.Create(d)
	if err != nil {
		return nil, err
	}
	layout, err := parseLayout(d.Name, value)
	if err != nil {
		return nil, err
	}
	if err := checkShardable(logical, layout); err != nil {
		return nil, err
	}
	return &Declaration{Layout: layout, Hash: definition(d, logical.HashName()), Physical: physicalDeclaration(d, logical)}, nil
}

func refuse(table, format string, args ...any) error {
	e := exception.InvalidParameters(format, args...)
	e.Message = strings.Replace(e.Message, "invalid: ", "invalid: write sharding of table "+table+": ", 1)
	return e
}

// reservedName returns a reserved name that a declaration uses.
func reservedName(d *schema.Declaration) string {
	for _, def := range d.Definitions {
		if strings.HasPrefix(def.Name, HiddenPrefix) {
			return def.Name
		}
	}
	return ""
}

// parseLayout reads the tag's value: options such as strategy=calculated shards=5.
func parseLayout(table, value string) (*shard.Layout, error) {
	options := make(map[string]string)
	for _, word := range strings.Fields(value) {
		k, v, ok := strings.Cut(word, "=")
		if !ok {
			return nil, refuse(table, "the tag's value is %q, in which %q has no '='; write for instance 'strategy=calculated shards=5'", value, word)
		}
		if k == "by" || k == "column" {
			return nil, refuse(table, "the option %s is not one of DynamoDB tables, whose shard is that of the sort key; leave it out", k)
		}
		if k == "hash" && v != shard.Murmur3.String() {
			return nil, refuse(table, "hash %q is for tables that were sharded by hand, which are not adopted yet; leave it out", v)
		}
		if _, twice := options[k]; twice {
			return nil, refuse(table, "the option %s is there twice", k)
		}
		options[k] = v
	}
	if options["shards"] == "" {
		return nil, refuse(table, "the number of shards is missing; add shards=N to the tag's value, N from 1 to %d", shard.MaxShards)
	}
	layout, err := shard.Parse(options)
	if err != nil {
		return nil, refuse(table, "%s", strings.TrimPrefix(err.Error(), "write_sharding: "))
	}
	return layout, nil
}

// checkShardable says whether a table can be sharded in a layout without a wrong
// answer.
func checkShardable(t *schema.Table, layout *shard.Layout) error {
	switch {
	case len(t.Key.Range) == 0:
		return refuse(t.Name, "it has no sort key, so that each partition key has one item, and nothing to spread; "+
			"give the table a sort key, or a partition key of more values")
	case layout.Strategy == shard.Random:
		return refuse(t.Name, "strategy 'random' would make two items of one that is put twice; "+
			"use 'calculated', which spreads as evenly, since sort keys differ, and finds an item in one read")
	case len(t.Local) > 0:
		return refuse(t.Name, "local secondary index %s: its entries would be spread over the shards, which this version does not merge; "+
			"use a global secondary index", t.Local[0].Name)
	}
	for i := range t.Global {
		if err := checkIndex(t, &t.Global[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkIndex refuses an index that is as hot as the table would be unsharded.
func checkIndex(t *schema.Table, ix *schema.Index) error {
	if len(ix.Key.Hash) == 1 && ix.Key.Hash[0] == t.HashName() {
		return refuse(t.Name, "global secondary index %s has the table's own partition key %s, so that its one partition would throttle all shards; "+
			"choose another partition key for the index", ix.Name, t.HashName())
	}
	return nil
}

func definition(d *schema.Declaration, name string) schema.Definition {
	i := slices.IndexFunc(d.Definitions, func(def schema.Definition) bool { return def.Name == name })
	return d.Definitions[i]
}

// physicalDeclaration is the declaration with the hidden partition key.
func physicalDeclaration(d *schema.Declaration, logical *schema.Table) *schema.Declaration {
	p := *d
	hash := logical.HashName()
	p.Key = slices.Clone(d.Key)
	p.Key[0].Name = PartitionKey
	p.Definitions = []schema.Definition{{Name: PartitionKey, Type: attribute.S}}
	inIndex := slices.ContainsFunc(logical.Global, func(ix schema.Index) bool { return ix.Key.Has(hash) })
	for _, def := range d.Definitions {
		if def.Name != hash || inIndex {
			p.Definitions = append(p.Definitions, def)
		}
	}
	p.Global = slices.Clone(d.Global)
	for i := range p.Global {
		p.Global[i] = physicalIndex(p.Global[i], logical.Global[i].Key, hash)
	}
	return &p
}

func physicalIndex(d schema.IndexDeclaration, key schema.Key, hash string) schema.IndexDeclaration {
	is := physicalProjection(schema.Projection{Type: schema.ProjectionType(d.Projection.Type), NonKey: d.Projection.NonKey}, key, hash)
	d.Projection = &schema.ProjectionDeclaration{Type: string(is.Type), NonKey: is.NonKey}
	return d
}

// Change returns an UpdateTable of the physical table, or an error about the
// logical one.
func (t *Table) Change(c *schema.Change) (*schema.Change, error) {
	changed, err := t.Logical.Apply(c)
	if err != nil {
		return nil, err
	}
	p := *c
	p.Indexes = slices.Clone(c.Indexes)
	for i := range p.Indexes {
		create := p.Indexes[i].Create
		if create == nil {
			continue
		}
		ix, _ := changed.Index(create.Name)
		if err := checkIndex(t.Logical, ix); err != nil {
			return nil, err
		}
		made := physicalIndex(*create, ix.Key, t.hash.Name)
		p.Indexes[i].Create = &made
		if ix.Key.Has(t.hash.Name) && !slices.Contains(p.Definitions, t.hash) {
			p.Definitions = append(slices.Clone(p.Definitions), t.hash)
		}
	}
	for _, def := range c.Definitions {
		if strings.HasPrefix(def.Name, HiddenPrefix) {
			return nil, refuse(t.Logical.Name, "attribute %s: names that begin with %s are reserved; choose another name", def.Name, HiddenPrefix)
		}
	}
	return &p, nil
}

// CheckTags says whether tags of a table that exists may be set or removed: how it
// is sharded is declared when it is created.
func CheckTags(table string, keys []string) error {
	for _, k := range keys {
		if strings.HasPrefix(k, Tag) {
			return refuse(table, "the tag %s declares sharding when a table is created, and changes nothing afterwards; "+
				"create a table with the tag and copy the items", k)
		}
	}
	return nil
}
