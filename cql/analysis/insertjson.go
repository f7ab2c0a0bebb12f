// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/evenkeel/evenkeel/cql/eval"
	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/syntax"
	"github.com/evenkeel/evenkeel/cql/value"
)

// insertJSON analyses INSERT … JSON. It analyses a literal at once; Bind analyses a marker's text.
func (w *writeBuilder) insertJSON(stmt *syntax.Insert) error {
	w.JSONUnset = stmt.JSONUnset
	if c, ok := stmt.JSON.(*syntax.Constant); ok {
		if err := w.Write.json([]byte(c.Text)); err != nil {
			return err
		}
		return nil
	}
	x, err := w.prepare(stmt.JSON, spec{name: "[json]", t: value.Native(value.Text)})
	w.JSON = x
	w.Scope = ScopeRows
	return err
}

// json builds the write from the members of a JSON object. It sets each column. Absent columns
// become null, unless the statement says DEFAULT UNSET.
func (w *Write) json(text []byte) error {
	members, err := value.Members(text)
	if err != nil {
		return inner(err)
	}
	given := make(map[string][]byte, len(members))
	for _, m := range members {
		given[m.Name] = m.Value
	}
	for _, c := range w.Table.All() {
		member, ok := given[c.Name]
		delete(given, c.Name)
		x := &eval.Const{T: c.Type}
		if ok {
			if x.Value, err = c.Type.FromJSON(member); err != nil {
				return invalid("Error decoding JSON value for %s: %s", c.Name, err)
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
	for _, m := range members {
		if _, left := given[m.Name]; left {
			return invalid("JSON values map contains unrecognized column: %s", m.Name)
		}
	}
	w.Scope = ScopeRows
	return nil
}
