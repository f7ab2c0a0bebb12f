// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// describePartitions returns the partitions of a table or a global index.
func (df *definer) describePartitions(q *api.DescribePartitions) (api.Response, error) {
	t, err := df.tables.named(q.Table)
	if err != nil {
		return nil, err
	}
	sh := t.shape.Load()
	var ix *index
	if q.Index != "" {
		if ix = sh.index(q.Index); ix == nil {
			return nil, exception.New(exception.ResourceNotFound, "Requested resource not found: index %s of table %s not found", q.Index, sh.Table.Name)
		}
		if ix.local {
			return nil, exception.Invalid("index %s of table %s is a local one, whose entries are in the table's partitions; ask for those of the table", q.Index, sh.Table.Name)
		}
	}
	model := sh.modelOf(ix)
	if model == nil {
		return nil, exception.Invalid("this engine keeps no limits, and so has no partitions; start it with: evenkeel serve --capacity dynamodb")
	}
	limits := df.meter.limits.WithDefaults()
	r := &api.PartitionsResponse{
		TableName: sh.Table.Name, IndexName: q.Index, BillingMode: string(schema.Provisioned),
		PartitionReadUnits: limits.Partition.Read, PartitionWriteUnits: limits.Partition.Write, SplitAfterSeconds: limits.SplitAfter.Seconds(),
	}
	if sh.Table.Billing == schema.PayPerRequest {
		r.BillingMode = string(schema.PayPerRequest)
	}
	if limits.SplitAfter < 0 {
		r.SplitAfterSeconds = -1
	}
	for i, p := range model.Map(df.clock()) {
		out, err := df.describePartition(sh, ix, &p)
		if err != nil {
			return nil, fmt.Errorf("partitions of table %s: %w", sh.Table.Name, err)
		}
		out.Number = i + 1
		r.Partitions = append(r.Partitions, *out)
	}
	return r, nil
}

func (df *definer) describePartition(sh *shape, ix *index, p *throughput.Partition) (*api.Partition, error) {
	out := &api.Partition{
		From: sh.edge(ix, p.From), Share: p.Share, Bytes: p.Bytes, Since: p.Born.UTC().Truncate(time.Millisecond),
		Read: partitionUse(p.Read), Write: partitionUse(p.Write), Keys: []api.PartitionKeyUse{},
	}
	seen := map[string]bool{}
	add := func(collection []byte, units float64, throttled int64) {
		key := sh.collectionKey(ix, collection)
		if key == nil || seen[string(collection)] {
			return
		}
		seen[string(collection)] = true
		out.Keys = append(out.Keys, api.PartitionKeyUse{Key: key, Units: units, Throttled: throttled})
	}
	for _, k := range p.Keys {
		add(k.Key, k.Units, k.Refused)
	}
	there, more, err := df.collectionsBetween(sh, ix, p.From, p.To)
	if err != nil {
		return nil, err
	}
	out.KeyCount, out.AtLeast = len(there), more
	if len(there) <= throughput.ListedKeys {
		for _, c := range there {
			add(c, 0, 0)
		}
	}
	return out, nil
}

func partitionUse(u throughput.Usage) api.PartitionUse {
	return api.PartitionUse{Units: u.Units, Throttled: u.Refused, UnitsTotal: u.UnitsTotal, ThrottledTotal: u.RefusedTotal, ThrottledOwnTotal: u.RefusedOwnTotal}
}

// collectionsBetween returns the beginnings of positions, one for each partition key in a range,
// and whether there are more.
func (df *definer) collectionsBetween(sh *shape, ix *index, from, to []byte) (all [][]byte, more bool, err error) {
	id := uint16(indexItems)
	if ix != nil {
		id = ix.id
	}
	prefix := sh.prefix(nil, id)
	lower, upper := append(bytes.Clone(prefix), from...), appendAfter(nil, prefix)
	if to != nil {
		upper = append(bytes.Clone(prefix), to...)
	}
	it, err := df.space.Pebble.NewIter(bounded(lower, upper))
	if err != nil {
		return nil, false, err
	}
	for ok := it.First(); ok; {
		if len(all) == throughput.CountedKeys {
			more = true
			break
		}
		k := sh.place(ix, it.Key())
		all = append(all, bytes.Clone(k.Position[:k.Collection]))
		ok = it.SeekGE(appendAfter(nil, it.Key()[:prefixLen+k.Collection]))
	}
	return all, more, errors.Join(it.Error(), it.Close())
}

// keyNames returns the attributes whose values are in positions, in their order. hash is the number
// of those that belong to the partition key.
func (sh *shape) keyNames(ix *index) (names []string, hash int) {
	k := sh.Table.Key
	if ix != nil {
		k = ix.Key
	}
	return k.Names(nil), len(k.Hash)
}

// cutKeys reads up to n key attributes of a position. The position may have fewer.
func (sh *shape) cutKeys(ix *index, position []byte, n int) attribute.Item {
	names, _ := sh.keyNames(ix)
	var key []attribute.Attribute
	rest := position[min(hashLen, len(position)):]
	for _, name := range names[:n] {
		v, after, err := attribute.CutKey(rest, sh.Table.Type(name))
		if err != nil {
			break
		}
		key = append(key, attribute.Attribute{Name: name, Value: v})
		rest = after
	}
	return attribute.NewItem(key...)
}

// collectionKey returns a partition key as DynamoDB JSON, from the beginning of its positions.
func (sh *shape) collectionKey(ix *index, collection []byte) json.RawMessage {
	_, hash := sh.keyNames(ix)
	key := sh.cutKeys(ix, collection, hash)
	if len(key) < hash {
		return nil
	}
	return json.RawMessage(attribute.AppendItem(nil, key))
}

// edge returns the beginning of a partition; nil: the partition is the first one.
func (sh *shape) edge(ix *index, from []byte) *api.PartitionEdge {
	if from == nil {
		return nil
	}
	e := &api.PartitionEdge{Hash: hex.EncodeToString(from[:min(hashLen, len(from))])}
	names, _ := sh.keyNames(ix)
	if key := sh.cutKeys(ix, from, len(names)); len(key) > 0 {
		e.Key = json.RawMessage(attribute.AppendItem(nil, key))
	}
	return e
}
