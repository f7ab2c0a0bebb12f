// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
)

// A stream can be read for a day after its table is gone: what it takes to show it,
// the table's last entry, is kept beside the entries of tables, under the stream's
// name, in which there is a slash.

// streamsLast is for how long a stream can be read after its table is deleted, and an
// hour.
const streamsLast = 25 * time.Hour

func isStream(key string) bool { return strings.Contains(key, "/") }

// KeepStream notes of a table that is about to be deleted what its stream is read by.
func (c *Catalog) KeepStream(ctx context.Context, stream string, e *Entry) error {
	kept := *e
	kept.Table, kept.State, kept.Started = stream, Dropped, c.now()
	err := c.put(ctx, &kept, "attribute_not_exists(#t) OR #i = :i", map[string]string{"#t": "table", "#i": "id"}, map[string]any{":i": text{e.ID}})
	if is(err, exception.ConditionalCheckFailed) {
		return nil // of an earlier table of that name
	}
	return err
}

// Stream returns the entry that a stream's table had when it was deleted; nil where
// none is kept.
func (c *Catalog) Stream(ctx context.Context, stream string) (*Entry, error) {
	return c.Get(ctx, stream)
}

// Prune forgets streams that can no longer be read.
func (c *Catalog) Prune(ctx context.Context) error {
	return c.scan(ctx, map[string]any{
		"TableName": Table, "FilterExpression": "contains(#t, :slash) AND #s < :before",
		"ExpressionAttributeNames":  map[string]string{"#t": "table", "#s": "started"},
		"ExpressionAttributeValues": map[string]any{":slash": text{"/"}, ":before": number(c.now().Add(-streamsLast).UnixMilli())},
	}, func(i *item) error {
		return c.call(ctx, "DeleteItem", map[string]any{"TableName": Table, "Key": map[string]any{"table": i.Table}}, nil)
	})
}
