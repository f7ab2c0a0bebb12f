// SPDX-License-Identifier: Apache-2.0

package main

import (
	"container/heap"
	"sync"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// byHand is the scatter-gather that the documentation tells applications to write, in a good
// version: prepared, token-aware, with all shards concurrently, no more rows of a shard than the
// page needs, and a merge with a heap.
type byHand struct {
	s      *gocql.Session
	table  string // physical
	shards int
}

type post struct{ title, description string }

// page reads the first rows of the day in title order.
func (h *byHand) page(limit int) ([]post, int, error) {
	parts := make([][]post, h.shards)
	errs := make([]error, h.shards)
	var wg sync.WaitGroup
	for i := range h.shards {
		wg.Go(func() {
			it := h.s.Query("SELECT title, description FROM "+h.table+" WHERE publish_date = ? AND shard = ? LIMIT ?", day, i+1, limit).Iter()
			var p post
			for it.Scan(&p.title, &p.description) {
				parts[i] = append(parts[i], p)
			}
			errs[i] = it.Close()
		})
	}
	wg.Wait()
	fetched := 0
	for i, err := range errs {
		if err != nil {
			return nil, 0, err
		}
		fetched += len(parts[i])
	}
	return merge(parts, limit), fetched, nil
}

// day reads the whole day: every shard in its own pages, merged as they arrive.
func (h *byHand) day() (int, error) {
	its := make([]*gocql.Iter, h.shards)
	var wg sync.WaitGroup
	for i := range its {
		wg.Go(func() {
			its[i] = h.s.Query("SELECT title, description FROM "+h.table+" WHERE publish_date = ? AND shard = ?", day, i+1).PageSize(500).Prefetch(0.5).Iter()
		})
	}
	wg.Wait()
	q := &queue{}
	for i, it := range its {
		var p post
		if it.Scan(&p.title, &p.description) {
			heap.Push(q, head{p, i})
		}
	}
	rows := 0
	last := ""
	for q.Len() > 0 {
		h := (*q)[0]
		if h.title < last {
			return 0, errOrder
		}
		last = h.title
		rows++
		var p post
		if its[h.from].Scan(&p.title, &p.description) {
			(*q)[0] = head{p, h.from}
			heap.Fix(q, 0)
		} else {
			heap.Pop(q)
		}
	}
	for _, it := range its {
		if err := it.Close(); err != nil {
			return 0, err
		}
	}
	return rows, nil
}

// head is the next row of a run.
type head struct {
	post
	from int
}

type queue []head

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].title < q[j].title }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(head)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

func merge(parts [][]post, limit int) []post {
	q := &queue{}
	for i := range parts {
		if len(parts[i]) > 0 {
			*q = append(*q, head{parts[i][0], i})
		}
	}
	heap.Init(q)
	at := make([]int, len(parts))
	var out []post
	for len(out) < limit && q.Len() > 0 {
		h := (*q)[0]
		out = append(out, h.post)
		if at[h.from]++; at[h.from] < len(parts[h.from]) {
			(*q)[0] = head{parts[h.from][at[h.from]], h.from}
			heap.Fix(q, 0)
		} else {
			heap.Pop(q)
		}
	}
	return out
}
