// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
)

func (df *definer) updateTimeToLive(q *api.UpdateTimeToLive) (api.Response, error) {
	df.tables.Lock()
	defer df.tables.Unlock()
	t, err := df.tables.named(q.Table)
	if err != nil {
		return nil, err
	}
	old := t.shape.Load()
	is := old.Table.TimeToLive
	switch {
	case q.Enabled && is.Enabled:
		return nil, exception.Invalid("TimeToLive is already enabled")
	case !q.Enabled && !is.Enabled:
		return nil, exception.Invalid("TimeToLive is already disabled")
	case !q.Enabled && q.Attribute != is.Attribute:
		return nil, exception.Invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", is.Attribute)
	}
	r := old.record.clone()
	r.Table.TimeToLive = q.TimeToLive
	r.ExpiryFilling = q.Enabled
	err = df.tables.redefine(t, r, func(b *pebble.Batch) error { return old.removeIndex(b, indexExpiry) })
	if err != nil {
		return nil, err
	}
	if q.Enabled {
		df.filler.start(t)
	}
	return &api.TimeToLiveResponse{Updated: true, TimeToLive: q.TimeToLive}, nil
}

func (df *definer) describeTimeToLive(q *api.DescribeTimeToLive) (api.Response, error) {
	t, err := df.tables.named(q.Table)
	if err != nil {
		return nil, err
	}
	return &api.TimeToLiveResponse{TimeToLive: t.shape.Load().Table.TimeToLive}, nil
}
