// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/shard"
)

// Adoption is the declaration, by a tag on an existing table, that the table was sharded by hand,
// and how.
type Adoption struct {
	Layout *shard.Layout
	Affix  *shard.Affix
}

// These options of an adoption do not exist for a new table.
const (
	optionAdopt     = "adopt"
	optionSeparator = "separator"
	optionFirst     = "first"
	optionSuffixed  = "suffixed"
	optionPrefixed  = "prefixed"
	optionWriteOnce = "write-once"
)

const adoptionExample = "'adopt=suffix strategy=calculated shards=5'"

// These are the values of the option adopt.
const (
	adoptSuffix = "suffix"
	adoptPrefix = "prefix"
)

// DeclaresAdoption reports whether the value of the tag on an existing table declares that the table
// was sharded by hand.
func DeclaresAdoption(value string) bool {
	for _, option := range strings.Fields(value) {
		switch name, _, _ := strings.Cut(option, "="); name {
		case optionAdopt, optionSeparator, optionFirst, optionSuffixed, optionPrefixed, optionWriteOnce:
			return true
		}
	}
	return false
}

// ParseAdoption parses the value of the tag on an existing table.
func ParseAdoption(table, value string) (*Adoption, error) {
	options, err := parseOptions(table, value)
	if err != nil {
		return nil, err
	}
	take := func(name, otherwise string) string {
		v, given := options[name]
		delete(options, name)
		if !given {
			return otherwise
		}
		return v
	}
	a := &Adoption{Affix: &shard.Affix{}}
	switch adopt := take(optionAdopt, ""); adopt {
	case adoptSuffix, adoptPrefix:
		a.Affix.Front = adopt == adoptPrefix
	case "":
		if _, err := parseLayout(table, value); err != nil {
			return nil, err
		}
		return nil, refuse(table, "the option adopt is missing, which says where a table that was sharded by hand has the shard, at the end of the partition key or at its beginning: "+
			"write for instance %s", adoptionExample)
	default:
		return nil, refuse(table, "adopt=%s: what can be adopted is adopt=suffix, the shard at the end of the partition key, such as 121212-3, or adopt=prefix, at its beginning, such as 3-121212", adopt)
	}
	if a.Affix.Separator, err = shard.ParseSeparator(take(optionSeparator, shard.DefaultSeparator)); err != nil {
		return nil, refuse(table, "%s", err)
	}
	first := take(optionFirst, "1")
	if a.Affix.First, err = strconv.Atoi(first); err != nil || a.Affix.First < 0 || a.Affix.First > 1 {
		return nil, refuse(table, "first=%s: the first shard is 1, or 0", first)
	}
	alike, verb := optionSuffixed, "end"
	if a.Affix.Front {
		alike, verb = optionPrefixed, "begin"
	}
	switch allowed := take(alike, ""); allowed {
	case "":
	case "allow":
		a.Affix.Alike = true
	default:
		return nil, refuse(table, "%s=%s: write %[1]s=allow where partition keys may themselves %[3]s like a shard, or leave it out", alike, allowed, verb)
	}
	once := take(optionWriteOnce, "no")
	for _, k := range slices.Sorted(maps.Keys(options)) {
		if k != "strategy" && k != "shards" && k != "hash" {
			return nil, refuse(table, "the option %s is not known; those of adopt=%s are adopt, strategy, shards, hash, %s, %s, %s and %s",
				k, a.Affix, optionSeparator, optionFirst, alike, optionWriteOnce)
		}
	}
	if a.Layout, err = layoutOf(table, options); err != nil {
		return nil, err
	}
	switch random := a.Layout.Strategy == shard.Random; {
	case once != "no" && once != "":
		return nil, refuse(table, "write-once has no value; write the word alone")
	case random && once == "no":
		return nil, refuse(table, "with strategy=random nothing tells the shard of an item, and one that is put again would be there twice; "+
			"if that is never done, say so with write-once, or use strategy=calculated, if the shards were calculated")
	case !random && once != "no":
		return nil, refuse(table, "write-once means nothing under strategy=calculated, where an item that is put again is found; leave it out")
	}
	return a, nil
}

// String returns the adoption as a tag's value.
func (a *Adoption) String() string {
	s := "adopt=" + a.Affix.String() + " strategy=" + a.Layout.Strategy.String() + " shards=" + strconv.Itoa(a.Layout.N)
	if a.Layout.Strategy == shard.Random {
		s += " write-once"
	} else {
		s += " hash=" + a.Layout.Hash.String()
	}
	s += " separator=" + shard.FormatSeparator(a.Affix.Separator) + " first=" + strconv.Itoa(a.Affix.First)
	switch {
	case a.Affix.Alike && a.Affix.Front:
		s += " prefixed=allow"
	case a.Affix.Alike:
		s += " suffixed=allow"
	}
	return s
}

// Table returns the adopted table, or an error if it cannot be adopted.
func (a *Adoption) Table(physical *schema.Table) (*Table, error) {
	hash := schema.Definition{Name: physical.HashName(), Type: physical.Type(physical.HashName())}
	switch {
	case len(physical.Key.Range) == 0:
		return nil, refuse(physical.Name, "it has no sort key, so that nothing tells the shard of an item")
	case hash.Type != attribute.S:
		return nil, refuse(physical.Name, "its partition key %s is no string, and so has no shard in it", hash.Name)
	}
	for i := range physical.Global {
		if ix := &physical.Global[i]; ix.Key.Has(hash.Name) {
			return nil, adoptedIndex(physical.Name, ix, hash.Name)
		}
	}
	return Open(Spec{Name: physical.Name, Physical: physical, Hash: hash, Layout: a.Layout, Affix: a.Affix})
}

// adoptedIndex returns the error for an index whose key contains the partition key of a table that
// was sharded by hand.
func adoptedIndex(table string, ix *schema.Index, hash string) error {
	return refuse(table, "index %s has %s in its key, where the store sees it with the shard: what is asked of it would not be found; "+
		"delete the index, or give it another key", ix.Name, hash)
}

// CheckAdopted returns an error if an item is not at its place in the layout of a table that was
// sharded by hand. It needs only the item's key.
func (p *placement) CheckAdopted(physical attribute.Item) error { return p.adopted.checkItem(physical) }

// checkItem returns an error if an item is not at its place.
func (a *adopted) checkItem(physical attribute.Item) error {
	is := a.misplaced(physical)
	v, _ := physical.Get(a.hash.Name)
	if key, _, ok := a.cut(v.Text()); ok && !a.affix.Alike {
		if _, _, again := a.cut(key); again {
			is = fmt.Sprintf("%s has a partition key that has a shard at its %s without the shard too, %q: "+
				"add %s, and see to it that no application goes on adding shards itself", a.describe(physical), a.side(), key, a.allows())
		}
	}
	if is == "" {
		return nil
	}
	return refuse(a.name, "it is not adopted, since %s", is)
}

// describe describes an item by its physical key.
func (a *adopted) describe(physical attribute.Item) string {
	v, sort := a.of(physical)
	return fmt.Sprintf("the item %s = %q, %s = %s", a.hash.Name, v.Text(), a.sort.Name, sort)
}

// misplaced describes what is wrong with the place of an item; "": nothing.
func (a *adopted) misplaced(physical attribute.Item) string {
	v, sort := a.of(physical)
	key, at, ok := a.cut(v.Text())
	if !ok {
		form := "%q and a number from %d to %d"
		if a.affix.Front {
			form = "a number from %[2]d to %[3]d and %[1]q"
		}
		return a.describe(physical) + " has no shard at the " + a.side() + " of its partition key: " +
			fmt.Sprintf(form, a.affix.Separator, a.affix.First, a.affix.First+a.layout.N-1)
	}
	hash := attribute.String(key)
	want := a.layout.ShardOf(valueBytes(hash), valueBytes(sort))
	if a.drawn() || at == want {
		return ""
	}
	hint := ""
	for _, h := range []shard.Hash{shard.Murmur3, shard.CodePoints} {
		other := *a.layout
		if other.Hash = h; h != a.layout.Hash && other.ShardOf(valueBytes(hash), valueBytes(sort)) == at {
			hint = "hash=" + h.String() + " gives the former; "
		}
	}
	return fmt.Sprintf("%s is in shard %d, where hash=%s of the sort key gives %d: %sif it is another hash, or of something else, "+
		"and items are put once only, use strategy=random write-once", a.describe(physical), at-1+a.affix.First, a.layout.Hash, want-1+a.affix.First, hint)
}
