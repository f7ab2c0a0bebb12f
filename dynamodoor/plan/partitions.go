// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
)

// Partitions converts a physical table's partitions, or those of an index, into the client's form:
// logical keys with their shards.
func (s *stored) Partitions(r *api.PartitionsResponse) error {
	r.TableName = s.name
	r.Sharded = s.Layout != nil && !s.IsPlain() && r.IndexName == "" || s.indexes.sharded(r.IndexName) != nil
	for i := range r.Partitions {
		p := &r.Partitions[i]
		for j := range p.Keys {
			var err error
			if p.Keys[j].Key, p.Keys[j].Shard, err = s.unshard(p.Keys[j].Key); err != nil {
				return err
			}
		}
		if p.From != nil && p.From.Key != nil {
			edge := *p.From
			var err error
			if edge.Key, edge.Shard, err = s.unshard(edge.Key); err != nil {
				return err
			}
			p.From = &edge
		}
	}
	return nil
}

// unshard returns the logical form of a physical key of the table or of an index, as far as
// possible, and its shard. The shard is 0 if the key names none.
func (s *stored) unshard(physical json.RawMessage) (json.RawMessage, int, error) {
	item, err := new(attribute.Decoder).Item(attribute.Encoded(physical))
	if err != nil {
		return nil, 0, err
	}
	shard := 0
	for _, a := range item {
		if strings.HasPrefix(a.Name, indexPrefix) {
			shard, _ = strconv.Atoi(a.Value.Text())
		}
	}
	key := visibleItem(item)
	if v, ok := item.Get(s.keyName()); ok && s.Layout != nil {
		var hash attribute.Value
		if hash, shard, err = s.cut(v); err != nil {
			return nil, 0, err
		}
		key = key.With(s.hash.Name, hash)
	}
	return json.RawMessage(attribute.AppendItem(nil, key)), shard, nil
}
