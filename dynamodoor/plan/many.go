// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
)

// In batches and transactions, the plan rewrites the parts on sharded tables and keeps the others.
// DynamoDB has the same limits for the physical request as for the logical one, and both have the
// same number of parts.

// physicalTables holds the sharded tables of a request by their physical names.
type physicalTables map[string]*Table

// add returns the sharded table with a name, or nil if the table is plain.
func (m physicalTables) add(tables Tables, name string) *Table {
	t := tables(name)
	if t != nil {
		m[t.Physical] = t
	}
	return t
}

// addOnce does what add does for a batch, which names each table once.
func (m physicalTables) addOnce(tables Tables, name string) (*Table, error) {
	t := tables(name)
	if t == nil {
		return nil, nil
	}
	if m[t.Physical] != nil {
		return nil, exception.Invalid("table %s is named twice, by its name and by its ARN; name it once", t.Logical.Name)
	}
	m[t.Physical] = t
	return t, nil
}

// visible converts the figures of tables into the client's.
func (m physicalTables) visible(capacity []api.ConsumedCapacity, metrics []api.TableMetrics) error {
	for i := range capacity {
		if t := m[capacity[i].Table]; t != nil {
			t.visibleCapacity(&capacity[i])
		}
	}
	for i := range metrics {
		t := m[metrics[i].Table]
		if t == nil {
			continue
		}
		metrics[i].Table = t.Logical.Name
		all := metrics[i].Collections
		for j := range all {
			key, err := t.logicalKey(all[j].Key)
			if err != nil {
				return err
			}
			all[j].Key = key
		}
		metrics[i].Collections = collections(all)
	}
	return nil
}

// collections merges item collections with the same logical key, because the shards of a key form
// one collection.
func collections(all []api.ItemCollectionMetrics) []api.ItemCollectionMetrics {
	out := all[:0]
	for _, m := range all {
		if i := slices.IndexFunc(out, func(o api.ItemCollectionMetrics) bool { return o.Key.Equal(m.Key) }); i >= 0 {
			out[i].Size += m.Size
		} else {
			out = append(out, m)
		}
	}
	return out
}

func unexpected(r api.Response) error {
	return exception.New(exception.InternalServerError, "an answer of type %T, which its request does not have", r)
}

// ErrRepeated is the error that AWS returns if a batch contains an item twice.
var ErrRepeated = exception.Invalid("Provided list of item keys contains duplicates")

func batchGet(q *api.BatchGetItem, tables Tables) (Plan, error) {
	sharded := physicalTables{}
	var toFind []sought
	p := *q
	p.Tables = slices.Clone(q.Tables)
	for i := range p.Tables {
		bt := &p.Tables[i]
		t, err := sharded.addOnce(tables, bt.Table)
		if err != nil {
			return nil, err
		}
		if t == nil {
			continue
		}
		if err := checkPaths(slices.Values(bt.Projection.Paths())); err != nil {
			return nil, err
		}
		bt.Table = t.Physical
		bt.Keys = make([]attribute.Item, len(q.Tables[i].Keys))
		for j, k := range q.Tables[i].Keys {
			key, err := t.Key(k)
			if err != nil {
				return nil, err
			}
			bt.Keys[j] = key
			if t.mustSearch() {
				toFind = append(toFind, sought{t, k})
			}
		}
	}
	switch {
	case len(sharded) == 0:
		return nil, nil
	case toFind != nil:
		return search(q, q.Capacity, tables, toFind...)
	}
	return &Direct{Request: &p, answer: func(r api.Response) error {
		out, ok := r.(*api.BatchGetResponse)
		if !ok {
			return unexpected(r)
		}
		for i := range out.Tables {
			t := sharded[out.Tables[i].Table]
			if t == nil {
				continue
			}
			out.Tables[i].Table = t.Logical.Name
			for j := range out.Tables[i].Items {
				out.Tables[i].Items[j] = t.show(out.Tables[i].Items[j])
			}
		}
		for i := range out.Unprocessed {
			u := &out.Unprocessed[i]
			t := sharded[u.Table]
			if t == nil {
				continue
			}
			u.Table = t.Logical.Name
			for j := range u.Keys {
				key, err := t.logicalKey(u.Keys[j])
				if err != nil {
					return err
				}
				u.Keys[j] = key
			}
		}
		return sharded.visible(out.Capacity, nil)
	}}, nil
}

func batchWrite(q *api.BatchWriteItem, tables Tables) (Plan, error) {
	sharded := physicalTables{}
	var toFind []sought
	var buckets []Bucket
	var filled []Filled
	p := *q
	p.Tables = slices.Clone(q.Tables)
	for i := range p.Tables {
		bt := &p.Tables[i]
		t, err := sharded.addOnce(tables, bt.Table)
		if err != nil {
			return nil, err
		}
		if t == nil {
			continue
		}
		bt.Table = t.Physical
		bt.Writes = make([]api.BatchWrite, len(q.Tables[i].Writes))
		for j, w := range q.Tables[i].Writes {
			var err error
			if w.Key != nil {
				if t.mustSearch() {
					toFind = append(toFind, sought{t, w.Key})
				}
				w.Key, err = t.Key(w.Key)
			} else {
				put := w.Item
				if w.Item, err = checkBatchPut(t, w.Item); err == nil {
					buckets, filled = append(buckets, t.BucketOf(put)...), append(filled, t.filledBy(put)...)
				}
			}
			if err != nil {
				return nil, t.firstError(q.Tables[i].Writes[:j], err)
			}
			bt.Writes[j] = w
		}
	}
	switch {
	case len(sharded) == 0:
		return nil, nil
	case toFind != nil:
		return search(q, q.Capacity, tables, toFind...)
	}
	return &Direct{Request: &p, Buckets: buckets, Filled: filled, answer: func(r api.Response) error {
		out, ok := r.(*api.BatchWriteResponse)
		if !ok {
			return unexpected(r)
		}
		for i := range out.Unprocessed {
			u := &out.Unprocessed[i]
			t := sharded[u.Table]
			if t == nil {
				continue
			}
			u.Table = t.Logical.Name
			for j := range u.Writes {
				w := &u.Writes[j]
				if w.Key == nil {
					w.Item = t.showItem(w.Item)
					continue
				}
				key, err := t.logicalKey(w.Key)
				if err != nil {
					return err
				}
				w.Key = key
			}
		}
		return sharded.visible(out.Capacity, out.Metrics)
	}}, nil
}

// firstError returns the error that the door reports for a batch. err is the error of one write on table t, and
// before has the writes on t before it. AWS checks the writes in their order. So if the writes in before name an
// item twice, AWS reports that instead of err.
func (t *Table) firstError(before []api.BatchWrite, err error) error {
	seen := map[string]bool{}
	for _, w := range before {
		at := w.Key
		if at == nil {
			at = w.Item
		}
		key := string(t.KeyOf(at).Encode())
		if seen[key] {
			return ErrRepeated
		}
		seen[key] = true
	}
	return err
}

// checkBatchPut checks an item as checkPut does, but with the message that AWS uses in batches.
func checkBatchPut(t *Table, item attribute.Item) (attribute.Item, error) {
	if err := t.Logical.CheckKey(item.Only(t.Logical.Key.Names(nil)...)); err != nil {
		return nil, err
	}
	return t.checkPut(item, nil)
}

// cancelledFor returns the error for part i of a transaction with n parts. AWS reports the first
// wrong part as the reason of the cancellation, except for errors that concern the whole request.
func cancelledFor(i, n int, err error) error {
	if expression.IsEmptyKey(err) {
		return err
	}
	reasons := make([]exception.CancellationReason, n)
	for k := range reasons {
		reasons[k].Code = "None"
	}
	reasons[i] = exception.CancellationReason{Code: "ValidationError", Message: exception.Of(err).Message}
	return exception.Canceled(reasons)
}

func transactGet(q *api.TransactGetItems, tables Tables) (Plan, error) {
	sharded := physicalTables{}
	var toFind []sought
	p := *q
	p.Gets = slices.Clone(q.Gets)
	for i := range p.Gets {
		g := &p.Gets[i]
		t := sharded.add(tables, g.Table)
		if t == nil {
			continue
		}
		if err := checkPaths(slices.Values(g.Projection.Paths())); err != nil {
			return nil, err
		}
		key, err := t.Key(g.Key)
		if err != nil {
			return nil, cancelledFor(i, len(p.Gets), err)
		}
		if t.mustSearch() {
			toFind = append(toFind, sought{t, g.Key})
		}
		g.Table, g.Key = t.Physical, key
	}
	if len(sharded) == 0 {
		return nil, nil
	}
	if toFind != nil {
		return search(q, q.Capacity, tables, toFind...)
	}
	return &Direct{Request: &p, answer: func(r api.Response) error {
		out, ok := r.(*api.TransactGetResponse)
		if !ok {
			return unexpected(r)
		}
		for i := range out.Items {
			if t := sharded[p.Gets[i].Table]; t != nil {
				out.Items[i] = t.show(out.Items[i])
			}
		}
		return sharded.visible(out.Capacity, nil)
	}}, nil
}

func transactWrite(q *api.TransactWriteItems, tables Tables) (Plan, error) {
	sharded := physicalTables{}
	var buckets []Bucket
	var filled []Filled
	p := *q
	p.Actions = slices.Clone(q.Actions)
	for i := range p.Actions {
		a := &p.Actions[i]
		t := sharded.add(tables, a.Table)
		if t == nil {
			continue
		}
		var err error
		if t.drawn() && (a.Kind != api.TransactPut || a.Condition != nil) {
			return nil, drawnTransaction(t)
		}
		a.Table = t.Physical
		switch a.Kind {
		case api.TransactPut:
			put := a.Item
			if a.Item, err = t.checkPut(a.Item, a.Condition); err == nil {
				buckets, filled = append(buckets, t.BucketOf(put)...), append(filled, t.filledBy(put)...)
			}
		case api.TransactUpdate:
			key := a.Key
			if a.Key, a.Update, err = t.checkUpdate(a.Key, a.Update, a.Condition); err == nil {
				buckets, filled = append(buckets, t.BucketOf(key)...), append(filled, t.filledBy(key)...)
			}
		default:
			if err = t.checkCondition(a.Condition); err == nil {
				a.Key, err = t.Key(a.Key)
			}
		}
		if err != nil {
			return nil, cancelledFor(i, len(p.Actions), err)
		}
	}
	if len(sharded) == 0 {
		return nil, nil
	}
	d := &Direct{Request: &p, Buckets: buckets, Filled: filled, of: func(i int) *Table { return sharded[p.Actions[i].Table] }}
	d.answer = func(r api.Response) error {
		out, ok := r.(*api.TransactWriteResponse)
		if !ok {
			return unexpected(r)
		}
		return sharded.visible(out.Capacity, out.Metrics)
	}
	return d, nil
}
