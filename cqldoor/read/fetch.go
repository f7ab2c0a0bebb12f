// SPDX-License-Identifier: Apache-2.0

package read

import (
	"context"
	"iter"
	"time"

	"github.com/evenkeel/evenkeel/cql/analysis"
	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
	"github.com/evenkeel/evenkeel/cqldoor/plan"
	"github.com/evenkeel/evenkeel/cqldoor/request"
	"github.com/evenkeel/evenkeel/deadline"
)

// fetcher sends the physical reads of one bound statement for one client.
type fetcher struct {
	ctx     context.Context
	reads   *Reads
	link    store.Forwarder
	version wire.Version
	params  wire.Params // the client's parameters that every fetch has too
	plan    *plan.Select
	bound   *analysis.BoundSelect

	patience time.Time       // until then the door asks throttled shards again
	memory   *request.Memory // nil: not bounded
	among    int             // how many readers share the request's fetches; 0: this is the only one
}

// fanOut returns how many fetches of this reader may be in flight.
func (x *fetcher) fanOut() int { return max(1, x.reads.FanOut/max(1, x.among)) }

// progress restarts the request's time limit if the statement aggregates or groups rows. As in
// Cassandra, such a statement may read any number of rows.
func (x *fetcher) progress() {
	if x.plan != nil && (x.plan.Logical.Selection.Aggregated || x.plan.Logical.Grouped) {
		deadline.Progress(x.ctx)
	}
}

// send queues one physical read until the link is flushed. The inbox receives the response with the
// given tag.
func (x *fetcher) send(f *fetch, to *inbox, tag int) error {
	if err := x.ctx.Err(); err != nil {
		return err // nobody waits for the read any more
	}
	ids, err := x.reads.Cache.Physical(f.Statement.Text).Prepare(x.ctx, x.link, x.version, f.Statement.Text)
	if err != nil {
		return err
	}
	p := x.params
	p.SetValues(request.EncodeValues(f.Values))
	e := wire.Execute{ID: ids.Statement, MetadataID: ids.Metadata, Params: p}
	x.link.Forward(x.to(f), request.Execution(x.link, x.version, f.Statement.Text, &e), to, uint32(tag))
	return nil
}

// all sends some reads, at most fanOut at once, and returns the rows of all responses in any order.
// The caller may keep the rows.
func (x *fetcher) all(fetches []fetch) (out [][][]byte, err error) {
	err = x.drain(listed(fetches), func(cells [][]byte) error {
		out = append(out, append([][]byte(nil), cells...))
		return nil
	})
	return out, err
}

// listed yields the reads of a list.
func listed(fetches []fetch) iter.Seq2[fetch, error] {
	return func(yield func(fetch, error) bool) {
		for _, f := range fetches {
			if !yield(f, nil) {
				return
			}
		}
	}
}

// drain sends reads, at most fanOut at once, and calls f for each row. It takes each read from fetches
// when it can send it. A row is valid only during the call of f.
func (x *fetcher) drain(fetches iter.Seq2[fetch, error], f func(cells [][]byte) error) error {
	more, stop := iter.Pull2(fetches)
	defer stop()
	in := newInbox(x.version, 0)
	defer in.close()
	var (
		took  []response
		under = map[int]*ask{} // requests in flight, by tag
		tag   int
		ended bool
		held  *request.Holding
	)
	defer func() { held.Close() }()
	for {
		for !ended && len(under) < x.fanOut() {
			next, err, ok := more()
			if ended = !ok; ended {
				break
			}
			if err != nil {
				return err
			}
			tag++
			under[tag] = &ask{pieces: []fetch{next}}
			if err := x.send(&next, in, tag); err != nil {
				return err
			}
		}
		if len(under) == 0 {
			return nil
		}
		x.link.Flush()
		var err error
		if took, err = in.next(x.ctx, took[:0]); err != nil {
			return err
		}
		x.progress()
		x.memory.Add(&held, sizeOf(took))
		for _, a := range took {
			switch {
			case a.due:
				if err := x.send(&under[a.tag].pieces[0], in, a.tag); err != nil {
					return err
				}
				continue
			case throttled(a.err):
				again := under[a.tag].split()
				delete(under, a.tag)
				for i := range again {
					tag++
					under[tag] = &again[i]
					if !x.later(&again[i], in, tag) {
						return a.err
					}
				}
				continue
			case a.err != nil:
				return a.err
			}
			delete(under, a.tag)
			if err := eachRow(a.body, f); err != nil {
				return err
			}
		}
		held.Shrink(0)
	}
}

// sizeOf returns the total size of responses in bytes.
func sizeOf(all []response) (n int) {
	for _, a := range all {
		n += len(a.body)
	}
	return n
}

// eachRow calls f for each row of a response.
func eachRow(body []byte, f func(cells [][]byte) error) error {
	rows, err := wire.ParseRows(body)
	if err != nil {
		return err
	}
	it := rows.Iter(make([][]byte, rows.Metadata.Count))
	for it.Next() {
		if err := f(it.Cells); err != nil {
			return err
		}
	}
	return it.Err()
}

// shardGroup is the largest number of shards that one request reads. With so many shards, a request
// costs little compared to its reads, and no coordinator reads for long.
const shardGroup = 10

// group returns how many shards one request may read: the number most, or 1 for a serial read.
// Cassandra refuses a serial read of several partitions.
func (x *fetcher) group(most int) int {
	if x.params.Consistency.IsSerial() {
		return 1
	}
	return most
}
