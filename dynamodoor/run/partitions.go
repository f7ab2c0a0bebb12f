// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

// describePartitions tells of a sharded table's partitions by its logical keys.
func (r *Router) describePartitions(ctx context.Context, q *api.DescribePartitions, use func(api.Response) error) error {
	e, err := r.usable(ctx, q.Table, q, use)
	if e == nil {
		return err
	}
	return r.backend.Answer(ctx, &api.DescribePartitions{Table: e.Physical, Index: q.Index}, func(a api.Response) error {
		p, ok := a.(*api.PartitionsResponse)
		if !ok {
			return fmt.Errorf("partitions of table %s: an answer of type %T", e.Table, a)
		}
		if err := e.table.Partitions(p); err != nil {
			return fmt.Errorf("partitions of table %s: %w", e.Table, err)
		}
		return use(p)
	})
}
