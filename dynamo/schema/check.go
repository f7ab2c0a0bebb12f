package schema

import (
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
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
	return t.CheckUpdated(item)
}

// CheckUpdated says whether an item that an update made may be stored: its index
// keys have the declared types, and its size and depth are within the limits.
func (t *Table) CheckUpdated(item attribute.Item) error {
	for _, indexes := range [2][]Index{t.Global, t.Local} {
		for i := range indexes {
			if err := t.checkIndexKey(&indexes[i], item); err != nil {
				return err
			}
		}
	}
	if item.Size() > attribute.MaxItemSize {
		return exception.Invalid("Item size has exceeded the maximum allowed size")
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

func (t *Table) checkKeyValues(item attribute.Item) error { return nil }

func (t *Table) checkIndexKey(ix *Index, item attribute.Item) error { return nil }
