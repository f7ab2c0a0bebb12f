// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"runtime"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/lane"
)

// Reads of many items wait for a place in a lane, in which clients take turns: see package lane.
// Reads and writes of single items, and requests about tables, never wait for them. A read stops
// soon after its context is done, whether it waits or runs.

// lanes holds the store's lanes.
type lanes struct {
	pages *lane.Lane // for a Query, and for several items by their keys
	scans *lane.Lane
}

// newLanes makes the lanes. Running more reads than there are processors would not finish sooner,
// and each holds a page. One client has half of a lane at most.
func newLanes() lanes {
	cores := runtime.GOMAXPROCS(0)
	pages, scans := max(8, 2*cores), max(4, cores)
	return lanes{pages: lane.New(pages, pages/2), scans: lane.New(scans, scans/2)}
}

// of returns the lane of a request; nil: the request does not wait.
func (l *lanes) of(q api.Request) *lane.Lane {
	switch q.(type) {
	case *api.Query, *api.BatchGetItem, *api.TransactGetItems, *api.GetRecords:
		return l.pages
	case *api.Scan:
		return l.scans
	}
	return nil
}

// inTurn executes a request when its turn comes. It does not begin one for which nobody waits any
// more. So the layers in front of the store stop, too, when they turn one request into many.
func (s *Store) inTurn(ctx context.Context, c *Call, q api.Request) (api.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	way := s.lanes.of(q)
	if way == nil {
		return s.execute(ctx, c, q)
	}
	flow := way.FlowOf(ctx)
	if err := way.Enter(ctx, flow); err != nil {
		return nil, err
	}
	defer way.Leave(flow)
	return s.execute(ctx, c, q)
}

// Work returns the number of running requests that may take long, and the number of waiting ones.
func (s *Store) Work() (running, waiting int) {
	for _, l := range []*lane.Lane{s.lanes.pages, s.lanes.scans} {
		r, w := l.Counts()
		running, waiting = running+r, waiting+w
	}
	return running, waiting
}
