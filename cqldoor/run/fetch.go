package run

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
)

// row is one fetched row: what is shown of it, still encoded, its cells, and
// where it stands. All are views into a response that is the reader's own.
type row struct {
	raw   []byte   // the visible cells
	cells [][]byte // the visible cells
	key   [][]byte // the clustering key
}

// reader fetches rows of one bound statement for one client.
type reader struct {
	ctx     context.Context
	r       *Router
	link    store.Link
	version wire.Version
	params  wire.Params // what every fetch takes over from the client's request
	plan    *plan.Select
	bound   *analysis.BoundSelect
}

func (r *Router) newReader(ctx context.Context, l store.Link, v wire.Version, params *wire.Params, p *plan.Select, b *analysis.BoundSelect) *reader {
	x := &reader{ctx: ctx, r: r, link: l, version: v, plan: p, bound: b}
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

// response is the answer to one physical read.
type response struct {
	tag  int
	body []byte
	err  error
}

// send sends one physical read; its answer comes on out, which has room for it.
func (x *reader) send(f *plan.Fetch, tag int, out chan<- response) error {
	ids, err := x.r.registry.physical(f.Statement.Text).prepare(x.ctx, x.link, x.version, f.Statement.Text)
	if err != nil {
		return err
	}
	p := x.params
	p.SetValues(encodeValues(f.Values))
	body := wire.AppendExecute(nil, x.version, &wire.Execute{ID: ids.statement, MetadataID: ids.metadata, Params: p})
	x.link.Send(wire.Message{Op: wire.OpExecute, Body: body}, func(resp wire.Message) {
		body, err := result(x.version, resp)
		out <- response{tag, append([]byte(nil), body...), err}
	})
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
	answers := make(chan response, x.r.opts.FanOut)
	for sent, done := 0, 0; done < len(fetches); done++ {
		for ; sent < len(fetches) && sent-done < x.r.opts.FanOut; sent++ {
			if err := x.send(&fetches[sent], sent, answers); err != nil {
				return err
			}
		}
		var a response
		select {
		case a = <-answers:
		case <-x.ctx.Done():
			return x.ctx.Err()
		}
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
	return nil
}
