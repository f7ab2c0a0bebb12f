// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/workbench/live"
)

// cqlPartitions converts the partitions of a CQL table to the form of DynamoDB's. It returns nil
// if the store does not report partitions. Through a door, t is a logical table, and the physical
// keys have the shard as one more value.
func cqlPartitions(t *schema.Table, partitions []live.Partition) *api.PartitionsResponse {
	if len(partitions) == 0 {
		return nil
	}
	first := &partitions[0]
	r := &api.PartitionsResponse{
		TableName: live.Address{Keyspace: t.Keyspace, Table: t.Name}.Name(), BillingMode: first.Mode,
		PartitionReadUnits: first.MaxRead, PartitionWriteUnits: first.MaxWrite, SplitAfterSeconds: first.SplitAfter.Seconds(),
	}
	for i := range partitions {
		p := &partitions[i]
		out := api.Partition{
			Number: p.Number, Share: p.Share, Bytes: p.Bytes, Since: p.Since, Read: usedOf(p.Read), Write: usedOf(p.Write),
			Keys: []api.PartitionKeyUse{}, KeyCount: p.KeyCount, AtLeast: p.More,
		}
		if p.From != nil {
			out.From = &api.PartitionEdge{Hash: fmt.Sprintf("%08x", uint32((uint64(*p.From)^1<<63)>>32)), Token: strconv.FormatInt(*p.From, 10)}
			if p.FromKey != nil {
				out.From.Key, out.From.Shard = cqlKey(t, p.FromKey, p.FromClustering)
				r.Sharded = r.Sharded || out.From.Shard > 0
			}
		}
		for _, k := range p.Keys {
			key, shard := cqlKey(t, k.Values, nil)
			r.Sharded = r.Sharded || shard > 0
			out.Keys = append(out.Keys, api.PartitionKeyUse{Key: key, Shard: shard, Units: k.Units, Throttled: k.Throttled})
		}
		r.Partitions = append(r.Partitions, out)
	}
	return r
}

func usedOf(u live.PartitionUse) api.PartitionUse {
	return api.PartitionUse{Units: u.Units, Throttled: u.Throttled, UnitsTotal: u.UnitsTotal, ThrottledTotal: u.ThrottledTotal, ThrottledOwnTotal: u.ThrottledOwnTotal}
}

// cqlKey returns a key, with as much of a row's clustering as is known, as DynamoDB JSON in the
// order of the columns. It also returns the shard, or 0 if the table has none.
func cqlKey(t *schema.Table, key, clustering []string) (text json.RawMessage, shard int) {
	if n := len(t.PartitionKey); len(key) == n+1 {
		if s, err := strconv.Atoi(key[n]); err == nil {
			key, shard = key[:n], s
		}
	}
	var b strings.Builder
	b.WriteByte('{')
	member := func(c *schema.Column, v string) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		kind := "S"
		switch c.Type.Kind {
		case value.Int, value.Bigint, value.Smallint, value.Tinyint, value.Varint:
			kind = "N"
		case value.Blob:
			if raw, err := hex.DecodeString(strings.TrimPrefix(v, "0x")); err == nil {
				kind, v = "B", base64.StdEncoding.EncodeToString(raw)
			}
		}
		name, _ := json.Marshal(c.Name) // a string always marshals
		quoted, _ := json.Marshal(v)
		fmt.Fprintf(&b, `%s:{"%s":%s}`, name, kind, quoted)
	}
	for i, v := range key[:min(len(key), len(t.PartitionKey))] {
		member(t.PartitionKey[i], v)
	}
	for i, v := range clustering[:min(len(clustering), len(t.Clustering))] {
		member(t.Clustering[i], v)
	}
	b.WriteByte('}')
	return json.RawMessage(b.String()), shard
}
