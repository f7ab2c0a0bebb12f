// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/shard"
	"github.com/evenkeel/evenkeel/shard/timebucket"
)

// BucketsTable is the table of the store with the directory of the tables of strategy time: which
// buckets of time each logical partition has. It has an item for each bucket, with a name of the
// partition, which the caller makes, and the bucket's number. An item is removed when the bucket has long
// had no items (RemoveBucket).
//
// A door adds a bucket before it sends the bucket's first item. Reads are consistent. So who reads
// the directory after an item was acknowledged sees the item's bucket. A bucket in the directory
// may have no items.
const BucketsTable = Table + ".buckets"

// Owns reports whether a table is one of the door's own, which clients do not see.
func Owns(name string) bool {
	return name == Table || name == BucketsTable || strings.HasPrefix(name, SecondPrefix)
}

// CreateBuckets creates the directory's table, unless it exists.
func (c *Catalog) CreateBuckets(ctx context.Context) error {
	return c.createTable(ctx, BucketsTable, [2]string{"partition", "S"}, [2]string{"bucket", "N"})
}

// These are the attributes of the directory's table.
const (
	partitionName = "partition"
	bucketName    = "bucket"
	emptyName     = "empty" // when the bucket was found without items, in seconds since 1970
)

func bucketItem(partition string, bucket int64) attribute.Item {
	return attribute.NewItem(attribute.Attribute{Name: partitionName, Value: attribute.String(partition)}, attribute.Attribute{Name: bucketName, Value: attribute.Int(bucket)})
}

// AddBucket adds a bucket of a partition. If it is there, it is no longer marked.
func (c *Catalog) AddBucket(ctx context.Context, partition string, bucket int64) error {
	put := &api.PutItem{Table: BucketsTable, Item: bucketItem(partition, bucket)}
	if err := c.store.Answer(ctx, put, func(api.Response) error { return nil }); err != nil {
		return fmt.Errorf("add a bucket of time to table %s: %w", BucketsTable, err)
	}
	return nil
}

// Buckets returns at most limit buckets of a partition, from bucket from up to bucket to, both
// included. It returns the first ones in ascending order, or, if down is set, the last ones in
// descending order. It calls marked for each bucket that was found without items, with the time of
// that in seconds since 1970.
func (c *Catalog) Buckets(ctx context.Context, partition string, from, to int64, down bool, limit int, marked func(bucket, at int64)) ([]int64, error) {
	k := expression.KeyRange{Hash: []attribute.Value{attribute.String(partition)}, Op: expression.Between, Low: attribute.Int(from), High: attribute.Int(to)}
	q := &api.Query{Read: api.Read{Table: BucketsTable, Consistent: true}, Backward: down, KeyCondition: k.Condition([]string{partitionName}, []string{bucketName})}
	var d attribute.Decoder
	var out []int64
	for more := true; more && len(out) < limit; {
		q.Limit = limit - len(out)
		err := c.store.Answer(ctx, q, func(a api.Response) error {
			r, ok := a.(*api.ItemsResponse)
			if !ok {
				return fmt.Errorf("an answer of type %T", a)
			}
			more = r.LastKey != nil
			for _, text := range r.Items {
				item, err := d.Some(text, bucketName, emptyName)
				if err != nil {
					return err
				}
				v, _ := item.Get(bucketName)
				n, err := strconv.ParseInt(v.Text(), 10, 64)
				if err != nil {
					return fmt.Errorf("bucket %q is no whole number", v.Text())
				}
				out = append(out, n)
				if v, ok := item.Get(emptyName); ok {
					at, err := strconv.ParseInt(v.Text(), 10, 64)
					if err != nil {
						return fmt.Errorf("bucket %d was empty at %q, which is no time", n, v.Text())
					}
					marked(n, at)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read table %s, the directory of buckets of time: %w", BucketsTable, err)
		}
		if len(out) > 0 {
			q.Start = bucketItem(partition, out[len(out)-1])
		}
	}
	return out, nil
}

// MarkBucket notes that a bucket was found without items, unless it is marked already.
func (c *Catalog) MarkBucket(ctx context.Context, partition string, bucket, at int64) error {
	return c.ofBucket(ctx, "UpdateItem", partition, bucket, map[string]any{
		"UpdateExpression": "SET #e = :e", "ConditionExpression": "attribute_exists(#p) AND attribute_not_exists(#e)",
		"ExpressionAttributeNames": map[string]string{"#e": emptyName, "#p": partitionName}, "ExpressionAttributeValues": map[string]any{":e": number(at)},
	})
}

// RemoveBucket removes a bucket that has been marked since a time. It does nothing if a door has added
// the bucket since then.
func (c *Catalog) RemoveBucket(ctx context.Context, partition string, bucket, marked int64) error {
	return c.ofBucket(ctx, "DeleteItem", partition, bucket, map[string]any{
		"ConditionExpression":      "#e = :e",
		"ExpressionAttributeNames": map[string]string{"#e": emptyName}, "ExpressionAttributeValues": map[string]any{":e": number(marked)},
	})
}

// ofBucket carries out a conditional write of a bucket. Another door may have been faster.
func (c *Catalog) ofBucket(ctx context.Context, operation, partition string, bucket int64, request map[string]any) error {
	request["TableName"], request["Key"] = BucketsTable, map[string]any{partitionName: text{partition}, bucketName: number(bucket)}
	err := c.call(ctx, operation, request, nil)
	if is(err, exception.ConditionalCheckFailed) {
		return nil
	}
	return err
}

// timed is what the entry of a table of strategy time has beside the number of shards.
type timed struct {
	M struct {
		Bucket text `json:"bucket"`
		Unit   text `json:"unit"` // of a number; empty: the sort key is a string
	}
}

var units = map[timebucket.Kind]string{0: "", timebucket.Seconds: "seconds", timebucket.Milliseconds: "milliseconds"}

func (i *item) setTime(e *Entry) {
	if e.Layout == nil || e.Layout.Strategy != shard.Time {
		return
	}
	i.Time = new(timed)
	i.Time.M.Bucket, i.Time.M.Unit = text{e.Layout.Width.String()}, text{units[e.Layout.Numbers]}
}

// readTime returns the layout of an entry of strategy time.
func (i *item) readTime(shards string) (*shard.Layout, error) {
	if i.Time == nil {
		return nil, fmt.Errorf("the catalogue's entry of %s: strategy 'time' without the length of its buckets", i.Table.S)
	}
	l, err := shard.Parse(map[string]string{"strategy": shard.Time.String(), "by": `"sort key"`, "bucket": i.Time.M.Bucket.S, "shards": shards})
	if err != nil {
		return nil, fmt.Errorf("the catalogue's entry of %s: %w", i.Table.S, err)
	}
	l.By = nil // it is the sort key
	if l.Numbers, err = unitOf(i.Time.M.Unit.S); err != nil {
		return nil, fmt.Errorf("the catalogue's entry of %s: %w", i.Table.S, err)
	}
	return l, nil
}

// unitOf returns the kind of a stored unit.
func unitOf(text string) (timebucket.Kind, error) {
	for kind, unit := range units {
		if unit == text {
			return kind, nil
		}
	}
	return 0, fmt.Errorf("unit %q", text)
}
