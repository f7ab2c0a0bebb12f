// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/backend"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/observe"
	"github.com/evenkeel/evenkeel/scatter"
)

// fanOut carries out a Query that reads several shards. resolve selects the rows to return; nil: all. The
// ways that do not take it are those of tables whose layout is not being changed.
func (r *Runner) fanOut(ctx context.Context, f *plan.Fanout, resolve func([]plan.Row) ([]plan.Row, error), use func(api.Response) error) error {
	switch {
	case f.Way == plan.BySlices:
		return r.bySlices(ctx, f, resolve, use)
	case f.Way == plan.ByBuckets:
		return r.byBuckets(ctx, f, use)
	case f.Way == plan.InTurn:
		return r.inTurn(ctx, f, use)
	case r.Together != nil && f.Gathers():
		return r.gather(ctx, f, use)
	}
	return r.merge(ctx, f, resolve, use)
}

// merge answers a Query over several shards. resolve selects the rows to return; nil: all.
func (r *Runner) merge(ctx context.Context, f *plan.Fanout, resolve func([]plan.Row) ([]plan.Row, error), use func(api.Response) error) error {
	p := r.newPage(ctx, f)
	defer p.memory.close()
	if _, err := p.merge(ctx, f.Shards, f.Start, resolve); err != nil {
		return err
	}
	return use(p.result.Answer())
}

// page is a page of a Query that is being filled.
type page struct {
	runner   *Runner
	query    *plan.ShardQuery
	result   *plan.Result
	memory   *memory
	patience time.Time // throttled fetches are retried until then
	vain     []int     // indices of the last buckets, in the order of reading, that have no items in the range
}

func (r *Runner) newPage(ctx context.Context, f *plan.Fanout) *page {
	return &page{runner: r, query: &f.ShardQuery, result: f.Result(), memory: newMemory(ctx), patience: time.Now().Add(r.RetryFor)}
}

// merge adds the rows of shards after a row, as far as the page takes them, and reports whether it
// is full.
func (p *page) merge(ctx context.Context, shards []int, after *plan.Row, resolve func([]plan.Row) ([]plan.Row, error)) (full bool, err error) {
	for {
		want := p.query.Page(p.result.Scanned())
		m := &merger{runner: p.runner, query: p.query, shards: shards, result: p.result, after: after, want: want, memory: p.memory, patience: p.patience}
		rows, more, err := m.read(ctx)
		if err != nil {
			return false, err
		}
		shown := rows
		if resolve != nil {
			if shown, err = resolve(rows); err != nil {
				return false, err
			}
		}
		if err := p.memory.decode(ctx, p.result.Decodes(shown)); err != nil {
			return false, err
		}
		full, err := p.result.Add(shown)
		if full || err != nil || !more || len(rows) == 0 {
			return full, err
		}
		after = &rows[len(rows)-1]
		p.memory.drop()
	}
}

// merger reads a number of rows from all shards, in their order.
type merger struct {
	runner *Runner
	query  *plan.ShardQuery
	shards []int
	after  *plan.Row
	want   int
	memory *memory
	// patience is the time until which throttled fetches are retried.
	patience time.Time

	mu     sync.Mutex // guards the fields below between concurrent fetches
	result *plan.Result
	fewer  int // largest number of rows in a page, estimated from an answer that was cut off; 0: unknown
}

// fetched is the result of a fetch.
type fetched struct {
	fetch scatter.Fetch[plan.Row]
	rows  []plan.Row
	err   error
}

// read reads the rows. If the items are so large that a megabyte holds fewer of them than
// estimated, it begins again with fewer rows. So the memory for one page stays bounded.
func (m *merger) read(ctx context.Context) ([]plan.Row, bool, error) {
	for {
		rows, more, err := m.attempt(ctx)
		if !errors.Is(err, errFewer) {
			return rows, more, err
		}
		m.memory.drop()
		m.want, m.fewer = m.fewer, 0
	}
}

var errFewer = errors.New("a page has fewer rows than were asked for")

func (m *merger) attempt(ctx context.Context) ([]plan.Row, bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reader := scatter.NewReader(scatter.Options[plan.Row]{
		Shards: m.shards, Page: m.want, Compare: m.query.Compare, Seed: m.runner.Draw(),
		// If the request has no lower limit, the first fetch reads as many rows as a page is
		// estimated to have. Often there are fewer.
		Few: m.after == nil && m.query.Page(1, 1) > m.want,
	})
	most := m.runner.Fanout
	done := make(chan fetched, most)
	flying := 0
	var failed error
	for !reader.Done() && failed == nil || flying > 0 {
		for failed == nil && flying < most {
			f, ok := reader.Next()
			if !ok {
				break
			}
			if most == 1 {
				rows, err := m.fetch(ctx, f)
				if err == nil {
					err = reader.Feed(f, [][]plan.Row{rows})
				}
				failed = err
				continue
			}
			flying++
			go func() {
				rows, err := m.fetch(ctx, f)
				done <- fetched{f, rows, err}
			}()
		}
		if flying == 0 {
			if failed == nil && !reader.Done() {
				return nil, false, fmt.Errorf("a page of %d rows cannot go on", m.want)
			}
			continue
		}
		got := <-done
		flying--
		if got.err == nil && failed == nil {
			got.err = reader.Feed(got.fetch, [][]plan.Row{got.rows})
		}
		if got.err != nil && failed == nil {
			failed = got.err
			cancel()
		}
	}
	if failed != nil {
		return nil, false, failed
	}
	rows, more := reader.Page()
	took(ctx, reader.Stats(), len(rows))
	return rows, more, nil
}

// fetch reads the rows of one shard.
func (m *merger) fetch(ctx context.Context, f scatter.Fetch[plan.Row]) ([]plan.Row, error) {
	after := f.After
	if after == nil {
		after = m.after
	}
	ctx = shardKnown(ctx, f.Shards)
	var rows []plan.Row
	var d attribute.Decoder
	for q := m.query.Fetch(f.Shards[0], after, f.Upto, f.Limit); q != nil; {
		var rest *api.Query
		read := func(a api.Response) error {
			r := a.(*api.ItemsResponse)
			some, more, err := m.query.Rows(&d, f.Shards[0], q, r, after, f.Upto)
			if err != nil {
				return err
			}
			rest = more
			m.memory.fetched(bytesOf(some))
			if rest != nil { // the rows' sizes are needed
				if err := m.query.Measure(&d, some); err != nil {
					return err
				}
			}
			if rows == nil {
				rows = some
			} else {
				rows = append(rows, some...)
			}
			return m.note(r.Capacity, some, rest != nil)
		}
		if err := backend.Retried(ctx, m.patience, func() error { return m.runner.Backend.Answer(ctx, q, read) }); err != nil {
			return nil, err
		}
		if err := m.memory.room(ctx); err != nil {
			return nil, err
		}
		q = rest
	}
	return rows[:min(len(rows), f.Limit)], nil
}

func bytesOf(rows []plan.Row) int {
	n := 0
	for i := range rows {
		n += len(rows[i].Text)
	}
	return n
}

// note adds the capacity that an answer consumed, and checks the size of its items.
func (m *merger) note(took *api.ConsumedCapacity, rows []plan.Row, cut bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.result.Consumed(took)
	if !cut || len(rows) == 0 {
		return nil
	}
	size := 0
	for i := range rows {
		size += rows[i].Size
	}
	_, bytes := m.result.Scanned()
	if n := max(1, (plan.PageSize-bytes)*len(rows)/max(1, size)+1); n < m.want {
		m.fewer = n
		return errFewer
	}
	return nil
}

// Own returns a copy of the answer with the items in their own memory. The store's memory ends with
// its answer.
func Own(r *api.ItemsResponse) (*api.ItemsResponse, error) {
	n := 0
	for _, text := range r.Items {
		n += len(text)
	}
	room := make([]byte, 0, n)
	out := *r
	out.Items = make([]attribute.Encoded, len(r.Items))
	for i, text := range r.Items {
		room = append(room, text...)
		out.Items[i] = room[len(room)-len(text) : len(room) : len(room)]
	}
	if r.LastKey != nil {
		var err error
		if out.LastKey, err = new(attribute.Decoder).Item(r.LastKey.Encode()); err != nil {
			return nil, fmt.Errorf("a LastEvaluatedKey that is none: %w", err)
		}
	}
	return &out, nil
}

// took counts the work for a page of several shards, and the page's rows.
func took(ctx context.Context, s scatter.Stats, rows int) {
	if u := observe.Of(ctx); u != nil {
		u.Fan.Reads.Store(true)
		u.Fan.Rounds.Add(int64(s.Rounds))
		u.Fan.Read.Add(int64(s.Rows))
		u.Fan.Returned.Add(int64(rows))
	}
}

// shardKnown returns a context that tells the request's span which shards it reads.
func shardKnown(ctx context.Context, shards []int) context.Context {
	u := observe.Of(ctx)
	return observe.WithShards(ctx, u != nil && u.Span != nil, shards)
}
