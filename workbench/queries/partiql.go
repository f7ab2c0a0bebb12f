// SPDX-License-Identifier: Apache-2.0

package queries

import (
	"errors"
	"regexp"
	"slices"
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/partiql"
)

// limitBehind matches a LIMIT after a PartiQL statement. In a request, the limit is a parameter,
// but the text may have it as it may after an expression.
var limitBehind = regexp.MustCompile(`(?i)\sLIMIT\s+([0-9]+|\?)\s*$`)

// parsePartiQL reads one statement of DynamoDB's PartiQL.
func parsePartiQL(text string) (Query, *SyntaxError) {
	limit := int64(0)
	if m := limitBehind.FindStringSubmatchIndex(text); m != nil {
		limit, _ = strconv.ParseInt(text[m[2]:m[3]], 10, 32) // 0 for a marker; MaxInt32 for a larger number
		text = text[:m[0]]
	}
	o, err := partiql.Outlined(text)
	if err != nil {
		bad := &SyntaxError{Reason: err.Error(), Hint: statementHint}
		var placed *partiql.Malformed
		if errors.As(err, &placed) {
			bad.offset = placed.Offset
		}
		return Query{}, bad
	}
	q := Query{Table: o.Table, Index: o.Index, Columns: o.Names, Limit: limit}
	switch o.Kind {
	case partiql.Insert:
		q.Verb = Insert
		return q, nil
	case partiql.Update:
		q.Verb = Update
	case partiql.Delete:
		q.Verb, q.Columns = Delete, nil
	}
	for _, b := range o.Bounds {
		// No part of a key can be set: a comparison with a set attribute is a condition of the
		// write.
		if q.Verb == Update && slices.Contains(o.Names, b.Name) {
			q.Conditional = true
			q.Filter = append(q.Filter, Bound{Column: b.Name, Values: 1})
			continue
		}
		switch {
		case b.Equal > 0:
			q.Equal = append(q.Equal, Bound{Column: b.Name, Values: b.Equal, Text: b.Text})
		default:
			q.bound(Range{Column: b.Name, Below: b.High, Above: b.Low, From: b.LowText, To: b.HighText, Prefix: b.Prefix})
		}
	}
	for _, name := range o.Others {
		if !slices.ContainsFunc(q.Filter, func(f Bound) bool { return f.Column == name }) {
			q.Filter = append(q.Filter, Bound{Column: name, Values: 1})
		}
		q.Conditional = q.Conditional || q.Writes()
	}
	for _, t := range o.Order {
		q.Order = append(q.Order, Order{Column: t.Name, Desc: t.Desc})
	}
	return q, nil
}
