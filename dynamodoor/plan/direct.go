// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// Direct is a plan of one physical request.
type Direct struct {
	// Request is what the store is asked.
	Request api.Request

	// answer makes the store's answer the client's, in place.
	answer func(api.Response) error
	// of is the sharded table of a part of the request, nil of a plain one's; it is nil
	// itself where errors should have no items.
	of func(part int) *Table
}

// Answer returns the client's answer, which is the store's, changed.
func (d *Direct) Answer(r api.Response) (api.Response, error) {
	if err := d.answer(r); err != nil {
		return nil, err
	}
	return r, nil
}

// Err implements Plan.
func (d *Direct) Err(err error) error { return visibleError(err, d.of) }

// String implements Plan.
func (d *Direct) String() string { return describe(d.Request) }

// visibleError is an error with its items as the client knows them.
func visibleError(err error, of func(part int) *Table) error {
	var e *exception.Error
	if !errors.As(err, &e) || len(e.Item) == 0 && len(e.Reasons) == 0 {
		return err
	}
	visible := *e
	visible.Raw = nil
	show := func(part int, item attribute.Encoded) attribute.Encoded {
		if of == nil {
			return Strip(item)
		}
		return of(part).showCopy(item)
	}
	if len(e.Item) > 0 {
		visible.Item = show(0, e.Item)
	}
	visible.Reasons = append([]exception.CancellationReason(nil), e.Reasons...)
	for i := range visible.Reasons {
		if item := visible.Reasons[i].Item; len(item) > 0 {
			visible.Reasons[i].Item = show(i, item)
		}
	}
	return &visible
}

// describe is a request in a line or, if it has many parts, in several.
func describe(q api.Request) string {
	switch q := q.(type) {
	case *api.GetItem:
		return line("GetItem", q.Table, "key", q.Key, "projection", q.Projection)
	case *api.PutItem:
		return line("PutItem", q.Table, "item", q.Item, "condition", q.Condition)
	case *api.DeleteItem:
		return line("DeleteItem", q.Table, "key", q.Key, "condition", q.Condition)
	case *api.UpdateItem:
		return line("UpdateItem", q.Table, "key", q.Key, "update", q.Update, "condition", q.Condition)
	case *api.Query:
		return describeRead("Query", &q.Read, "key condition", q.KeyCondition) + backward(q.Backward)
	case *api.Scan:
		s := describeRead("Scan", &q.Read)
		if q.Segments > 0 {
			s += fmt.Sprintf(" segment %d of %d", q.Segment, q.Segments)
		}
		return s
	case *api.BatchGetItem:
		var lines []string
		for _, t := range q.Tables {
			for _, k := range t.Keys {
				lines = append(lines, line("  get", t.Table, "key", k, "projection", t.Projection))
			}
		}
		return "BatchGetItem\n" + strings.Join(lines, "\n")
	case *api.BatchWriteItem:
		var lines []string
		for _, t := range q.Tables {
			for _, w := range t.Writes {
				if w.Key != nil {
					lines = append(lines, line("  delete", t.Table, "key", w.Key))
				} else {
					lines = append(lines, line("  put", t.Table, "item", w.Item))
				}
			}
		}
		return "BatchWriteItem\n" + strings.Join(lines, "\n")
	case *api.TransactGetItems:
		var lines []string
		for _, g := range q.Gets {
			lines = append(lines, line("  get", g.Table, "key", g.Key, "projection", g.Projection))
		}
		return "TransactGetItems\n" + strings.Join(lines, "\n")
	case *api.TransactWriteItems:
		var lines []string
		for _, a := range q.Actions {
			verb := [...]string{api.TransactCheck: "check", api.TransactPut: "put", api.TransactDelete: "delete", api.TransactUpdate: "update"}[a.Kind]
			lines = append(lines, line("  "+verb, a.Table, "key", a.Key, "item", a.Item, "update", a.Update, "condition", a.Condition))
		}
		return "TransactWriteItems\n" + strings.Join(lines, "\n")
	}
	return q.Operation()
}

func backward(b bool) string {
	if b {
		return " backward"
	}
	return ""
}

func describeRead(verb string, r *api.Read, more ...any) string {
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

// line is a verb, a table, and what of pairs of name and value is not empty.
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
