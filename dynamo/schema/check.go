// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"iter"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// CheckItem returns an error if the item cannot be put into the table. It needs the key, with the
// declared types, not empty and not too long; the same holds for its index key attributes. Its
// size and depth must be within the limits.
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
	if ix, name, f := t.indexFault(item.Get); f != noFault {
		v, _ := item.Get(name)
		switch f {
		case wrongType:
			return t.indexMismatch(ix, name, v.Kind())
		case emptyValue:
			return expression.EmptyIndexKey(ix.Name, name, v.Kind())
		case longHash:
			return exception.InvalidParameters(hashTooLong)
		}
		return exception.InvalidParameters(rangeTooLong)
	}
	if err := item.ValidateNesting(); err != nil {
		return err
	}
	if item.Size() > attribute.MaxItemSize {
		return exception.Invalid("Item size has exceeded the maximum allowed size")
	}
	return nil
}

// CheckUpdated returns an error if an item that an update changed from old cannot be stored.
// Changed index key attributes need the declared types, and size and depth must be within the
// limits. Unchanged attributes that are older than an index may be invalid as its keys.
func (t *Table) CheckUpdated(old, item attribute.Item) error {
	changed := func(name string) (attribute.Value, bool) {
		v, ok := item.Get(name)
		was, had := old.Get(name)
		return v, ok && !(had && was.Equal(v))
	}
	if _, name, f := t.indexFault(changed); f != noFault {
		switch f {
		case wrongType:
			return exception.Invalid("The update expression attempted to update the secondary index key to unsupported type")
		case emptyValue:
			return expression.EmptyUpdatedKey(t.Type(name))
		}
		return exception.Invalid("The update expression attempted to update the secondary index key beyond allowed size limits")
	}
	if err := item.ValidateNesting(); err != nil {
		return err
	}
	if item.Size() > attribute.MaxItemSize {
		return exception.Invalid("Item size to update has exceeded the maximum allowed size")
	}
	return nil
}

// indexFault is a kind of error in the value of an index's key attribute.
type indexFault uint8

const (
	noFault indexFault = iota
	wrongType
	emptyValue
	longHash
	longRange
)

// indexFault returns the first fault in the keys of the indexes, in the order of the indexes'
// names.
func (t *Table) indexFault(get func(name string) (attribute.Value, bool)) (at *Index, name string, f indexFault) {
	for _, indexes := range [2][]Index{t.Global, t.Local} {
		for i := range indexes {
			ix := &indexes[i]
			if at != nil && at.Name < ix.Name {
				continue
			}
			if n, found := t.keyFault(&ix.Key, get); found != noFault {
				at, name, f = ix, n, found
			}
		}
	}
	return at, name, f
}

// keyFault returns the first invalid attribute of an index's key, and its fault. Attributes that
// are present need the declared type, must not be empty and not too long.
func (t *Table) keyFault(k *Key, get func(name string) (attribute.Value, bool)) (string, indexFault) {
	for i, names := range [2][]string{k.Hash, k.Range} {
		for _, name := range names {
			v, ok := get(name)
			if !ok {
				continue
			}
			switch want := t.Type(name); {
			case v.Kind() != want:
				return name, wrongType
			case want == attribute.N:
			case len(v.Text()) == 0:
				return name, emptyValue
			case i == 0 && len(v.Text()) > attribute.MaxHashSize:
				return name, longHash
			case i == 1 && len(v.Text()) > attribute.MaxRangeSize:
				return name, longRange
			}
		}
	}
	return "", noFault
}

func (t *Table) indexMismatch(ix *Index, name string, actual attribute.Kind) error {
	return exception.InvalidParameters("Type mismatch for Index Key %s Expected: %s Actual: %s IndexName: %s", name, t.Type(name), actual, ix.Name)
}

const (
	hashTooLong  = "Size of hashkey has exceeded the maximum size limit of2048 bytes"
	rangeTooLong = "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
)

// CheckKey returns an error unless key is exactly a primary key of the table.
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

// checkKeyValues returns an error if a value of a primary key is empty or too long.
func (t *Table) checkKeyValues(item attribute.Item) error {
	for _, name := range t.Key.Hash {
		if err := checkKeyValue(item, name, attribute.MaxHashSize, hashTooLong); err != nil {
			return err
		}
	}
	for _, name := range t.Key.Range {
		if err := checkKeyValue(item, name, attribute.MaxRangeSize, rangeTooLong); err != nil {
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

// CheckUpdate returns an error if an update's paths are not allowed: parts of the primary key,
// and paths into an index key. It also checks the types of index keys, if the update itself shows
// them.
func (t *Table) CheckUpdate(u *expression.Update) error {
	paths := u.Changes().Paths()
	for _, p := range paths {
		if t.Key.Has(p.Name) {
			return exception.InvalidParameters("Cannot update attribute %s. This attribute is part of the key", p.Name)
		}
	}
	ix, name, f := t.indexFault(func(name string) (attribute.Value, bool) {
		v := u.Assigned(name)
		return v, v.Kind() != attribute.Invalid
	})
	switch f {
	case wrongType:
		return t.indexMismatch(ix, name, u.Assigned(name).Kind())
	case emptyValue:
		return expression.EmptyUpdatedKey(t.Type(name))
	}
	return t.CheckPaths(slices.Values(paths))
}

// CheckPaths returns an error if a document path leads into a key attribute, because these are
// scalars.
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

// CheckFilter returns an error if a filter of a Query uses an attribute of the queried key, or
// one that the index lacks. That holds for a local index too, although a query of it can return
// attributes that it lacks. (A Scan treats such an attribute as absent.) parameter is the name of
// the filter in AWS's message.
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
