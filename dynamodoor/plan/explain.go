// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// Explained is a plan in the form that is shown to the user.
type Explained struct {
	Table    string             `json:"table,omitempty"` // empty: no write-sharded table is named
	Layout   string             `json:"layout,omitempty"`
	Rule     string             `json:"rule,omitempty"`    // the shard rule that declared the layout
	Becomes  []string           `json:"becomes,omitempty"` // the requests that a statement becomes
	Access   string             `json:"access"`            // how the door reads or writes the shards
	Order    string             `json:"order,omitempty"`   // the attribute that items are merged by
	Shards   []int              `json:"shards,omitempty"`  // shards that the request can visit
	Buckets  []string           `json:"buckets,omitempty"` // under strategy time: when the visited buckets begin
	Requests []ExplainedRequest `json:"requests"`          // the physical ones
	Then     []string           `json:"then,omitempty"`    // what the door does with their answers
	More     bool               `json:"more,omitempty"`    // there are more shards than are shown
}

// ExplainedRequest is a physical request.
type ExplainedRequest struct {
	Operation string          `json:"operation"`
	Request   json.RawMessage `json:"request"`
	Text      string          `json:"text"`
}

// mostExplained is the largest number of shards in an explanation.
const mostExplained = 1000

// Explain describes the plan of a request. list has the buckets of the logical partition that a
// Fanout in parts reads.
func Explain(p Plan, q api.ItemRequest, tables Tables, list timebucket.Directory) (*Explained, error) {
	out := &Explained{Access: "plain table"}
	var t *Table
	q.EachTable(func(name string) {
		if t == nil {
			t = tables(name)
		}
	})
	if t == nil || p == nil {
		out.add(q)
		return out, nil
	}
	if t.IsPlain() {
		out.Table = t.Logical.Name
		out.add(q)
		return out, nil
	}
	out.Table, out.Layout = t.Logical.Name, t.layoutText()
	switch p := p.(type) {
	case *Search:
		out.Access = "looks for the item in all shards"
		for get := range p.Gets() {
			out.add(get)
		}
		out.Then = []string{"where the item is: " + q.Describe()}
	case *Fanout:
		return out, p.explain(out, list)
	case *Direct:
		p.explain(out, t, q)
	}
	return out, nil
}

// Include adds the plan of a request that a statement becomes, beside others of the same table.
func (out *Explained) Include(q api.ItemRequest, p *Explained) {
	all, more := append(out.Becomes, q.Describe()), out.More || p.More
	if len(all) == 1 {
		*out = *p
		out.Becomes = all
		return
	}
	out.Becomes, out.More = all, more
	for _, n := range p.Shards {
		out.addShard(n)
	}
	for _, b := range p.Buckets {
		if !slices.Contains(out.Buckets, b) {
			out.Buckets = append(out.Buckets, b)
		}
	}
	if out.Requests = append(out.Requests, p.Requests...); len(out.Requests) > mostExplained {
		out.Requests, out.More = out.Requests[:mostExplained], true
	}
}

// Forwarded is the plan of a statement on a plain table that the door forwards as it is.
func Forwarded(q *api.ExecuteStatement) *Explained {
	return &Explained{Access: "plain table", Requests: []ExplainedRequest{{q.Operation(), q.AppendJSON(nil), q.Text}}}
}

func (out *Explained) add(q api.Request) {
	text := q.Operation()
	if q, ok := q.(api.ItemRequest); ok {
		text = q.Describe()
	}
	out.Requests = append(out.Requests, ExplainedRequest{q.Operation(), q.AppendJSON(nil), text})
}

// addShard notes a shard. It reports false if the explanation has no room for another one.
func (out *Explained) addShard(n int) bool {
	switch {
	case slices.Contains(out.Shards, n):
	case len(out.Shards) == mostExplained:
		out.More = true
		return false
	default:
		out.Shards = append(out.Shards, n)
	}
	return true
}

// visit notes shards and their buckets.
func (out *Explained) visit(t *Table, shards ...int) {
	for _, n := range shards {
		if !out.addShard(n) {
			return
		}
		if t.timing == nil {
			continue
		}
		if at := t.timing.startText(t.timing.bucketAt(n)); !slices.Contains(out.Buckets, at) {
			out.Buckets = append(out.Buckets, at)
		}
	}
}

// startText returns the beginning of a bucket.
func (t *timing) startText(bucket int64) string {
	return timebucket.TextOf(t.grid.Start(bucket), timebucket.DateTime) + "Z"
}

func (d *Direct) explain(out *Explained, t *Table, q api.ItemRequest) {
	out.Access = "one shard"
	hidden := func(keys ...attribute.Item) {
		for _, key := range keys {
			if v, ok := key.Get(t.keyName()); ok && t.Layout != nil {
				if _, n, err := t.cut(v); err == nil {
					out.visit(t, n)
				}
			}
		}
	}
	switch r := d.Request.(type) {
	case *api.GetItem:
		hidden(r.Key)
	case *api.PutItem:
		hidden(r.Item)
	case *api.UpdateItem:
		hidden(r.Key)
	case *api.DeleteItem:
		hidden(r.Key)
	case *api.Query:
		if v, ok := r.KeyCondition.EqualTo(t.keyName()); ok && r.Index == "" {
			hidden(attribute.NewItem(attribute.Attribute{Name: t.keyName(), Value: v}))
		}
	case *api.Scan:
		out.Access = "scan"
	default:
		out.Access = "each item in its shard"
	}
	if q, ok := q.(*api.Query); ok && q.Index != "" {
		out.Access = "an index that is not sharded"
	}
	out.add(d.Request)
}
