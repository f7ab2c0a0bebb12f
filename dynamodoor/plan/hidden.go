package plan

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// Strip returns an item without its hidden attributes; item itself where it has
// none. What it cannot read it returns as it is.
func Strip(item attribute.Encoded) attribute.Encoded { return strip(item, "") }

var hiddenName = []byte(`"` + HiddenPrefix)

// strip is Strip, leaving out one more attribute unless it is "".
func strip(item attribute.Encoded, also string) attribute.Encoded {
	if len(item) == 0 || also == "" && !bytes.Contains(item, hiddenName) {
		return item
	}
	if also == "" {
		if out, ok := cut(item); ok && !bytes.Contains(out, hiddenName) {
			return out // a store that keeps attributes in another order may have parted them
		}
	}
	return appendStripped(make(attribute.Encoded, 0, len(item)), item, also)
}

// cut cuts the hidden attributes out of an item in canonical form, where they are
// beside each other; ok is false where it is not that.
func cut(item attribute.Encoded) (out attribute.Encoded, ok bool) {
	var r jsontext.Reader
	r.Reset(item)
	before, from, to := 1, 0, 0
	for r.Object(); r.Next(); {
		hidden := strings.HasPrefix(r.Name(), HiddenPrefix)
		if !hidden && from > 0 {
			break
		}
		r.Skip()
		if r.Err() != nil {
			return nil, false
		}
		if !hidden {
			before = r.Offset()
			continue
		}
		if from == 0 {
			from = before
		}
		to = r.Offset()
	}
	switch {
	case r.Err() != nil || item[0] != '{':
		return nil, false
	case from == 0:
		return item, true // the name is that of something deeper
	case from == 1 && item[to] == ',':
		to++
	}
	out = make(attribute.Encoded, 0, len(item)-(to-from))
	return append(append(out, item[:from]...), item[to:]...), true
}

// appendStripped appends an item without its hidden attributes, and one more.
func appendStripped(dst, item attribute.Encoded, also string) attribute.Encoded {
	var r jsontext.Reader
	r.Reset(item)
	start := len(dst)
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

// visibleItem is an item without its hidden attributes.
func visibleItem(item attribute.Item) attribute.Item {
	return slices.DeleteFunc(slices.Clone(item), func(a attribute.Attribute) bool { return strings.HasPrefix(a.Name, HiddenPrefix) })
}

func reserved(name string) error {
	return exception.InvalidParameters("Attribute %s: names that begin with %s are reserved in write-sharded tables; choose another name", name, HiddenPrefix)
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
