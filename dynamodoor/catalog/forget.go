// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"encoding/json"
	"time"
)

// ForgetBuckets removes from the directory what it has of a physical table that is gone. For that it
// reads the whole directory.
func (c *Catalog) ForgetBuckets(ctx context.Context, id string) error {
	scan := map[string]any{
		"TableName": BucketsTable, "FilterExpression": "begins_with(#p, :id)", "ProjectionExpression": "#p, #b",
		"ExpressionAttributeNames":  map[string]string{"#p": partitionName, "#b": bucketName},
		"ExpressionAttributeValues": map[string]any{":id": text{id + "/"}},
	}
	for {
		var page struct {
			Items            []json.RawMessage
			LastEvaluatedKey json.RawMessage
		}
		if err := c.call(ctx, "Scan", scan, &page); err != nil {
			return err
		}
		for len(page.Items) > 0 {
			n := min(len(page.Items), 25) // as many as a BatchWriteItem may have
			if err := c.removeAll(ctx, page.Items[:n]); err != nil {
				return err
			}
			page.Items = page.Items[n:]
		}
		if page.LastEvaluatedKey == nil {
			return nil
		}
		scan["ExclusiveStartKey"] = page.LastEvaluatedKey
	}
}

// removeAll removes items of the directory by their keys.
func (c *Catalog) removeAll(ctx context.Context, keys []json.RawMessage) error {
	var writes []any
	for _, k := range keys {
		writes = append(writes, map[string]any{"DeleteRequest": map[string]any{"Key": k}})
	}
	left := any(map[string]any{BucketsTable: writes})
	for {
		var out struct{ UnprocessedItems map[string]json.RawMessage }
		if err := c.call(ctx, "BatchWriteItem", map[string]any{"RequestItems": left}, &out); err != nil || len(out.UnprocessedItems) == 0 {
			return err
		}
		left = out.UnprocessedItems
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
