// SPDX-License-Identifier: Apache-2.0

package streams

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/principal"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// Reader reads streams. It is safe for concurrent use. Its maker sets the exported fields.
type Reader struct {
	Backend backend.Store
	Catalog *catalog.Catalog
	Tables  *tables.Registry
	Log     *slog.Logger

	goneStreams sync.Map // goneStream by the stream's name
	gones       atomic.Int64
}

func noStream(arn string) error {
	return exception.New(exception.ResourceNotFound, "Requested resource not found: Stream: %s not found", arn)
}

// streamed returns the sharded table of a stream or an iterator, or nil if that table is plain. The
// table may have been deleted, even if another table has its name now.
func (r *Reader) streamed(ctx context.Context, arn string) (*plan.Table, error) {
	name := api.StreamTable(arn)
	if catalog.Owns(name) {
		return nil, noStream(arn)
	}
	e := r.Tables.Entry(name)
	stream := api.StreamName(arn)
	if !strings.Contains(stream, "/stream/") || len(stream) > longestStream {
		return nil, nil // not the name of a stream: the store reports the error
	}
	gone, err := r.gone(ctx, stream, e)
	switch {
	case err != nil || gone != nil:
		return gone, err
	case e == nil:
		return nil, nil
	case e.Wrong != nil:
		return nil, e.Wrong
	}
	return e.Plan, nil
}

// longestStream is longer than any TABLE/stream/LABEL: a table's name has at most 255 characters,
// and a label is a time.
const longestStream = 400

// goneStream is the known answer of gone for a stream. now is the id of the sharded table that had
// the name then.
type goneStream struct {
	table *plan.Table
	now   string
}

// gone returns the deleted sharded table of a stream, or nil if there is none. now is the sharded
// table that has the name now.
func (r *Reader) gone(ctx context.Context, stream string, now *tables.Entry) (*plan.Table, error) {
	id := ""
	if now != nil {
		id = now.ID
	}
	if known, ok := r.goneStreams.Load(stream); ok {
		if g := known.(goneStream); g.table != nil || g.now == id {
			return g.table, nil
		}
	}
	e, err := r.Catalog.Stream(ctx, stream)
	if err != nil {
		return nil, tables.DoorError(err)
	}
	g := goneStream{now: id}
	if e != nil {
		kind, _ := attribute.KindOf(e.HashType)
		g.table = plan.Deleted(e.Physical, schema.Definition{Name: e.Hash, Type: kind}, e.Layout, e.Affix)
	}
	if r.gones.Add(1) > tables.ManyNames {
		r.goneStreams.Clear()
		r.gones.Store(1)
	}
	r.goneStreams.Store(strings.Clone(stream), g)
	return g.table, nil
}

// KeepStreams stores, before a table is deleted, the layout with which the door reads its streams.
func (r *Reader) KeepStreams(ctx context.Context, e *tables.Entry, t *schema.Table) {
	if t.StreamLabel == "" {
		return
	}
	var streams []string
	ctx = principal.With(ctx, principal.Principal{})
	err := r.Backend.Answer(ctx, &api.ListStreams{Table: e.Physical, Limit: 100}, func(a api.Response) error {
		for _, s := range a.(*api.StreamsResponse).Streams {
			streams = append(streams, strings.Clone(api.StreamName(s.ARN)))
		}
		return nil
	})
	for _, s := range streams {
		err = errors.Join(err, r.Catalog.KeepStream(ctx, s, e.Entry))
	}
	if err = errors.Join(err, r.Catalog.Prune(ctx)); err != nil {
		r.Log.Warn("dynamodb: the streams of a sharded table will not be readable when it is deleted", "table", e.Table, "error", err)
	}
}

// Forward carries out a streams request if other doors are on the store.
func (r *Reader) Forward(ctx context.Context, q api.Request, body, dst []byte) ([]byte, error) {
	if err := r.Tables.Current(ctx); err != nil {
		return dst, err
	}
	var d api.Decoder
	if err := q.Decode(&d, body); err != nil {
		return dst, err
	}
	arn := ""
	switch q := q.(type) {
	case *api.DescribeStream:
		arn = q.ARN
	case *api.GetShardIterator:
		arn = q.ARN
	case *api.GetRecords:
		arn = q.Iterator
	}
	if name := api.StreamTable(arn); name != "" && !catalog.Owns(name) {
		sharded, err := r.Tables.Lookup(ctx, name)
		if err != nil {
			return dst, err
		}
		gone, err := r.gone(ctx, api.StreamName(arn), r.Tables.Entry(name))
		if err != nil {
			return dst, err
		}
		if !sharded && gone == nil {
			out, err := r.Backend.Do(ctx, q.Operation(), body, dst)
			if err == nil && bytes.Contains(out[len(dst):], tables.HiddenKey) {
				return dst, noStream(name) // the stream of a sharded table that no longer exists
			}
			return out, err
		}
	}
	err := r.Do(ctx, q, func(a api.Response) error {
		dst = a.AppendJSON(dst)
		return nil
	})
	return dst, err
}

// Do carries out a request of DynamoDB Streams.
func (r *Reader) Do(ctx context.Context, q api.Request, use func(api.Response) error) error {
	switch q := q.(type) {
	case *api.ListStreams:
		return r.Backend.Answer(ctx, q, func(a api.Response) error {
			shown := *a.(*api.StreamsResponse)
			shown.Streams = slices.DeleteFunc(slices.Clone(shown.Streams), func(s api.StreamSummary) bool { return catalog.Owns(s.Table) })
			return use(&shown)
		})
	case *api.DescribeStream:
		return r.describeStream(ctx, q, use)
	case *api.GetShardIterator:
		if _, err := r.streamed(ctx, q.ARN); err != nil {
			return err
		}
		return r.Backend.Answer(ctx, q, use)
	case *api.GetRecords:
		return r.getRecords(ctx, q, use)
	}
	return fmt.Errorf("operation %s is none of DynamoDB Streams", q.Operation())
}

func (r *Reader) describeStream(ctx context.Context, q *api.DescribeStream, use func(api.Response) error) error {
	t, err := r.streamed(ctx, q.ARN)
	if err != nil {
		return err
	}
	return r.Backend.Answer(ctx, q, func(a api.Response) error {
		shown := *a.(*api.StreamResponse)
		if plan.IsHiddenKey(shown.Key) {
			if t == nil || t.Layout == nil {
				return noStream(q.ARN) // the stream of a sharded table that no longer exists
			}
			shown.Key = t.StreamKey(shown.Key)
		}
		return use(&shown)
	})
}

func (r *Reader) getRecords(ctx context.Context, q *api.GetRecords, use func(api.Response) error) error {
	t, err := r.streamed(ctx, q.Iterator)
	if err != nil {
		return err
	}
	return r.Backend.Answer(ctx, q, func(a api.Response) error {
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
