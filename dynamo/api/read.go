// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"math"
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/jsontext"
)

// Reading members by their types. A value of another type is AWS's error.

var errSerialization = &exception.Error{Kind: exception.Serialization}

func readText(r *jsontext.Reader) text {
	if r.Peek() == jsontext.Null {
		r.Null()
		return text{}
	}
	return text{attribute.ReadString(r), true}
}

func readFlag(r *jsontext.Reader) flag {
	if r.Peek() == jsontext.Null {
		r.Null()
		return flag{}
	}
	return flag{attribute.ReadBool(r), true}
}

// readInteger reads a number. It rounds a fraction down. A number that does not fit becomes the
// greatest or least int64.
func readInteger(r *jsontext.Reader, as string) integer {
	switch r.Peek() {
	case jsontext.Null:
		r.Null()
		return integer{}
	case jsontext.Number:
	default:
		attribute.Mismatch(r, as)
		return integer{}
	}
	s := r.Number()
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return integer{i, true}
	}
	f, _ := strconv.ParseFloat(s, 64)
	f = math.Floor(f)
	switch {
	case f >= math.MaxInt64:
		return integer{math.MaxInt64, true}
	case f <= math.MinInt64:
		return integer{math.MinInt64, true}
	}
	return integer{int64(f), true}
}

// readTexts reads a list of strings. Its result is not nil if there is a list.
func readTexts(r *jsontext.Reader) []text {
	if !attribute.EnterList(r) {
		return nil
	}
	out := []text{}
	for r.Next() {
		if len(out) < maxListed {
			out = append(out, readText(r))
		} else {
			r.Skip()
		}
	}
	return out
}

// readNames reads ExpressionAttributeNames. Its result is not nil if there is a map.
func readNames(r *jsontext.Reader) []expression.Name {
	if !attribute.EnterMap(r, "java.lang.String") {
		return nil
	}
	out := []expression.Name{}
	for r.Next() {
		name := r.Name()
		out = append(out, expression.Name{Placeholder: name, Attribute: readText(r).value})
	}
	return out
}

// structurePrefix is the prefix of the API's structures in error messages.
const structurePrefix = "com.amazonaws.dynamodb.v20120810."

// enterElement enters a structure that is an element of a list or map. If the element is null, it
// reads the null and returns false.
func enterElement(r *jsontext.Reader, name string) bool {
	return attribute.EnterStructure(r, structurePrefix+name, true)
}

// enterField enters a structure that is a member of another structure.
func enterField(r *jsontext.Reader, name string) bool {
	return attribute.EnterStructure(r, structurePrefix+name, false)
}

// enterMap enters a map of structures.
func enterMap(r *jsontext.Reader, name string) bool {
	return attribute.EnterMap(r, structurePrefix+name)
}

// describe returns a description of a read in one line.
func (r *Read) describe(verb string, more ...any) string {
	on := r.Table
	if r.Index != "" {
		on += "/" + r.Index
	}
	s := line(verb, on, append(more, "filter", r.Filter, "projection", r.Projection, "after", r.Start)...)
	if r.Limit > 0 {
		s += fmt.Sprintf(" limit %d", r.Limit)
	}
	return s
}

// line returns a verb, a table, and those of the pairs (name, value) whose value is not empty.
func line(verb, table string, pairs ...any) string {
	s := verb + " " + table
	for i := 0; i < len(pairs); i += 2 {
		text := fmt.Sprint(pairs[i+1])
		if text != "" && text != "{}" {
			s += fmt.Sprintf(" %s %s", pairs[i], text)
		}
	}
	return s
}
