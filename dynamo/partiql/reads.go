// SPDX-License-Identifier: Apache-2.0

package partiql

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/dynamo/schema"
)

// Selection answers a SELECT: reads that are done one after the other, and the columns of their
// items that the answer shows.
type Selection struct {
	reads   []api.Request // *api.Query or *api.Scan
	filters []*expression.Condition
	columns []column // nil: all
	paths   bool     // a column is a path into an attribute
}

// Select returns the reads that answer a SELECT of a table.
func (s *Statement) Select(t *schema.Table, consistent bool) (*Selection, error) {
	key, ix, local, err := s.readKey(t)
	if err != nil {
		return nil, err
	}
	if ix != nil && !local && consistent {
		return nil, exception.Invalid("Strongly consistent read is not supported on Global Secondary Indexes")
	}
	r := newReader(t, key)
	if len(s.order) > 0 {
		if err := s.checkOrder(r); err != nil {
			return nil, err
		}
	}
	out := &Selection{columns: s.columns}
	for _, c := range s.columns {
		out.paths = out.paths || len(c.path.Steps) > 0
	}
	if err := s.checkColumns(t, ix, local); err != nil {
		return nil, err
	}
	read := api.Read{Table: s.table, Index: s.index, FilterName: "Filter Expression", Consistent: consistent}
	if !r.keyed(s.where) {
		return out, out.scan(s, read)
	}
	branches, err := r.branches(s.where)
	if err != nil {
		return nil, err
	}
	backward, err := s.arrange(r, branches)
	if err != nil {
		return nil, err
	}
	for _, b := range branches {
		if ix != nil {
			if err := checkFilter(t, ix, b.rest); err != nil {
				return nil, err
			}
		}
		if err := out.query(r, read, b, backward); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readKey returns the key schema of the table or of the index that is read.
func (s *Statement) readKey(t *schema.Table) (key schema.Key, ix *schema.Index, local bool, err error) {
	if s.index == "" {
		return t.Key, nil, false, nil
	}
	if ix, local = t.Index(s.index); ix == nil {
		return key, nil, false, exception.Invalid("The table does not have the specified index")
	}
	return ix.Key, ix, local, nil
}

// checkColumns returns an error if a global index does not have the selected attributes. A read of
// a local index fetches such attributes from the table.
func (s *Statement) checkColumns(t *schema.Table, ix *schema.Index, local bool) error {
	if ix == nil || local {
		return nil
	}
	var missing []string
	for _, c := range s.columns {
		if !t.Projects(ix, c.path.Name) {
			missing = append(missing, c.path.Name)
		}
	}
	if missing == nil {
		return nil
	}
	return exception.InvalidParameters("Global secondary index %s does not project %s", ix.Name, listed(missing))
}

func listed(names []string) string {
	out := "["
	for i, n := range names {
		if i > 0 {
			out += ", "
		}
		out += n
	}
	return out + "]"
}

// checkFilter returns an error if an index does not have the attributes of the remaining
// conditions.
func checkFilter(t *schema.Table, ix *schema.Index, rest []condition) error {
	var missing []string
	names(and(rest), func(name string) bool {
		if !t.Projects(ix, name) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
		return true
	})
	if missing == nil {
		return nil
	}
	return exception.InvalidParameters("Secondary index %s does not project one or more filter attributes: %s", ix.Name, listed(missing))
}

// checkOrder returns an error if ORDER BY is not supported.
func (s *Statement) checkOrder(r *reader) error {
	if s.where == nil {
		return exception.Invalid("Must have WHERE clause in the statement when using ORDER BY clause.")
	}
	for _, o := range s.order {
		if !r.isKey(o.name) {
			return exception.Invalid("Attribute %s in ORDER BY clause must be part of the primary key", o.name)
		}
	}
	if !r.keyed(s.where) {
		return exception.Invalid("Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.")
	}
	return nil
}

// arrange puts the reads in the order of ORDER BY. It reports whether each read goes backward.
func (s *Statement) arrange(r *reader, branches []branch) (backward bool, err error) {
	if len(s.order) == 0 {
		return false, nil
	}
	byHash, hashDesc, bySort := false, false, false
	for _, o := range s.order {
		if slices.ContainsFunc(r.hash, func(a expression.KeyAttribute) bool { return a.Name == o.name }) {
			byHash, hashDesc = true, o.desc
		} else {
			bySort, backward = true, o.desc
		}
	}
	if !bySort {
		backward = true // as AWS does
	}
	several := slices.ContainsFunc(branches, func(b branch) bool {
		return !slices.EqualFunc(b.key.Hash, branches[0].key.Hash, attribute.Value.Equal)
	})
	if several && !byHash {
		return false, exception.Invalid("Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.")
	}
	slices.SortStableFunc(branches, func(a, b branch) int {
		c := slices.CompareFunc(a.key.Hash, b.key.Hash, order)
		if hashDesc {
			c = -c
		}
		if c != 0 {
			return c
		}
		if c = order(start(a), start(b)); backward {
			return -c
		}
		return c
	})
	return backward, nil
}

// order compares keys of one type. An invalid value (there is no key) comes before all others.
func order(a, b attribute.Value) int {
	switch {
	case a.Kind() == attribute.Invalid && b.Kind() == attribute.Invalid:
		return 0
	case a.Kind() == attribute.Invalid:
		return -1
	case b.Kind() == attribute.Invalid:
		return 1
	}
	c, _ := attribute.Compare(a, b)
	return c
}

// start returns the value at which the sort keys of an alternative begin; an invalid value: at the
// first one.
func start(b branch) attribute.Value {
	if b.key.Op == expression.Less || b.key.Op == expression.LessOrEqual {
		return attribute.Value{}
	}
	return b.key.Low
}

// scan makes a Scan of the selection.
func (out *Selection) scan(s *Statement, read api.Read) error {
	var err error
	if s.where != nil {
		if read.Filter, err = express([]condition{s.where}); err != nil {
			return err
		}
	}
	out.project(&read)
	out.reads, out.filters = append(out.reads, &api.Scan{Read: read}), append(out.filters, nil)
	return nil
}

// query adds the Query of one alternative. Show applies the conditions that the filter of a Query
// may not have.
func (out *Selection) query(r *reader, read api.Read, b branch, backward bool) error {
	filter, err := express(b.rest)
	if err != nil {
		return err
	}
	free := names(and(b.rest), func(name string) bool { return !r.isKey(name) })
	if free {
		read.Filter, filter = filter, nil
	}
	if filter == nil {
		out.project(&read)
	}
	hash, sort := make([]string, len(r.hash)), make([]string, len(r.sort))
	for i, a := range r.hash {
		hash[i] = a.Name
	}
	for i, a := range r.sort {
		sort[i] = a.Name
	}
	out.reads = append(out.reads, &api.Query{Read: read, KeyCondition: b.key.Condition(hash, sort), Backward: backward})
	out.filters = append(out.filters, filter)
	return nil
}

// project asks the read for the attributes that the columns need.
func (out *Selection) project(read *api.Read) {
	if out.columns == nil {
		return
	}
	var paths []expression.Path
	for _, c := range out.columns {
		top := expression.Top(c.path.Name)
		if !slices.ContainsFunc(paths, func(p expression.Path) bool { return p.Name == top.Name }) {
			paths = append(paths, top)
		}
	}
	read.Projection, read.Select = expression.Project(paths...), api.SelectSpecific
}

// Len returns the number of reads.
func (out *Selection) Len() int { return len(out.reads) }

// Request returns read i. It begins after a key (nil: at the beginning) and is limited to a number
// of items (0: no limit).
func (out *Selection) Request(i int, after attribute.Item, limit int, capacity api.ReturnConsumedCapacity) api.Request {
	set := func(r api.Read) api.Read {
		r.Start, r.Limit, r.Capacity = after, limit, capacity
		return r
	}
	if q, ok := out.reads[i].(*api.Query); ok {
		one := *q
		one.Read = set(q.Read)
		return &one
	}
	one := *out.reads[i].(*api.Scan)
	one.Read = set(one.Read)
	return &one
}

// Show returns the part of an item of read i that the answer shows. It returns false if the item
// does not meet the conditions.
func (out *Selection) Show(i int, text attribute.Encoded) (attribute.Encoded, bool, error) {
	if out.filters[i] == nil && !out.paths {
		return text, true, nil
	}
	item, err := new(attribute.Decoder).Item(text)
	if err != nil {
		return nil, false, fmt.Errorf("an item that cannot be read: %w", err)
	}
	if !out.filters[i].Match(item) {
		return nil, false, nil
	}
	if out.columns == nil {
		return text, true, nil
	}
	var shown []attribute.Attribute
	for _, c := range out.columns {
		if v, ok := c.path.Get(item); ok {
			shown = append(shown, attribute.Attribute{Name: c.name, Value: v})
		}
	}
	return attribute.NewItem(shown...).Encode(), true, nil
}
