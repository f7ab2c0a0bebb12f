package run

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// Streams are the backend's. Of sharded tables they are shown as the client knows
// the tables: keys and images without what is hidden.

// aboutStreams tells whether a request is one of DynamoDB Streams.
func aboutStreams(q api.Request) bool {
	switch q.(type) {
	case *api.ListStreams, *api.DescribeStream, *api.GetShardIterator, *api.GetRecords:
		return true
	}
	return false
}

func noStream(arn string) error {
	return exception.New(exception.ResourceNotFound, "Requested resource not found: Stream: %s not found", arn)
}

// streamed returns the sharded table that a stream, or an iterator, is of; nil for
// plain ones.
func (r *Router) streamed(arn string) (*plan.Table, error) {
	name := api.StreamTable(arn)
	if name == catalog.Table {
		return nil, noStream(arn)
	}
	e := (*r.tables.Load())[name]
	switch {
	case e == nil:
		return nil, nil
	case e.wrong != nil:
		return nil, e.wrong
	}
	return e.table, nil
}

// hiddenKey is the partition key of physical tables, as answers have it.
var hiddenKey = []byte(`"` + plan.PartitionKey + `"`)

// sharedStreams carries out such a request on a store that other doors are on.
func (r *Router) sharedStreams(ctx context.Context, q api.Request, body, dst []byte) ([]byte, error) {
	if err := r.current(ctx); err != nil {
		return dst, err
	}
	var d api.Decoder
	if err := q.Decode(&d, body); err != nil {
		return dst, err
	}
	name := ""
	switch q := q.(type) {
	case *api.DescribeStream:
		name = api.StreamTable(q.ARN)
	case *api.GetShardIterator:
		name = api.StreamTable(q.ARN)
	case *api.GetRecords:
		name = api.StreamTable(q.Iterator)
	}
	if name != "" && name != catalog.Table {
		sharded, err := r.lookup(ctx, name)
		if err != nil {
			return dst, err
		}
		if !sharded {
			out, err := r.backend.Do(ctx, q.Operation(), body, dst)
			if err == nil && bytes.Contains(out[len(dst):], hiddenKey) {
				return dst, noStream(name) // of a sharded table that is no more
			}
			return out, err
		}
	}
	err := r.streams(ctx, q, func(a api.Response) error {
		dst = a.AppendJSON(dst)
		return nil
	})
	return dst, err
}

// streams carries out a request of DynamoDB Streams.
func (r *Router) streams(ctx context.Context, q api.Request, use func(api.Response) error) error {
	switch q := q.(type) {
	case *api.ListStreams:
		return r.backend.Answer(ctx, q, func(a api.Response) error {
			shown := *a.(*api.StreamsResponse)
			shown.Streams = slices.DeleteFunc(slices.Clone(shown.Streams), func(s api.StreamSummary) bool { return s.Table == catalog.Table })
			return use(&shown)
		})
	case *api.DescribeStream:
		return r.describeStream(ctx, q, use)
	case *api.GetShardIterator:
		if _, err := r.streamed(q.ARN); err != nil {
			return err
		}
		return r.backend.Answer(ctx, q, use)
	case *api.GetRecords:
		return r.getRecords(ctx, q, use)
	}
	return fmt.Errorf("operation %s is none of DynamoDB Streams", q.Operation())
}

func (r *Router) describeStream(ctx context.Context, q *api.DescribeStream, use func(api.Response) error) error {
	t, err := r.streamed(q.ARN)
	if err != nil {
		return err
	}
	return r.backend.Answer(ctx, q, func(a api.Response) error {
		shown := *a.(*api.StreamResponse)
		if plan.IsHiddenKey(shown.Key) {
			if t == nil || t.Layout == nil {
				return noStream(q.ARN) // of a sharded table that is no more
			}
			shown.Key = t.StreamKey(shown.Key)
		}
		return use(&shown)
	})
}

func (r *Router) getRecords(ctx context.Context, q *api.GetRecords, use func(api.Response) error) error {
	t, err := r.streamed(q.Iterator)
	if err != nil {
		return err
	}
	return r.backend.Answer(ctx, q, func(a api.Response) error {
		shown := *a.(*api.RecordsResponse)
		var ok bool
		if shown.Records, ok, err = t.StreamRecords(shown.Records); err != nil {
			return err
		}
		if !ok {
			return noStream(q.Iterator)
		}
		return use(&shown)
	})
}
