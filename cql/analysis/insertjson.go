// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"errors"

	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// insertJSON analyses INSERT … JSON. It analyses a literal at once, unless its values are much longer
// than the text. Bind analyses the others and a marker's text, and counts the values.
func (w *writeBuilder) insertJSON(stmt *syntax.Insert) error {
	w.JSONUnset = stmt.JSONUnset
	if c, ok := stmt.JSON.(*syntax.Constant); ok {
		made := *w.Write
		err := made.json([]byte(c.Text), shortJSON)
		if err == errLater {
			w.JSON, w.Scope = &eval.Const{T: value.Native(value.Text), Value: []byte(c.Text)}, ScopeRows
			return nil
		}
		*w.Write = made
		return err
	}
	x, err := w.prepare(stmt.JSON, spec{name: "[json]", t: value.Native(value.Text)})
	w.JSON = x
	w.Scope = ScopeRows
	return err
}

// errLater means that a value is too long for an analysis, which counts no memory, or that Cassandra
// refuses it only when the statement is bound.
var errLater = errors.New("the value is read when the statement is bound")

// shortJSON returns the value of a JSON text, or errLater.
func shortJSON(t *value.Type, text []byte, wrong func(error) error) ([]byte, error) {
	v, ok, err := t.FromJSON(text, 4*len(text)+64)
	switch {
	case errors.Is(err, value.ErrNullInVector), err == nil && !ok:
		return nil, errLater
	case err != nil:
		return nil, wrong(err)
	}
	return v, nil
}

// json builds the write from the members of a JSON object. It sets each column. Absent columns
// become null, unless the statement says DEFAULT UNSET. read returns a column's value, or an error
// that wrong makes of the one that the client sees.
func (w *Write) json(text []byte, read func(t *value.Type, text []byte, wrong func(error) error) ([]byte, error)) error {
	columns := w.Table.All()
	names := make(map[string]int, len(columns))
	for i, c := range columns {
		names[c.Name] = i
	}
	given, other, err := value.Members(text, len(columns), func(name []byte) int {
		if i, ok := names[string(name)]; ok {
			return i
		}
		return -1
	})
	if err != nil {
		return inner(err)
	}
	for i, c := range columns {
		ok := given[i] != nil
		x := &eval.Const{T: c.Type}
		if ok {
			x.Value, err = read(c.Type, given[i], func(err error) error {
				if errors.Is(err, value.ErrNullInVector) {
					return invalid("%s", err)
				}
				return invalid("Error decoding JSON value for %s: %s", c.Name, err)
			})
			if err != nil {
				return err
			}
		}
		switch c.Kind {
		case schema.PartitionKey, schema.Clustering:
			r := &Restriction{Kind: EQ, Columns: []*schema.Column{c}, Term: x}
			if !ok && w.JSONUnset {
				r.Term = &eval.Unset{T: c.Type}
			}
			if c.Kind == schema.PartitionKey {
				w.Where.Partition = append(w.Where.Partition, r)
			} else {
				w.Where.Clustering = append(w.Where.Clustering, r)
			}
		default:
			if ok || !w.JSONUnset {
				w.Operations = append(w.Operations, Operation{Kind: Set, Column: c, Term: x})
			}
		}
	}
	if other != nil {
		return invalid("JSON values map contains unrecognized column: %s", *other)
	}
	w.Scope = ScopeRows
	return nil
}
