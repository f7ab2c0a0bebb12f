// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// These are hidden names.
const (
	// HiddenPrefix begins the names of hidden attributes.
	HiddenPrefix = "evenkeel."

	// PartitionKey is the physical tables' partition key.
	PartitionKey = HiddenPrefix + "pk"

	// indexPrefix begins the names of the attributes that hold the shards of items in sharded
	// indexes.
	indexPrefix = HiddenPrefix + "s."
)

// Strip returns an item without its hidden attributes, or item itself if it has none. It returns an
// item that it cannot read unchanged.
func Strip(item attribute.Encoded) attribute.Encoded { return strip(item, "") }

// strip returns an item as Strip does, and also without one more attribute unless that is "".
func strip(item attribute.Encoded, also string) attribute.Encoded {
	if len(item) == 0 {
		return item
	}
	if also == "" {
		if from, to, ok := hidden(item); ok && from == to {
			return item
		}
	}
	return appendStripped(make(attribute.Encoded, 0, len(item)), item, also)
}

// stripInPlace does what Strip does in the item's own memory.
func stripInPlace(item attribute.Encoded) attribute.Encoded {
	if len(item) == 0 {
		return item
	}
	from, to, ok := hidden(item)
	if !ok {
		return Strip(item)
	}
	return append(item[:from], item[to:]...)
}

// hidden finds the range to cut out of an item in canonical form, so that no hidden attribute is
// left. The range is empty if there is none. ok is false if the item is not in that form, or if its
// hidden attributes are not adjacent.
func hidden(item attribute.Encoded) (from, to int, ok bool) {
	var r jsontext.Reader
	r.Reset(item)
	before := 1
	for r.Object(); r.Next(); {
		hides := strings.HasPrefix(r.Name(), HiddenPrefix)
		r.Skip()
		switch {
		case hides && from == 0:
			from, to = before, r.Offset()
		case hides && before == to:
			to = r.Offset()
		case hides:
			return 0, 0, false
		}
		before = r.Offset()
	}
	if r.Err() != nil || len(item) == 0 || item[0] != '{' {
		return 0, 0, false
	}
	if from == 1 && item[to] != '}' {
		if item[to] != ',' {
			return 0, 0, false
		}
		to++
	}
	return from, to, true
}

// appendStripped appends an item without its hidden attributes and without one more.
func appendStripped(dst, item attribute.Encoded, also string) attribute.Encoded {
	var r jsontext.Reader
	r.Reset(item)
	start := len(dst)
	if from, to, ok := hidden(item); ok && also == "" {
		return append(append(dst, item[:from]...), item[to:]...)
	}
	out := append(dst, '{')
	for r.Object(); r.Next(); {
		name := r.Name()
		if strings.HasPrefix(name, HiddenPrefix) || also != "" && name == also {
			r.Skip()
			continue
		}
		if len(out) > start+1 {
			out = append(out, ',')
		}
		out = append(jsontext.AppendString(out, name), ':')
		out = append(out, r.Raw()...)
	}
	if r.End() != nil {
		return append(out[:start], item...)
	}
	return append(out, '}')
}

// visibleItem returns an item without its hidden attributes.
func visibleItem(item attribute.Item) attribute.Item {
	return slices.DeleteFunc(slices.Clone(item), func(a attribute.Attribute) bool { return strings.HasPrefix(a.Name, HiddenPrefix) })
}

func reserved(name string) error {
	return exception.InvalidParameters("Attribute %s: names that begin with %s are reserved in write-sharded tables; choose another name", name, HiddenPrefix)
}

// CheckName refuses the name of a hidden attribute.
func CheckName(name string) error {
	if strings.HasPrefix(name, HiddenPrefix) {
		return reserved(name)
	}
	return nil
}

// checkIndexed refuses hidden attributes in an index's projection.
func checkIndexed(d *schema.IndexDeclaration) error {
	if d.Projection == nil {
		return nil
	}
	for _, name := range d.Projection.NonKey {
		if err := CheckName(name); err != nil {
			return err
		}
	}
	return nil
}

// checkItem refuses hidden attributes in an item.
func checkItem(item attribute.Item) error {
	for i := range item {
		if strings.HasPrefix(item[i].Name, HiddenPrefix) {
			return reserved(item[i].Name)
		}
	}
	return nil
}

// checkPaths refuses hidden attributes in expressions.
func checkPaths(paths iter.Seq[expression.Path]) error {
	for p := range paths {
		if strings.HasPrefix(p.Name, HiddenPrefix) {
			return reserved(p.Name)
		}
	}
	return nil
}

// HasHidden reports whether a text may contain a hidden attribute's name.
func HasHidden(text string) bool { return strings.Contains(text, HiddenPrefix) }
