// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// These tags on CreateTable declare a table or an index write-sharded.
const (
	Tag            = "write-sharding"
	IndexTagPrefix = Tag + ".index."
)

// Declaration is a CreateTable that declares a write-sharded table.
type Declaration struct {
	Layout   *shard.Layout            // nil: the table itself is plain
	Indexes  map[string]*shard.Layout // layouts of the sharded global indexes
	Single   map[string]bool          // the indexes whose shard is their only partition key attribute
	Hash     schema.Definition        // the logical partition key
	Physical *schema.Declaration      // the physical table's, with the client's tags
}

// Sharded returns the sharding that a CreateTable declares, or nil if the table and its indexes
// shall be plain. Its errors are about the logical table.
func Sharded(d *schema.Declaration) (*Declaration, error) {
	value, declared := "", false
	indexes := make(map[string]string)
	for _, tag := range d.Tags {
		name, ofIndex := strings.CutPrefix(tag.Key, IndexTagPrefix)
		switch {
		case tag.Key == Tag:
			value, declared = tag.Value, true
		case ofIndex:
			indexes[name] = tag.Value
		case strings.HasPrefix(tag.Key, Tag):
			return nil, unknownTag(d.Name, tag.Key)
		}
	}
	if err := CheckDefinitions(d.Name, d.Definitions); err != nil {
		return nil, err
	}
	if !declared && len(indexes) == 0 {
		return nil, nil
	}
	for _, indexes := range [][]schema.IndexDeclaration{d.Local, d.Global} {
		for i := range indexes {
			if err := checkIndexed(&indexes[i]); err != nil {
				return nil, err
			}
		}
	}
	logical, err := schema.Create(d)
	if err != nil {
		return nil, err
	}
	out := &Declaration{Indexes: make(map[string]*shard.Layout), Single: make(map[string]bool), Hash: definition(d, logical.HashName())}
	if declared {
		if out.Layout, err = parseLayout(d.Name, value); err != nil {
			return nil, err
		}
		if err := checkShardable(logical, out.Layout); err != nil {
			return nil, err
		}
		if out.Layout.Strategy == shard.Time {
			if err := checkTimed(logical, out.Layout); err != nil {
				return nil, err
			}
			out.Layout.By = nil // it is the sort key
		}
	}
	for _, name := range slices.Sorted(maps.Keys(indexes)) {
		value, keys, err := cutKeys(d.Name, indexes[name])
		if err != nil {
			return nil, err
		}
		if out.Indexes[name], err = parseLayout(d.Name, value); err != nil {
			return nil, err
		}
		out.Single[name] = keys == singleKey
	}
	if err := out.checkIndexes(logical); err != nil {
		return nil, err
	}
	out.Physical = out.physical(d, logical)
	if err := out.checkProjections(logical); err != nil {
		return nil, err
	}
	return out, nil
}

// checkProjections returns an error if the indexes project too many attributes. The logical
// partition key counts as one more in each index that does not have it in its key.
func (out *Declaration) checkProjections(t *schema.Table) error {
	n := 0
	for _, indexes := range [][]schema.IndexDeclaration{out.Physical.Local, out.Physical.Global} {
		for i := range indexes {
			if err := checkIncluded(t, &indexes[i]); err != nil {
				return err
			}
			n += len(indexes[i].Projection.NonKey)
		}
	}
	if n > schema.MaxProjected {
		return refuse(t.Name, "its indexes have %d NonKeyAttributes with %s, which is one more in each index that has neither it in its key nor ALL attributes, and DynamoDB takes %d; "+
			"leave some out, or project ALL", n, t.HashName(), schema.MaxProjected)
	}
	return nil
}

// checkIncluded checks the projection of one physical index.
func checkIncluded(logical *schema.Table, d *schema.IndexDeclaration) error {
	if n := len(d.Projection.NonKey); n > schema.MaxIncluded {
		return refuse(logical.Name, "index %s has %d NonKeyAttributes with %s, which is one more where an index has neither it in its key nor ALL attributes, and DynamoDB takes %d; "+
			"leave one out, or project ALL", d.Name, n, logical.HashName(), schema.MaxIncluded)
	}
	return nil
}

// checkIndexes returns an error if an index cannot be sharded. An index with the partition key of a
// sharded table inherits the table's shards. Otherwise it would throttle the table's writes
// although the table itself would not.
func (out *Declaration) checkIndexes(t *schema.Table) error {
	for i := range t.Global {
		ix := &t.Global[i]
		if out.Layout != nil && out.Indexes[ix.Name] == nil && len(ix.Key.Hash) == 1 && ix.Key.Hash[0] == t.HashName() {
			if layout := inherited(out.Layout); layout != nil {
				out.Indexes[ix.Name] = layout
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out.Indexes)) {
		ix, local := t.Index(name)
		switch {
		case ix == nil:
			return refuse(t.Name, "the tag %s%s is about an index that the table does not have; leave it out", IndexTagPrefix, name)
		case local:
			return localIndex(t.Name, name)
		}
		if err := checkSharded(t.Name, ix, index{name: name, layout: out.Indexes[name], single: out.Single[name]}); err != nil {
			return err
		}
	}
	return nil
}

// inherited returns the layout of an index with the partition key of a table, or nil if the index
// stays plain. Buckets of time are those of the table's sort key, so the index has their shards. If
// a bucket has one shard, or under rollover, the table itself takes writes in one partition at a time.
func inherited(l *shard.Layout) *shard.Layout {
	switch {
	case l.Strategy != shard.Time && l.Strategy != shard.Rollover:
		return l
	case l.N == 1:
		return nil
	}
	return &shard.Layout{N: l.N, Column: l.Column}
}

func refuse(table, format string, args ...any) error {
	e := exception.InvalidParameters(format, args...)
	e.Message = strings.Replace(e.Message, "invalid: ", "invalid: write sharding of table "+table+": ", 1)
	return e
}

// CheckDefinitions refuses reserved names among the attributes that a plain or sharded table
// defines. Otherwise doors would take the table for a physical table.
func CheckDefinitions(table string, definitions []schema.Definition) error {
	for _, def := range definitions {
		if strings.HasPrefix(def.Name, HiddenPrefix) {
			return refuse(table, "attribute %s: names that begin with %s are reserved; choose another name", def.Name, HiddenPrefix)
		}
	}
	return nil
}

// parseLayout parses the tag's value: options such as strategy=calculated shards=5.
func parseLayout(table, value string) (*shard.Layout, error) {
	options, err := parseOptions(table, value)
	if err != nil {
		return nil, err
	}
	if hash, given := options["hash"]; given && hash != shard.Murmur3.String() {
		return nil, refuse(table, "hash %q is for a table that was sharded by hand; leave it out", hash)
	}
	timed, rolled := options["strategy"] == shard.Time.String(), options["strategy"] == shard.Rollover.String()
	for _, k := range slices.Sorted(maps.Keys(options)) {
		switch k {
		case "strategy", "shards", "hash":
		case optionAdopt, optionWriteOnce, optionSeparator, optionFirst, optionSuffixed, optionPrefixed:
			return nil, refuse(table, "the option %s is for a table that exists and was sharded by hand, with the shard in the partition key itself: "+
				"it is adopted by TagResource, for instance with %s; another table takes 'strategy=calculated shards=N'", k, adoptionExample)
		case optionBy, optionBucket, optionKeep, optionUnit:
			if !timed {
				return nil, refuse(table, "the option %s is one of strategy 'time'; leave it out, or write for instance 'strategy=time bucket=1h'", k)
			}
		case optionRows, optionMax, optionBytes:
			if !rolled {
				return nil, refuse(table, "the option %s is one of strategy 'rollover'; leave it out, or write for instance 'strategy=rollover rows=100000'", k)
			}
		default:
			return nil, refuse(table, "the option %s is not known; the options are strategy=calculated and shards=N, or strategy=time, bucket=1h, by, unit and shards, or strategy=rollover, rows and max", k)
		}
	}
	if timed {
		delete(options, "hash") // the default
		return timedLayout(table, options)
	}
	if rolled {
		return rolledLayout(table, options)
	}
	return layoutOf(table, options)
}

// parseOptions parses options such as strategy=calculated shards=5 write-once.
func parseOptions(table, value string) (map[string]string, error) {
	options := make(map[string]string)
	for _, word := range strings.Fields(value) {
		k, v, ok := strings.Cut(word, "=")
		if !ok && k != optionWriteOnce {
			return nil, refuse(table, "the tag's value is %q, in which %q has no '='; write for instance 'strategy=calculated shards=5'", value, word)
		}
		if k == "" {
			return nil, refuse(table, "the tag's value is %q, in which %q has no option before the '='; write for instance 'strategy=calculated shards=5'", value, word)
		}
		if _, twice := options[k]; twice {
			return nil, refuse(table, "the option %s is there twice", k)
		}
		options[k] = v
	}
	for _, k := range []string{optionBy, "column"} {
		if _, given := options[k]; given && (k != optionBy || options["strategy"] != shard.Time.String()) {
			return nil, refuse(table, "the option %s is not one of DynamoDB tables, whose shard is that of the sort key; leave it out", k)
		}
	}
	return options, nil
}

// layoutOf returns the layout that options describe.
func layoutOf(table string, options map[string]string) (*shard.Layout, error) {
	if s := options["strategy"]; s == shard.Rollover.String() || s == shard.Time.String() {
		return nil, refuse(table, "strategy '%s' is for tables that evenkeel creates; create a table with it, and copy the items", s)
	}
	missing := options["shards"] == ""
	if missing {
		options["shards"] = "1" // first comes what else is wrong
	}
	layout, err := shard.Parse(options)
	switch {
	case err != nil:
		return nil, refuse(table, "%s", parseReason(err))
	case missing:
		return nil, refuse(table, "the number of shards is missing; add shards=N to the tag's value, N from 1 to %d", shard.MaxShards)
	}
	return layout, nil
}

// parseReason returns what is wrong with options, for a table's error.
func parseReason(err error) string { return strings.TrimPrefix(err.Error(), "write_sharding: ") }

// checkShardable returns an error if a table cannot be sharded in a layout without wrong answers.
func checkShardable(t *schema.Table, layout *shard.Layout) error {
	switch {
	case len(t.Key.Range) == 0:
		return refuse(t.Name, "it has no sort key, so that each partition key has one item, and nothing to spread; "+
			"give the table a sort key, or a partition key of more values")
	case layout.Strategy == shard.Random:
		return refuse(t.Name, "strategy 'random' would make two items of one that is put twice; "+
			"use 'calculated', which spreads as evenly, since sort keys differ, and finds an item in one read")
	}
	return nil
}

// checkIndex refuses an index that is as hot as the table would be if it were not sharded.
func checkIndex(t *schema.Table, layout *shard.Layout, ix *schema.Index) error {
	if (layout.Strategy == shard.Time || layout.Strategy == shard.Rollover) && layout.N == 1 {
		return nil // the index's partition takes what a bucket, or the last shard, takes
	}
	if len(ix.Key.Hash) == 1 && ix.Key.Hash[0] == t.HashName() {
		return refuse(t.Name, "global secondary index %s has the table's own partition key %s, so that its one partition would throttle all shards; "+
			"spread it too, by the tag %s%s = 'shards=N' (TagResource) before it is made, or choose another partition key for it", ix.Name, t.HashName(), IndexTagPrefix, ix.Name)
	}
	return nil
}

func definition(d *schema.Declaration, name string) schema.Definition {
	i := slices.IndexFunc(d.Definitions, func(def schema.Definition) bool { return def.Name == name })
	return d.Definitions[i]
}

// physical returns the declaration with the hidden attributes.
func (out *Declaration) physical(d *schema.Declaration, logical *schema.Table) *schema.Declaration {
	p := *d
	hash := logical.HashName()
	p.Definitions = nil
	if out.Layout != nil {
		p.Key = slices.Clone(d.Key)
		p.Key[0].Name = PartitionKey
		p.Definitions = []schema.Definition{{Name: PartitionKey, Type: attribute.S}}
	}
	inIndex := slices.ContainsFunc(logical.Global, func(ix schema.Index) bool { return ix.Key.Has(hash) })
	for _, def := range d.Definitions {
		if def.Name != hash || inIndex || out.Layout == nil {
			p.Definitions = append(p.Definitions, def)
		}
	}
	p.Local = slices.Clone(d.Local)
	for i := range p.Local {
		if out.Layout != nil {
			p.Local[i].Key = slices.Clone(p.Local[i].Key)
			p.Local[i].Key[0].Name = PartitionKey
			p.Local[i] = physicalIndex(p.Local[i], schema.Key{}, hash)
		}
	}
	p.Global = slices.Clone(d.Global)
	for i := range p.Global {
		ix := &p.Global[i]
		if out.Layout != nil {
			*ix = physicalIndex(*ix, logical.Global[i].Key, hash)
		}
		if layout := out.Indexes[ix.Name]; layout != nil {
			in := index{name: ix.Name, layout: layout, single: out.Single[ix.Name]}
			var added schema.Definition
			ix.Key, added = in.key(ix.Key)
			p.Definitions = append(p.Definitions, added)
		}
	}
	return &p
}

func physicalIndex(d schema.IndexDeclaration, key schema.Key, hash string) schema.IndexDeclaration {
	is := physicalProjection(schema.Projection{Type: schema.ProjectionType(d.Projection.Type), NonKey: d.Projection.NonKey}, key, hash)
	d.Projection = &schema.ProjectionDeclaration{Type: string(is.Type), NonKey: is.NonKey}
	return d
}

// Change returns the UpdateTable for the physical table, or an error about the logical one.
func (t *Table) Change(c *schema.Change) (*schema.Change, error) {
	changed, err := t.Logical.Apply(c)
	if err != nil {
		return nil, err
	}
	if changed.Stream.Enabled && t.Physical != t.name {
		return nil, refuse(t.name, "it was a plain table once, so that its items are in a physical table of another name, by which clients would not find its stream; "+
			"create a table with the tag %s, and copy the items", Tag)
	}
	p := *c
	p.Indexes = slices.Clone(c.Indexes)
	for i := range p.Indexes {
		create := p.Indexes[i].Create
		if create == nil {
			continue
		}
		if err := checkIndexed(create); err != nil {
			return nil, err
		}
		ix, _ := changed.Index(create.Name)
		in := t.indexes.declared(create.Name)
		made := *create
		switch {
		case t.adopted != nil && ix.Key.Has(t.hash.Name):
			return nil, adoptedIndex(t.Logical.Name, ix, t.hash.Name)
		case in == nil && !t.hidesKey():
			continue
		case in == nil:
			if err := checkIndex(t.Logical, t.Layout, ix); err != nil {
				return nil, err
			}
		case in.filling:
			return nil, refuse(t.Logical.Name, "index %s is declared by its tag, and the items do not all have their shards in it yet; "+
				"wait for the answer to TagResource, or send that again", in.name)
		default:
			if err := checkSharded(t.Logical.Name, ix, *in); err != nil {
				return nil, err
			}
			var added schema.Definition
			made.Key, added = in.key(made.Key)
			p.Definitions = append(slices.Clone(p.Definitions), added)
		}
		if t.hidesKey() {
			made = physicalIndex(made, ix.Key, t.hash.Name)
			if err := checkIncluded(t.Logical, &made); err != nil {
				return nil, err
			}
			if ix.Key.Has(t.hash.Name) && !slices.Contains(p.Definitions, t.hash) {
				p.Definitions = append(slices.Clone(p.Definitions), t.hash)
			}
		}
		p.Indexes[i].Create = &made
	}
	if err := CheckDefinitions(t.Logical.Name, c.Definitions); err != nil {
		return nil, err
	}
	return &p, nil
}

// ShardingTags returns which of some tag keys concern sharding: whether the table's own tag is
// among them, and the names of indexes.
func ShardingTags(table string, keys []string) (own bool, indexes []string, err error) {
	for _, k := range keys {
		name, ofIndex := strings.CutPrefix(k, IndexTagPrefix)
		switch {
		case k == Tag:
			own = true
		case ofIndex:
			indexes = append(indexes, name)
		case strings.HasPrefix(k, Tag):
			return false, nil, unknownTag(table, k)
		}
	}
	return own, indexes, nil
}

func unknownTag(table, key string) error {
	return refuse(table, "the tag %s is not known; %s = 'strategy=calculated shards=N' shards the table, %s<IndexName> = 'shards=N' a global secondary index",
		key, Tag, IndexTagPrefix)
}

// IndexTagStays returns the error for the removal of an index's tag.
func IndexTagStays(table, name string) error {
	return refuse(table, "the tag %s%s is kept: items have their shards in the index, which stay; delete the index (UpdateTable) to be without it", IndexTagPrefix, name)
}
