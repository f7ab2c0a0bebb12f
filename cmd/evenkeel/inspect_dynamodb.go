// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/cql/schema"
	"github.com/evenkeel/evenkeel/cql/value"
	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/workbench/inspection"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
	"github.com/evenkeel/evenkeel/workbench/prices"
)

// checkDynamoDB returns an error if a flag does not apply to DynamoDB tables.
func (c *inspectCmd) checkDynamoDB() error {
	switch {
	case c.PasswordFile != "" || c.TLS || c.TLSCA != "":
		return withHint(errors.New("--password-file, --tls and --tls-ca are for cql://"), "credentials of AWS come from its own files and environment; TLS is dynamodb+https://host/table")
	case len(c.Nodetool) > 0:
		return errors.New("--nodetool is for Cassandra")
	case c.Target == "cassandra" || c.Target == "keyspaces":
		return fmt.Errorf("--target %s: the address is DynamoDB's", c.Target)
	}
	return nil
}

// dynamoSurvey is the inspection of one DynamoDB table.
type dynamoSurvey struct {
	survey
	t      *livedynamo.Table
	d      livedynamo.Description
	schema *schema.Table
	maps   []*api.PartitionsResponse // read before the inspection begins; empty if the store does not report partitions
}

// inspectDynamoDB inspects a DynamoDB table.
func (c *inspectCmd) inspectDynamoDB(ctx context.Context, std *stdio) error {
	file, err := c.stateFile()
	if err != nil {
		return err
	}
	t, err := livedynamo.Open(ctx, *c.dynamo, livedynamo.Options{Rate: c.Rate})
	if err != nil {
		return early(ctx, err)
	}
	defer t.Close()
	s := &dynamoSurvey{survey: survey{cmd: c, std: std, file: file, segments: true, units: t.Units()}, t: t, d: t.Table()}
	if s.maps, err = partitionMaps(ctx, t); err != nil {
		return early(ctx, err)
	}
	if err := s.prepare(ctx); err != nil {
		return early(ctx, err)
	}
	return s.carryOut(ctx, func(finish context.Context, why error) (*inspection.Report, error) { return s.report(finish, ctx, why) })
}

// prepare finds out how large the table is and plans the reading.
func (s *dynamoSurvey) prepare(ctx context.Context) error {
	s.schema = &schema.Table{Name: s.d.Name, Options: map[string]any{}, PartitionKey: []*schema.Column{keyColumn(s.d.Partition, schema.PartitionKey)}}
	if s.d.Sort != nil {
		s.schema.Clustering = []*schema.Column{keyColumn(*s.d.Sort, schema.Clustering)}
	}
	if s.d.Sharded() {
		s.group = &inspection.Grouping{Logical: []int{0}, Shard: -1}
	}
	if err := s.probe(ctx); err != nil {
		return err
	}
	list, err := s.prices()
	if err != nil {
		return err
	}
	s.readRange, s.same = s.readSegment, s.t.Same
	if err := s.load("dynamodb "+s.d.Name, s.d.ID); err != nil {
		return err
	}
	return s.plan(list)
}

// keyColumn returns a key attribute as a column. Numbers are text here, as DynamoDB writes them.
func keyColumn(k livedynamo.Key, kind schema.ColumnKind) *schema.Column {
	t := value.Native(value.Text)
	if k.Kind == "B" {
		t = value.Native(value.Blob)
	}
	return &schema.Column{Name: k.Name, Kind: kind, Type: t}
}

// prices returns AWS's prices, or nil for a local endpoint, which bills nothing.
func (s *dynamoSurvey) prices() (*prices.List, error) {
	c := s.cmd
	switch {
	case c.dynamo.Region != "":
		list, err := c.pricesOf("dynamodb", c.dynamo.Region)
		if err != nil && c.Prices == "" {
			fmt.Fprintf(s.std.err, "evenkeel: evenkeel knows no prices for %s, so it gives only units; --prices FILE names a list with others\n", c.dynamo.Region)
			return nil, nil
		}
		return list, err
	case c.Target == "dynamodb" || c.Prices != "":
		return c.pricesOf("dynamodb", c.Region)
	}
	return nil, nil
}

// The size that DynamoDB reports can be some hours old. So if a table has very many segments, the
// beginnings of this many are read first.
const (
	dynamoProbes   = 8
	dynamoSegments = 512
	dynamoFirst    = 1000 // items read from the beginning of the table
)

func (s *dynamoSurvey) probe(ctx context.Context) error {
	s.size = inspection.Size{Rows: float64(s.d.Items), From: "what the table says of itself"}
	if s.d.Items > 0 {
		s.size.RowBytes = float64(s.d.Bytes) / float64(s.d.Items)
	}
	items, bytes := 0, int64(0)
	keys := map[string]bool{}
	for _, seg := range livedynamo.Segments(dynamoProbes, float64(dynamoProbes)/dynamoSegments, 1) {
		n := 0
		err := s.t.Keys(ctx, seg, probeRows, func(k *livedynamo.Keyed) error {
			bytes += k.Bytes
			items++
			keys[string(k.Key[0])] = true
			if n++; n == probeRows {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
	}
	if items > 0 {
		s.size.RowBytes = float64(bytes) / float64(items)
		s.size.Partitions = float64(len(keys)) * dynamoSegments / dynamoProbes
	}
	if rows := float64(items) * dynamoSegments / dynamoProbes; rows > s.size.Rows {
		s.size.Rows, s.size.From = rows, "a first sample"
	}
	if s.size.Rows < dynamoFirst {
		// The table is small, or so new that DynamoDB reports no size yet. Reading its beginning
		// tells the size.
		n, size := 0, int64(0)
		err := s.t.Keys(ctx, livedynamo.Segment{}, dynamoFirst, func(k *livedynamo.Keyed) error {
			size += k.Bytes
			if n++; n == dynamoFirst {
				return errEnough
			}
			return nil
		})
		switch {
		case errors.Is(err, errEnough):
			s.size.Rows, s.size.From = math.Max(2*dynamoFirst, s.size.Rows), "its beginning: it has more"
		case err != nil:
			return err
		default:
			s.size.Rows, s.size.From = float64(n), "all of it, it is small"
		}
		if n > 0 {
			s.size.RowBytes = float64(size) / float64(n)
		}
	}
	s.size.Partitions = math.Min(math.Max(1, s.size.Partitions), math.Max(1, s.size.Rows))
	return nil
}

// readSegment counts a segment. It adds the count once the whole segment has been read.
func (s *dynamoSurvey) readSegment(ctx context.Context, i int, bar *inspectProgress) error {
	plan := s.run.Plan
	c := inspection.NewCounter(s.schema, nil, s.group)
	item := inspection.Item{Segment: plan.Segment(i)}
	n, size := int64(0), int64(0)
	err := s.t.Keys(ctx, livedynamo.Segment{Number: item.Segment, Of: plan.Segments}, 0, func(k *livedynamo.Keyed) error {
		item.Token, item.Shard, item.Key, item.Bytes, item.Indexes = k.Token, k.Shard, k.Key, k.Bytes, k.Entries
		c.Item(&item)
		size += item.Bytes
		if n++; n%1024 == 0 {
			bar.rows(1024)
		}
		return nil
	})
	if err != nil {
		return err
	}
	bar.rows(n % 1024)
	return s.add(i, c, 1+size>>20)
}

// report makes the report.
func (s *dynamoSurvey) report(ctx, asked context.Context, why error) (*inspection.Report, error) {
	reason := stopped(asked, why)
	s.name(ctx)
	d := &inspection.DynamoTable{
		Name: s.d.Name, Billing: "PROVISIONED", ReadUnits: s.d.ReadUnits, WriteUnits: s.d.WriteUnits, WarmReads: s.d.WarmReads, WarmWrites: s.d.WarmWrites,
		Items: s.d.Items, Bytes: s.d.Bytes, Indexes: []inspection.DynamoIndex{},
	}
	if s.d.OnDemand {
		d.Billing = "PAY_PER_REQUEST"
	}
	for _, ix := range s.d.Indexes {
		out := inspection.DynamoIndex{Name: ix.Name, Kind: "global", Partition: len(ix.Partition), Projection: ix.Projection, Items: ix.Items, Bytes: ix.Bytes, Sharding: s.d.ShardedIndexes[ix.Name], Largest: []inspection.Large{}}
		if ix.Local {
			out.Kind = "local"
			d.LocalIndex = true
		}
		for _, k := range append(slices.Clip(ix.Partition), ix.Sort...) {
			out.Key = append(out.Key, k.Name)
		}
		d.Indexes = append(d.Indexes, out)
	}
	sharding := ""
	if s.d.Sharded() {
		sharding = "evenkeel shards this table: " + s.d.Sharding
	}
	r := inspection.Summarize(s.run, inspection.Summary{
		Schema: s.schema, At: time.Now().UTC(), Last: s.state.Last, Sharding: sharding, Top: s.cmd.Top, Why: reason, DynamoDB: d,
	})
	r.Coverage.State = s.file
	r.Prediction = &s.predict
	r.Store = "DynamoDB in " + s.cmd.dynamo.Region
	if s.cmd.dynamo.Endpoint != "" {
		r.Store = "DynamoDB's API at " + s.cmd.dynamo.Host()
	}
	if r.Maps = s.maps; len(r.Maps) > 0 {
		return r, nil
	}
	insights := "aws dynamodb update-contributor-insights --table-name " + s.d.Name + " --contributor-insights-action ENABLE; CloudWatch Contributor Insights then shows them"
	r.Hidden = append(r.Hidden, []inspection.HiddenAnswer{
		{What: "hottest partition keys", Command: insights},
		{What: "throttled partition keys", Command: insights + ", and ThrottlingReasons in the error says KeyRangeThroughputExceeded"},
		{What: "partitions and their bounds", Command: "AWS does not tell; evenkeel serve --capacity dynamodb shows them for its own engine"},
	}...)
	return r, nil
}

// name finds the keys of the largest item collections that an earlier call read and that are
// known only by their hash. It reads their segments again.
func (s *dynamoSurvey) name(ctx context.Context) {
	wanted := map[int][]*inspection.Partition{}
	for _, list := range [][]inspection.Partition{s.run.Total.Largest, s.run.Total.Longest} {
		for i := range list[:min(len(list), s.cmd.Top)] {
			if list[i].Key == nil {
				wanted[list[i].Segment] = append(wanted[list[i].Segment], &list[i])
			}
		}
	}
	for segment, list := range wanted {
		left := len(list)
		err := s.t.Keys(ctx, livedynamo.Segment{Number: segment, Of: s.run.Plan.Segments}, 0, func(k *livedynamo.Keyed) error {
			for _, p := range list {
				if p.Key == nil && p.Token == k.Token {
					p.Key, p.Shard = [][]byte{bytes.Clone(k.Key[0])}, k.Shard
					left--
				}
			}
			if left == 0 {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return // they stay hashes
		}
	}
}
