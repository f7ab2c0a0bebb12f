package schema

import (
	"iter"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// CheckItem says whether an item may be put into the table: it has the key, of the
// declared types, not empty and not too long, so has what it has of index keys;
// and it is no larger and no deeper than items may be.
func (t *Table) CheckItem(item attribute.Item) error {
	for _, names := range [2][]string{t.Key.Hash, t.Key.Range} {
		for _, name := range names {
			v, ok := item.Get(name)
			if !ok {
				return exception.InvalidParameters("Missing the key %s in the item", name)
			}
			if want := t.Type(name); v.Kind() != want {
				return exception.InvalidParameters("Type mismatch for key %s expected: %s actual: %s", name, want, v.Kind())
			}
		}
	}
	if err := t.checkKeyValues(item); err != nil {
		return err
	}
	if err := t.checkContent(item); err != nil {
		return err
	}
	if item.Size() > attribute.MaxItemSize {
		return exception.Invalid("Item size has exceeded the maximum allowed size")
	}
	return nil
}

// CheckUpdated says whether an item that an update made may be stored: its index
// keys have the declared types, and its size and depth are within the limits.
func (t *Table) CheckUpdated(item attribute.Item) error {
	if err := t.checkContent(item); err != nil {
		return err
	}
	if item.Size() > attribute.MaxItemSize {
		return exception.Invalid("Item size to update has exceeded the maximum allowed size")
	}
	return nil
}

// checkContent is what CheckItem and CheckUpdated have in common.
func (t *Table) checkContent(item attribute.Item) error {
	for _, indexes := range [2][]Index{t.Global, t.Local} {
		for i := range indexes {
			if err := t.checkIndexKey(&indexes[i], item); err != nil {
				return err
			}
		}
	}
	return item.ValidateNesting()
}

// CheckKey says whether key is a primary key of the table, no more and no less.
func (t *Table) CheckKey(key attribute.Item) error {
	const mismatch = "The provided key element does not match the schema"
	if len(key) != len(t.Key.Hash)+len(t.Key.Range) {
		return exception.Invalid(mismatch)
	}
	for _, names := range [2][]string{t.Key.Hash, t.Key.Range} {
		for _, name := range names {
			if v, ok := key.Get(name); !ok || v.Kind() != t.Type(name) {
				return exception.Invalid(mismatch)
			}
		}
	}
	return t.checkKeyValues(key)
}

// checkKeyValues says whether the values of a primary key are not empty and not
// too long.
func (t *Table) checkKeyValues(item attribute.Item) error {
	for _, name := range t.Key.Hash {
		if err := checkKeyValue(item, name, attribute.MaxHashSize, "Size of hashkey has exceeded the maximum size limit of2048 bytes"); err != nil {
			return err
		}
	}
	for _, name := range t.Key.Range {
		if err := checkKeyValue(item, name, attribute.MaxRangeSize, "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"); err != nil {
			return err
		}
	}
	return nil
}

func checkKeyValue(item attribute.Item, name string, limit int, tooLong string) error {
	v, _ := item.Get(name)
	if v.Kind() == attribute.N {
		return nil
	}
	switch n := len(v.Text()); {
	case n == 0:
		return expression.EmptyKey(name, v.Kind())
	case n > limit:
		return exception.InvalidParameters("%s", tooLong)
	}
	return nil
}

// checkIndexKey says whether the item's values of an index's key attributes, where
// it has them, are of the declared types, not empty and not too long.
func (t *Table) checkIndexKey(ix *Index, item attribute.Item) error {
	for i, names := range [2][]string{ix.Key.Hash, ix.Key.Range} {
		for _, name := range names {
			v, ok := item.Get(name)
			if !ok {
				continue
			}
			want := t.Type(name)
			if v.Kind() != want {
				return exception.InvalidParameters("Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", name, want, v.Kind(), ix.Name)
			}
			if want == attribute.N {
				continue
			}
			switch n := len(v.Text()); {
			case n == 0:
				return exception.Invalid("One or more parameter values are not valid. A value specified for a secondary index key is not supported. "+
					"The AttributeValue for a key attribute cannot contain an empty %s value. IndexName: %s, IndexKey: %s", emptyName(want), ix.Name, name)
			case i == 0 && n > attribute.MaxHashSize:
				return exception.InvalidParameters("Size of hashkey has exceeded the maximum size limit of2048 bytes")
			case i == 1 && n > attribute.MaxRangeSize:
				return exception.InvalidParameters("Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
			}
		}
	}
	return nil
}

func emptyName(k attribute.Kind) string {
	if k == attribute.B {
		return "binary"
	}
	return "string"
}

// CheckUpdate says whether an update may name the paths that it does: no part of
// the primary key, and nothing inside an index key.
func (t *Table) CheckUpdate(u *expression.Update) error {
	paths := u.Changes().Paths()
	for _, p := range paths {
		if t.Key.Has(p.Name) {
			return exception.InvalidParameters("Cannot update attribute %s. This attribute is part of the key", p.Name)
		}
	}
	return t.CheckPaths(slices.Values(paths))
}

// CheckPaths says whether document paths lead into no key attribute, since these
// are scalars.
func (t *Table) CheckPaths(paths iter.Seq[expression.Path]) error {
	for p := range paths {
		if len(p.Steps) == 0 {
			continue
		}
		what := ""
		switch {
		case t.Key.Has(p.Name):
			what = "Key"
		case t.isIndexKey(p.Name):
			what = "IndexKey"
		default:
			continue
		}
		return exception.Invalid("Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: %s: %s", what, p.Name)
	}
	return nil
}

func (t *Table) isIndexKey(name string) bool {
	has := func(ix Index) bool { return ix.Key.Has(name) }
	return slices.ContainsFunc(t.Local, has) || slices.ContainsFunc(t.Global, has)
}

// CheckFilter says whether a filter of a Query looks at no attribute of the key
// that is queried, and at none that the index, if there is one, does not have: of a
// local one, too, though it gives what it does not have. (To a Scan such an attribute
// is simply not there.) parameter is how AWS's message names the filter.
func (t *Table) CheckFilter(ix *Index, filter *expression.Condition, parameter string) error {
	k := t.Key
	if ix != nil {
		k = ix.Key
	}
	for p := range filter.Paths() {
		if k.Has(p.Name) {
			return exception.Invalid("%s can only contain non-primary key attributes: Primary key attribute: %s", parameter, p.Name)
		}
	}
	if ix != nil {
		if err := t.checkProjected(ix, filter); err != nil {
			return err
		}
	}
	return t.CheckPaths(filter.Paths())
}

func (t *Table) checkProjected(ix *Index, filter *expression.Condition) error {
	var missing []string
	for p := range filter.Paths() {
		if !t.Projects(ix, p.Name) {
			missing = append(missing, p.Name)
		}
	}
	if missing == nil {
		return nil
	}
	slices.Sort(missing)
	return exception.InvalidParameters("Secondary index %s does not project one or more filter attributes: %s", ix.Name, listing(slices.Compact(missing)))
}
