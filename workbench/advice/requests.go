// SPDX-License-Identifier: Apache-2.0

package advice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/workbench/capacity"
	"github.com/evenkeel/evenkeel/workbench/profile"
	"github.com/evenkeel/evenkeel/workbench/queries"
)

// request is a DynamoDB request. Its fields are in the order in which they are written.
type request struct {
	TableName                 string                       `json:"TableName"`
	IndexName                 string                       `json:"IndexName,omitempty"`
	Key                       map[string]map[string]string `json:"Key,omitempty"`
	Item                      map[string]map[string]string `json:"Item,omitempty"`
	KeyConditionExpression    string                       `json:"KeyConditionExpression,omitempty"`
	FilterExpression          string                       `json:"FilterExpression,omitempty"`
	UpdateExpression          string                       `json:"UpdateExpression,omitempty"`
	ExpressionAttributeNames  map[string]string            `json:"ExpressionAttributeNames,omitempty"`
	ExpressionAttributeValues map[string]map[string]string `json:"ExpressionAttributeValues,omitempty"`
	ScanIndexForward          *bool                        `json:"ScanIndexForward,omitempty"`
	Limit                     int64                        `json:"Limit,omitempty"`
}

// name returns a placeholder for an attribute's name.
func (r *request) name(attribute string) string {
	if r.ExpressionAttributeNames == nil {
		r.ExpressionAttributeNames = make(map[string]string)
	}
	for n := 0; ; n++ {
		p := fmt.Sprintf("#a%d", n)
		if have, taken := r.ExpressionAttributeNames[p]; !taken || have == attribute {
			r.ExpressionAttributeNames[p] = attribute
			return p
		}
	}
}

// value returns a placeholder for a value.
func (r *request) value(typ, text string) string {
	if r.ExpressionAttributeValues == nil {
		r.ExpressionAttributeValues = make(map[string]map[string]string)
	}
	p := fmt.Sprintf(":v%d", len(r.ExpressionAttributeValues))
	r.ExpressionAttributeValues[p] = map[string]string{typ: text}
	return p
}

// keyed is an attribute of a key: columns that are joined by #.
type keyed struct {
	name, typ string
	columns   []string
}

func (k *keyed) value() string {
	var out []string
	for _, c := range k.columns {
		out = append(out, "<"+c+">")
	}
	return strings.Join(out, "#")
}

// dynamoWriter writes DynamoDB requests.
type dynamoWriter struct{ *serving }

// write writes a verdict's table, and the queries as requests, in their order.
func (s dynamoWriter) write(d *Design, v *Verdict) {
	v.CreateTable = s.createTable(d, v)
	v.DDL, v.Statements = []string{string(v.CreateTable)}, []Statement{}
	for i := range s.qs {
		v.Statements = append(v.Statements, s.request(d, v, &s.qs[i]))
	}
}

// keysOf returns a design's partition key and sort key. The sort key has no columns if there is
// none.
func (s dynamoWriter) keysOf(d *Design) (hash, sort keyed) {
	hash.columns = s.partNames(d)
	hash.name, hash.typ = s.attribute(hash.columns, len(d.Partition) == 1 && d.bucket() == nil, d)
	sort.columns = d.clusteringNames()
	if len(sort.columns) > 0 {
		sort.name, sort.typ = s.attribute(sort.columns, len(sort.columns) == 1, d)
	}
	return hash, sort
}

// request writes a query as a DynamoDB operation.
func (s dynamoWriter) request(d *Design, v *Verdict, q *queries.Query) Statement {
	r := &request{TableName: s.dynamoTable()}
	in, index := d, false
	if !q.Writes() {
		for i := range v.Extras {
			if e := &v.Extras[i]; slices.Contains(e.Lines, q.Line) && s.serve(e.design, q).Kind < s.serve(in, q).Kind {
				in, index = e.design, true
				r.IndexName = s.indexName(e)
			}
		}
	}
	hash, sort := s.keysOf(in)
	operation, notes := "", []string{}
	switch {
	case q.Verb == queries.Insert:
		operation = "PutItem"
		r.Item = make(map[string]map[string]string)
		names := q.Columns
		if len(names) == 0 {
			names = s.columnNames()
		}
		put := func(k keyed) { r.Item[k.name] = map[string]string{k.typ: k.value()} }
		for _, c := range names {
			_, typ := s.attribute([]string{c}, true, d)
			put(keyed{c, typ, []string{c}})
		}
		put(hash)
		if len(sort.columns) > 0 {
			put(sort)
		}
		if q.TTL > 0 {
			notes = append(notes, fmt.Sprintf("with a number attribute for the second, since 1970, at which it expires, %s after the write, and UpdateTimeToLive once for that attribute", capacity.Duration(float64(q.TTL))))
		}
		for i := range v.Extras {
			h, k := s.keysOf(v.Extras[i].design)
			put(h)
			if len(k.columns) > 0 {
				put(k)
				notes = append(notes, s.paddedNotes(&k)...)
			}
			for _, c := range s.nullsIn(v.Extras[i].design) { // DynamoDB refuses an empty text in the key of an index
				notes = append(notes, fmt.Sprintf("leave %s out of an item that has no value in it", c))
			}
		}
	case in.namedWhole(q) && !index:
		operation = map[queries.Verb]string{queries.Read: "GetItem", queries.Update: "UpdateItem", queries.Delete: "DeleteItem"}[q.Verb]
		s.oneItem(r, q, hash, sort)
	case q.Writes():
		operation = map[queries.Verb]string{queries.Update: "UpdateItem", queries.Delete: "DeleteItem"}[q.Verb]
		notes = append(notes, "read the keys of the items first")
		s.oneItem(r, q, hash, sort)
	case s.serve(in, q).Kind == FullScan:
		operation = "Scan"
		notes = append(notes, wholeTable)
		switch {
		case len(q.Order) > 0:
			notes = append(notes, sorts(q))
		case q.Limit > 0:
			notes = append(notes, enough(q))
		}
		r.FilterExpression = strings.Join(s.conditions(r, q, nil), " AND ")
	default:
		operation = "Query"
		notes = s.keyCondition(r, in, q, hash, sort)
	}
	notes = append(notes, s.paddedNotes(&sort)...)
	notes = append(notes, s.storedNotes(in, q)...)
	if s.twice(q) {
		notes = append(notes, fmt.Sprintf("in one TransactWriteItems with the other requests of line %d, which takes twice the write units", q.Line))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		panic(fmt.Sprintf("advice: %s: %v", operation, err)) // strings and numbers always encode
	}
	return Statement{Line: q.Line, Text: operation + " " + strings.TrimSpace(b.String()), Binds: []string{}, Note: strings.Join(notes, "; ")}
}

// paddedNotes says how to write the integers of a sort key that joins columns. It is a text: without zeros
// before them, 64 comes behind 1216 there.
func (s dynamoWriter) paddedNotes(sort *keyed) (notes []string) {
	if len(sort.columns) < 2 {
		return nil
	}
	for _, name := range sort.columns {
		c := s.p.Column(name)
		if c == nil || c.Stored {
			continue
		}
		digits := map[value.Kind]int{value.Int: 10, value.Bigint: 19, value.Varint: 19}[c.Type.Kind]
		switch {
		case isFloat(c) && s.sortedBy(name):
			notes = append(notes, fmt.Sprintf("in %s write %s as a whole number of its smallest steps, with zeros before, so that all have one length, and add so much that none is negative: texts sort by their characters", sort.name, name))
		case digits == 0 || !s.sortedBy(name) || len(c.Min) == len(c.Max) && !strings.HasPrefix(c.Min, "-"):
		case strings.HasPrefix(c.Min, "-"):
			notes = append(notes, fmt.Sprintf("in %s add %s to %s, so that none is negative, and write it with %d digits, zeros before: texts sort by their characters", sort.name, "1"+strings.Repeat("0", digits-1), name, digits))
		default:
			notes = append(notes, fmt.Sprintf("in %s write %s with %d digits, zeros before: texts sort by their characters", sort.name, name, digits))
		}
	}
	return notes
}

// sortedBy reports whether a query takes a range of a column of the sort key, or orders rows by it.
func (s *facts) sortedBy(column string) bool {
	in := inOrderOf(s.qs)
	return slices.Contains(in, column) || slices.Contains(in, "") // an order that names no column is that of the sort key
}

// oneItem names an item by its whole key.
func (s dynamoWriter) oneItem(r *request, q *queries.Query, hash, sort keyed) {
	r.Key = map[string]map[string]string{hash.name: {hash.typ: hash.value()}}
	if len(sort.columns) > 0 {
		r.Key[sort.name] = map[string]string{sort.typ: sort.value()}
	}
	if q.Verb != queries.Update {
		return
	}
	var set []string
	for _, c := range q.Columns {
		_, typ := s.attribute([]string{c}, true, nil)
		set = append(set, r.name(c)+" = "+r.value(typ, "<"+c+">"))
	}
	r.UpdateExpression = "SET " + strings.Join(set, ", ")
}

// keyCondition sets the key condition of a Query on a table or an index. A filter takes the other
// restrictions.
func (s dynamoWriter) keyCondition(r *request, d *Design, q *queries.Query, hash, sort keyed) (notes []string) {
	r.KeyConditionExpression = r.name(hash.name) + " = " + r.value(hash.typ, hash.value())
	used := slices.Clone(hash.columns)
	if b := d.bucket(); b != nil {
		notes = append(notes, fmt.Sprintf("once for each %s", b.Bucket))
	}
	for _, p := range d.Partition {
		if p.Bucket == profile.Whole && (q.Bound(p.Column) == nil || q.Bound(p.Column).Values != 1) {
			notes = append(notes, fmt.Sprintf("once for each %s", p.Column))
		}
	}
	bound := 0
	for bound < len(sort.columns) && q.Bound(sort.columns[bound]) != nil {
		bound++
	}
	prefix := keyed{columns: sort.columns[:bound]}
	begin := prefix.value()
	if bound > 0 && bound < len(sort.columns) {
		begin += "#"
	}
	used = append(used, sort.columns[:bound]...)
	var ranged *queries.Range
	if bound < len(sort.columns) {
		if ranged = q.Range(sort.columns[bound]); ranged != nil {
			used = append(used, sort.columns[bound])
		}
	}
	switch {
	case len(sort.columns) == 0:
	case bound == len(sort.columns):
		r.KeyConditionExpression += " AND " + r.name(sort.name) + " = " + r.value(sort.typ, begin)
	case ranged != nil && ranged.Prefix:
		r.KeyConditionExpression += " AND begins_with(" + r.name(sort.name) + ", " + r.value(sort.typ, begin+"<"+ranged.Column+">") + ")"
	case ranged != nil:
		column, after := "<"+ranged.Column+">", ""
		if bound+1 < len(sort.columns) {
			after = "#~" // behind everything that begins with the value
		}
		switch {
		case ranged.Above && ranged.Below:
			r.KeyConditionExpression += " AND " + r.name(sort.name) + " BETWEEN " + r.value(sort.typ, begin+column) + " AND " + r.value(sort.typ, begin+column+after)
		case ranged.Above:
			r.KeyConditionExpression += " AND " + r.name(sort.name) + " >= " + r.value(sort.typ, begin+column)
		default:
			r.KeyConditionExpression += " AND " + r.name(sort.name) + " <= " + r.value(sort.typ, begin+column+after)
		}
	case bound > 0:
		r.KeyConditionExpression += " AND begins_with(" + r.name(sort.name) + ", " + r.value(sort.typ, begin) + ")"
	}
	r.FilterExpression = strings.Join(s.conditions(r, q, used), " AND ")
	behind := slices.ContainsFunc(q.Equal, func(e queries.Bound) bool { return !slices.Contains(used, e.Column) }) ||
		slices.ContainsFunc(q.Ranges, func(x queries.Range) bool { return !slices.Contains(used, x.Column) })
	switch ordered := s.ordered(d, q, boundPrefix(d, q)) == ""; {
	case !ordered:
		notes = append(notes, sorts(q))
	case behind && q.Limit > 0:
		notes = append(notes, enough(q))
	default:
		r.Limit = q.Limit
	}
	if slices.ContainsFunc(q.Order, func(o queries.Order) bool { return o.Desc }) {
		no := false
		r.ScanIndexForward = &no
	}
	return notes
}

// enough says how an application takes the first rows of a query that DynamoDB filters.
func enough(q *queries.Query) string {
	return fmt.Sprintf("page by page, until there is enough: %s; DynamoDB's Limit counts items before it filters them", countOf(float64(q.Limit), "item"))
}

// conditions returns a query's restrictions on columns that are not in used.
func (s dynamoWriter) conditions(r *request, q *queries.Query, used []string) (out []string) {
	add := func(column, op string) {
		_, typ := s.attribute([]string{column}, true, nil)
		out = append(out, r.name(column)+" "+op+" "+r.value(typ, "<"+column+">"))
	}
	for _, e := range append(slices.Clone(q.Equal), q.Filter...) {
		if !slices.Contains(used, e.Column) {
			add(e.Column, "=")
		}
	}
	for _, x := range q.Ranges {
		if slices.Contains(used, x.Column) {
			continue
		}
		if x.Prefix {
			_, typ := s.attribute([]string{x.Column}, true, nil)
			out = append(out, "begins_with("+r.name(x.Column)+", "+r.value(typ, "<"+x.Column+">")+")")
			continue
		}
		if x.Above {
			add(x.Column, ">=")
		}
		if x.Below {
			add(x.Column, "<=")
		}
	}
	return out
}

// dynamoTable returns the table's name, with three characters or more.
func (s dynamoWriter) dynamoTable() string {
	table := s.nameInStore()
	if len(table) < 3 { // AWS requires three characters
		table += "_table"
	}
	return table
}

// indexName returns the name of an index.
func (s dynamoWriter) indexName(e *Extra) string {
	return shortened("by_"+plainName(strings.Join(e.named(s.partNames(e.design)), "_")), longestDynamoDBName)
}
