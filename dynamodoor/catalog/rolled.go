// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/expression"
	"github.com/evenkeel/evenkeel/shard"
)

// The directory (BucketsTable) also lists the shards of tables of strategy rollover. Each shard of a
// partition key, from shard 2 on, has an item under its number. The item has the sort key at which
// the shard begins, and a step. Another item, under the negative number, counts roughly the items
// that doors wrote to the shard. Doors change the item of the last shard until its step is Open.
// Afterwards the item stays as it is.
//
// While the layout of the table is being changed, the item after that of the last shard is a mark of the
// change (Frozen). It keeps doors that do not know of the change from beginning the next shard.

// Step says what doors do with items at or after the beginning of a shard.
type Step int64

const (
	Announced Step = 1 + iota // no door creates one; they are read in the shard before
	Readable                  // no door creates one; they are read in this shard
	Open                      // they are created in this shard
	Frozen                    // the partition key does not get this shard, because a change of the table's layout is under way
)

// Beginning is where a shard of a partition key begins.
type Beginning struct {
	Shard  int
	From   attribute.Value // Invalid if the step is Frozen
	Step   Step
	Change int64 // Change.Began of the change, if the step is Frozen
}

// Equal reports whether two beginnings are the same.
func (b *Beginning) Equal(o *Beginning) bool {
	return b.Shard == o.Shard && b.Step == o.Step && b.From.Equal(o.From) && b.Change == o.Change
}

// These are further attributes of the directory's table.
const (
	fromName   = "from"
	stepName   = "step"
	writesName = "writes"
	changeName = "change"
)

// has returns the attributes by which a beginning differs from others of the same shard.
func (b *Beginning) has() attribute.Item {
	step := attribute.NewItem(attribute.Attribute{Name: stepName, Value: attribute.Int(int64(b.Step))})
	if b.Step == Frozen {
		return step.With(changeName, attribute.Int(b.Change))
	}
	return step.With(fromName, b.From)
}

func (b *Beginning) item(partition string) attribute.Item {
	item := bucketItem(partition, int64(b.Shard))
	for _, a := range b.has() {
		item = item.With(a.Name, a.Value)
	}
	return item
}

// Beginnings returns where the shards of a partition key begin, from shard 2 on, and the mark of a change.
func (c *Catalog) Beginnings(ctx context.Context, partition string) ([]Beginning, error) {
	k := expression.KeyRange{Hash: []attribute.Value{attribute.String(partition)}, Op: expression.GreaterOrEqual, Low: attribute.Int(2)}
	q := &api.Query{Read: api.Read{Table: BucketsTable, Consistent: true}, KeyCondition: k.Condition([]string{partitionName}, []string{bucketName})}
	var out []Beginning
	for more := true; more; {
		err := c.store.Answer(ctx, q, func(a api.Response) error {
			r, ok := a.(*api.ItemsResponse)
			if !ok {
				return fmt.Errorf("an answer of type %T", a)
			}
			more = r.LastKey != nil
			for _, text := range r.Items {
				item, err := new(attribute.Decoder).Item(bytes.Clone(text)) // its values outlive the answer
				if err != nil {
					return err
				}
				var b Beginning
				if b.Shard, err = wholeOf(item, bucketName); err != nil {
					return err
				}
				step, err := wholeOf(item, stepName)
				if b.Step = Step(step); err != nil {
					return err
				}
				if b.Step == Frozen {
					change, err := wholeOf(item, changeName)
					if b.Change = int64(change); err != nil {
						return err
					}
				} else {
					b.From, ok = item.Get(fromName)
				}
				if !ok || b.Shard != len(out)+2 {
					return fmt.Errorf("the entry of shard %d of partition %q is damaged", b.Shard, partition)
				}
				out = append(out, b)
			}
			return nil
		})
		if err != nil {
			return nil, directoryError("read", err)
		}
		if len(out) > 0 {
			q.Start = bucketItem(partition, int64(out[len(out)-1].Shard))
		}
	}
	return out, nil
}

func wholeOf(item attribute.Item, name string) (int, error) {
	v, _ := item.Get(name)
	n, err := strconv.Atoi(v.Text())
	if err != nil {
		return 0, fmt.Errorf("%s is %q, and no whole number", name, v.Text())
	}
	return n, nil
}

func directoryError(doing string, err error) error {
	return fmt.Errorf("%s table %s, the directory of shards: %w", doing, BucketsTable, err)
}

// BeginShard adds the beginning of a partition key's next shard. It does nothing if the shard is there.
func (c *Catalog) BeginShard(ctx context.Context, partition string, b Beginning) error {
	var is expression.Builder
	absent := is.Function("attribute_not_exists", expression.PathOperand(expression.Top(partitionName)))
	return c.enter(ctx, &api.PutItem{Table: BucketsTable, Item: b.item(partition), Condition: absent}, is.Err())
}

// MoveShard replaces the beginning of a shard, unless another door has changed it. Next with step 0
// removes it.
func (c *Catalog) MoveShard(ctx context.Context, partition string, is, next Beginning) error {
	var b expression.Builder
	var unchanged *expression.Condition
	for _, a := range is.has() {
		same := b.Compare("=", expression.PathOperand(expression.Top(a.Name)), expression.ValueOperand(a.Value))
		if unchanged != nil {
			same = b.And(unchanged, same)
		}
		unchanged = same
	}
	if next.Step == 0 {
		return c.enter(ctx, &api.DeleteItem{Table: BucketsTable, Key: bucketItem(partition, int64(is.Shard)), Condition: unchanged}, b.Err())
	}
	return c.enter(ctx, &api.PutItem{Table: BucketsTable, Item: next.item(partition), Condition: unchanged}, b.Err())
}

// enter carries out a conditional write of the directory. Another door may have been faster.
func (c *Catalog) enter(ctx context.Context, q api.Request, wrong error) error {
	if wrong != nil {
		return wrong
	}
	err := c.store.Answer(ctx, q, func(api.Response) error { return nil })
	if err != nil && !is(err, exception.ConditionalCheckFailed) {
		return directoryError("write", err)
	}
	return nil
}

// CountWrites adds writes to the number of those to a shard, and returns it.
func (c *Catalog) CountWrites(ctx context.Context, partition string, shard int, writes int64) (total int64, err error) {
	var out struct {
		Attributes struct {
			Writes num `json:"writes"`
		}
	}
	err = c.call(ctx, "UpdateItem", map[string]any{
		"TableName": BucketsTable, "Key": map[string]any{partitionName: text{partition}, bucketName: number(-int64(shard))},
		"UpdateExpression": "ADD #w :n", "ExpressionAttributeNames": map[string]string{"#w": writesName}, "ExpressionAttributeValues": map[string]any{":n": number(writes)},
		"ReturnValues": "UPDATED_NEW",
	}, &out)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(out.Attributes.Writes.N, 10, 64)
}

// rolling is what the entry of a table of strategy rollover has.
type rolling struct {
	M struct {
		Rows num `json:"rows"`
		Max  num `json:"max"`
	}
}

func (i *item) setRolling(e *Entry) {
	if e.Layout == nil || e.Layout.Strategy != shard.Rollover {
		return
	}
	i.Rolling = new(rolling)
	i.Rolling.M.Rows, i.Rolling.M.Max = number(e.Layout.Fill.Rows), number(int64(e.Layout.Max))
}

// readRolling returns the layout of an entry of strategy rollover.
func (i *item) readRolling() (*shard.Layout, error) {
	if i.Rolling == nil {
		return nil, fmt.Errorf("the catalogue's entry of %s: strategy 'rollover' without the number of items that fill a shard", i.Table.S)
	}
	l, err := shard.Parse(map[string]string{"strategy": shard.Rollover.String(), "rows": i.Rolling.M.Rows.N, "max": i.Rolling.M.Max.N})
	if err != nil {
		return nil, fmt.Errorf("the catalogue's entry of %s: %w", i.Table.S, err)
	}
	return l, nil
}
