// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/registry"
)

// A stream can be read for a day after its table is deleted. The door needs the table's last entry
// to show it. The catalogue keeps that entry beside those of tables, under the stream's name, which
// contains a slash.

// streamsLast is the time for which a stream can be read after its table is deleted, plus an hour.
const streamsLast = 25 * time.Hour

func isStream(key string) bool { return strings.Contains(key, "/") }

// KeepStream stores the entry with which the stream of a table will be read after the table is
// deleted.
func (c *Catalog) KeepStream(ctx context.Context, stream string, e *Entry) error {
	kept := *e
	kept.Table, kept.State, kept.Started = stream, registry.Dropped, c.now()
	err := c.put(ctx, &kept, "attribute_not_exists(#t) OR #i = :i", map[string]string{"#t": "table", "#i": "id"}, map[string]any{":i": text{e.ID}})
	if is(err, exception.ConditionalCheckFailed) {
		return nil // the entry belongs to an earlier table of that name
	}
	return err
}

// Stream returns the entry that a stream's table had when it was deleted, or nil if there is none.
func (c *Catalog) Stream(ctx context.Context, stream string) (*Entry, error) {
	return c.Get(ctx, stream)
}

// Prune removes the entries of streams that can no longer be read.
func (c *Catalog) Prune(ctx context.Context) error {
	return c.scan(ctx, map[string]any{
		"TableName": Table, "FilterExpression": "contains(#t, :slash) AND #s < :before",
		"ExpressionAttributeNames":  map[string]string{"#t": "table", "#s": "started"},
		"ExpressionAttributeValues": map[string]any{":slash": text{"/"}, ":before": number(c.now().Add(-streamsLast).UnixMilli())},
	}, func(i *item) error {
		return c.call(ctx, "DeleteItem", map[string]any{"TableName": Table, "Key": map[string]any{"table": i.Table}}, nil)
	})
}
