// SPDX-License-Identifier: Apache-2.0

package livedynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/workbench/livetable"
)

// MaxSegments is the greatest number of segments of a Scan.
const MaxSegments = 1_000_000

// Segment is a part of a table. The zero value is the whole table.
type Segment struct{ Number, Of int }

// Scan passes each item of a segment to each, page by page, in the order of the store. limit is the
// most items of a page; 0: as many as a megabyte holds. It returns the read units that it took.
func (t *Table) Scan(ctx context.Context, s Segment, limit int, each func(attribute.Item) error) (units float64, err error) {
	return t.scan(ctx, s, limit, each, func() error { return nil })
}

// scan does what Scan does, and calls paged after the items of each page.
func (t *Table) scan(ctx context.Context, s Segment, limit int, each func(attribute.Item) error, paged func() error) (units float64, err error) {
	q := &dynamodb.ScanInput{TableName: &t.at.Table, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
	if s.Of > 1 {
		q.Segment, q.TotalSegments = aws.Int32(int32(s.Number)), aws.Int32(int32(s.Of))
	}
	if limit > 0 {
		q.Limit = aws.Int32(int32(limit))
	}
	for {
		page, err := t.client.Scan(ctx, q)
		if err != nil {
			if ctx.Err() != nil {
				return units, ctx.Err()
			}
			return units, t.at.explain(err)
		}
		took := 0.5
		if c := page.ConsumedCapacity; c != nil && c.CapacityUnits != nil {
			took = *c.CapacityUnits
		}
		units += took
		for _, it := range page.Items {
			item, err := itemOf(it)
			if err != nil {
				return units, &livetable.Error{At: "table " + t.at.Table, Err: err}
			}
			if err := each(item); err != nil {
				return units, err
			}
		}
		if err := paged(); err != nil {
			return units, err
		}
		if err := t.items.Wait(ctx, float64(len(page.Items))); err != nil {
			return units, err
		}
		if err := t.units.Wait(ctx, took); err != nil {
			return units, err
		}
		if len(page.LastEvaluatedKey) == 0 {
			return units, nil
		}
		q.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// itemOf returns an item in the form of package attribute.
func itemOf(m map[string]types.AttributeValue) (attribute.Item, error) {
	list := make([]attribute.Attribute, 0, len(m))
	for name, v := range m {
		value, err := valueOf(v)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
		list = append(list, attribute.Attribute{Name: name, Value: value})
	}
	return attribute.NewItem(list...), nil
}

func valueOf(v types.AttributeValue) (attribute.Value, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return attribute.String(v.Value), nil
	case *types.AttributeValueMemberN:
		return attribute.Number(v.Value)
	case *types.AttributeValueMemberB:
		return attribute.Binary(string(v.Value)), nil
	case *types.AttributeValueMemberBOOL:
		return attribute.Bool(v.Value), nil
	case *types.AttributeValueMemberNULL:
		return attribute.Null(), nil
	case *types.AttributeValueMemberM:
		item, err := itemOf(v.Value)
		return attribute.Map(item), err
	case *types.AttributeValueMemberL:
		var list []attribute.Value
		for _, e := range v.Value {
			value, err := valueOf(e)
			if err != nil {
				return value, err
			}
			list = append(list, value)
		}
		return attribute.List(list), nil
	case *types.AttributeValueMemberSS:
		return setOf(attribute.SS, v.Value, func(s string) (attribute.Value, error) { return attribute.String(s), nil })
	case *types.AttributeValueMemberNS:
		return setOf(attribute.NS, v.Value, attribute.Number)
	case *types.AttributeValueMemberBS:
		return setOf(attribute.BS, v.Value, func(b []byte) (attribute.Value, error) { return attribute.Binary(string(b)), nil })
	}
	return attribute.Value{}, fmt.Errorf("a value is of a type that DynamoDB does not have (%T)", v)
}

func setOf[T any](k attribute.Kind, elems []T, one func(T) (attribute.Value, error)) (attribute.Value, error) {
	var list []attribute.Value
	for _, e := range elems {
		v, err := one(e)
		if err != nil {
			return v, err
		}
		list = append(list, v)
	}
	return attribute.Set(k, list), nil
}

// Shard returns the shard into which an evenkeel door puts an item of this table; 0: the table has
// no shards, or the item does not show its shard.
func (t *Table) Shard(it attribute.Item) int {
	l := t.table.Layout
	if !t.table.Sharded() || l.Strategy.Anywhere() || t.table.Sort == nil {
		return 0
	}
	sort, _ := it.Get(t.table.Sort.Name)
	if l.Strategy == shard.Time {
		n := l.OfSortKey([]byte(sort.Text()))
		if n <= 0 {
			n-- // a bucket before 1970; 0 says that there are no shards
		}
		return n
	}
	return l.ShardOf(nil, []byte(sort.Text()))
}
