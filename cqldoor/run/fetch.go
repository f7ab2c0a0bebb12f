package run

import (
	"context"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// reader fetches rows of one bound statement for one client.
type reader struct {
	ctx     context.Context
	r       *Router
	link    store.Forwarder
	version wire.Version
	params  wire.Params // what every fetch takes over from the client's request
	plan    *plan.Select
	bound   *analysis.BoundSelect

	width *atomic.Int64 // see rowWidth
	ahead *ahead        // what is known of the rows to come
	total int           // how many rows are likely to be wanted of all partitions; 0: all
	among int           // how many readers share the request's fetches; 0: it is the only one
}

func (r *Router) newReader(ctx context.Context, l store.Link, v wire.Version, params *wire.Params, p *plan.Select, b *analysis.BoundSelect) *reader {
	x := &reader{ctx: ctx, r: r, link: forwarder(l), version: v, plan: p, bound: b}
	x.params = wire.Params{Consistency: params.Consistency}
	if params.Has(wire.QuerySerialConsistency) {
		x.params.SetSerialConsistency(params.SerialConsistency)
	}
	if params.Has(wire.QueryNowInSeconds) {
		x.params.SetNowInSeconds(params.NowInSeconds)
	}
	x.params.SetSkipMetadata(true)
	return x
}

// fanOut is how many fetches may be in flight.
func (x *reader) fanOut() int { return max(1, x.r.opts.FanOut/max(1, x.among)) }

// send queues one physical read, whose answer comes into an inbox under a tag.
func (x *reader) send(f *plan.Fetch, to *inbox, tag int) error {
	ids, err := x.r.registry.physical(f.Statement.Text).prepare(x.ctx, x.link, x.version, f.Statement.Text)
	if err != nil {
		return err
	}
	p := x.params
	p.SetValues(encodeValues(f.Values))
	body := wire.AppendExecute(nil, x.version, &wire.Execute{ID: ids.statement, MetadataID: ids.metadata, Params: p})
	x.link.Forward(wire.Message{Op: wire.OpExecute, Body: body}, to, uint32(tag))
	return nil
}

// all does some reads, as many at once as may be, and gives the rows that all of
// them brought, in no order. The rows are the caller's.
func (x *reader) all(fetches []plan.Fetch) (out [][][]byte, err error) {
	err = x.drain(fetches, func(cells [][]byte) error {
		out = append(out, append([][]byte(nil), cells...))
		return nil
	})
	return out, err
}

// drain does some reads and gives f each row, which is f's during the call.
func (x *reader) drain(fetches []plan.Fetch, f func(cells [][]byte) error) error {
	in := newInbox(x.version, 0)
	var took []response
	for sent, done := 0, 0; done < len(fetches); {
		for ; sent < len(fetches) && sent-done < x.fanOut(); sent++ {
			if err := x.send(&fetches[sent], in, sent); err != nil {
				return err
			}
		}
		x.link.Flush()
		var err error
		if took, err = in.next(x.ctx, took[:0]); err != nil {
			return err
		}
		for _, a := range took {
			done++
			if a.err != nil {
				return a.err
			}
			rows, err := wire.ParseRows(a.body)
			if err != nil {
				return err
			}
			it := rows.Iter(make([][]byte, rows.Metadata.Count))
			for it.Next() {
				if err := f(it.Cells); err != nil {
					return err
				}
			}
			if err := it.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}
