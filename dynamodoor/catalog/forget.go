// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/deadline"
)

// ForgetBuckets removes from the directory all partitions whose names begin with one of some texts: those of
// a physical table that is gone, or of a layout that it no longer has. For that it reads the whole directory.
func (c *Catalog) ForgetBuckets(ctx context.Context, begins ...string) error {
	var conditions []string
	values := make(map[string]any, len(begins))
	for i, b := range begins {
		name := fmt.Sprintf(":b%d", i)
		conditions = append(conditions, "begins_with(#p, "+name+")")
		values[name] = text{b}
	}
	scan := map[string]any{
		"TableName": BucketsTable, "FilterExpression": strings.Join(conditions, " OR "), "ProjectionExpression": "#p, #b",
		"ExpressionAttributeNames": map[string]string{"#p": partitionName, "#b": bucketName}, "ExpressionAttributeValues": values,
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
		if err := deadline.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}
