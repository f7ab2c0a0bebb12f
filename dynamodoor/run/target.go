// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// From a request on plain tables, the door reads only the tables' names.

// targets appends the names of the tables in a request to names. If a member occurs twice, both
// names count, because stores differ in which one they take. targets returns false if it cannot
// read the names, or does not know the operation.
func targets(o *api.Operation, body []byte, names []string) ([]string, bool) {
	var r jsontext.Reader
	r.Reset(body)
	switch o.Names {
	case api.ByTableName:
		names = members(&r, names, "TableName")
	case api.ByResource:
		names = members(&r, names, "ResourceArn")
	case api.ByRequest:
		for r.Object(); r.Next(); {
			if r.Name() != "RequestItems" {
				r.Skip()
				continue
			}
			for r.Object(); r.Next(); {
				names = append(names, r.Name())
				r.Skip()
			}
		}
	case api.ByAction:
		for r.Object(); r.Next(); {
			if r.Name() != "TransactItems" {
				r.Skip()
				continue
			}
			for r.Array(); r.Next(); {
				for r.Object(); r.Next(); {
					if r.Peek() != jsontext.Object {
						r.Skip()
						continue
					}
					names = members(&r, names, "TableName")
				}
			}
		}
	default:
		return names, false
	}
	return names, r.End() == nil
}

// members reads an object and appends the texts of the members with a name.
func members(r *jsontext.Reader, names []string, name string) []string {
	for r.Object(); r.Next(); {
		if r.Name() == name {
			names = append(names, r.Text())
		} else {
			r.Skip()
		}
	}
	return names
}

// declares reports whether the door itself must handle a CreateTable: it has a tag for write
// sharding or a reserved name, or it cannot be read. name is the table's name.
func declares(body []byte) (name string, ours bool) {
	var r jsontext.Reader
	r.Reset(body)
	begins := func(member, prefix string) {
		if r.Peek() != jsontext.Array {
			r.Skip()
			return
		}
		for r.Array(); r.Next(); {
			if r.Peek() != jsontext.Object {
				r.Skip()
				continue
			}
			for _, text := range members(&r, nil, member) {
				ours = ours || strings.HasPrefix(text, prefix)
			}
		}
	}
	twice := 0
	for r.Object(); r.Next(); {
		switch r.Name() {
		case "TableName":
			name = r.Text()
			twice++
		case "Tags":
			begins("Key", plan.Tag)
		case "AttributeDefinitions":
			begins("AttributeName", plan.HiddenPrefix)
		default:
			r.Skip()
		}
	}
	return name, ours || twice != 1 || r.End() != nil
}

// mentions returns the first name that match finds in a text of the document. It serves operations
// that may name tables at any place. If the document cannot be read, mentions passes all of it to
// match.
func mentions(body []byte, match func(text string) string) string {
	var r jsontext.Reader
	r.Reset(body)
	found := mentioned(&r, match)
	if r.End() != nil && len(body) > 0 && found == "" {
		return match(string(body))
	}
	return found
}

func mentioned(r *jsontext.Reader, match func(text string) string) (found string) {
	keep := func(name string) {
		if found == "" {
			found = name
		}
	}
	switch r.Peek() {
	case jsontext.String:
		keep(match(r.Text()))
	case jsontext.Array:
		for r.Array(); r.Next(); {
			keep(mentioned(r, match))
		}
	case jsontext.Object:
		for r.Object(); r.Next(); {
			keep(match(r.Name()))
			keep(mentioned(r, match))
		}
	default:
		r.Skip()
	}
	return found
}
