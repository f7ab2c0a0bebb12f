// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
)

// partitionMaps asks for the partitions of a table and of its global indexes. It returns none if
// the store does not report them.
func partitionMaps(ctx context.Context, t *livedynamo.Table) ([]*api.PartitionsResponse, error) {
	indexes := []string{""}
	for _, ix := range t.Table().Indexes {
		if !ix.Local {
			indexes = append(indexes, ix.Name)
		}
	}
	var all []*api.PartitionsResponse
	for _, index := range indexes {
		m, err := t.Partitions(ctx, index)
		if errors.Is(err, livedynamo.ErrNoPartitions) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}
