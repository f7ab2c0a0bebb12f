// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// Of a request on plain tables only their names are read.

// targets appends the names of the tables that a request names to names. A member
// that is there twice names two: which of them a store takes is its own matter. It
// returns false where it cannot tell, also for operations that it does not know.
func targets(operation string, body []byte, names []string) ([]string, bool) {
	var r jsontext.Reader
	r.Reset(body)
	switch api.OperationOf(operation).Names {
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

// members reads an object, and appends the texts of its members with a name.
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

// declares tells whether a CreateTable is more than the store's own matter: it has a
// tag about write sharding, or a reserved name; or it cannot be read. name is the
// table's.
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

// mentions returns the first of some names that a text of the document has in it,
// for operations of which it is not known where they name tables; what cannot be
// read mentions all. match tells whether a text is about one of them.
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
