// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/evenkeel/evenkeel/dynamo/api"
)

// leaver is a store whose client goes away after a number of answers.
type leaver struct {
	Backend
	answers, leaves atomic.Int64
	gone            context.CancelFunc
}

func (l *leaver) answered() {
	if l.answers.Add(1) == l.leaves.Load() {
		l.gone()
	}
}

func (l *leaver) Do(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	defer l.answered()
	return l.Backend.Do(ctx, operation, body, dst)
}

func (l *leaver) Answer(ctx context.Context, q api.Request, use func(api.Response) error) error {
	defer l.answered()
	return l.Backend.Answer(ctx, q, use)
}

// known returns what a door knows of its tables.
func known(r *Router) (all []string) {
	entries := r.tables.All()
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		text := fmt.Sprintf("%s: %s, version %d, wrong: %v", name, e.State, e.Version, e.Wrong)
		if e.Change != nil {
			text += ", changes by step " + e.Change.Step
		}
		if e.Plan != nil {
			for _, ix := range e.Plan.Logical.Global {
				text += ", index " + ix.Name
			}
		}
		all = append(all, text)
	}
	return all
}

// TestClientGoneWhileDefining lets a client go away after each answer of the store to a request that changes
// a table. Afterwards the door knows the same of its tables as a door that has just started.
func TestClientGoneWhileDefining(t *testing.T) {
	type request struct{ operation, body string }
	plain, sharded := request{"CreateTable", plainTable + "}"}, request{"CreateTable", shardedTable}
	begin, untag := request{"Reshard", `{"TableName":"Tab","Action":"start","Shards":6}`}, request{"UntagResource", `{"ResourceArn":"` + tabARN + `","TagKeys":["write-sharding"]}`}
	back := request{"Reshard", `{"TableName":"Tab","Action":"rollback"}`}
	tag := func(name, value string) request {
		return request{"TagResource", `{"ResourceArn":"` + tabARN + `","Tags":[{"Key":"` + name + `","Value":"` + value + `"}]}`}
	}
	for what, c := range map[string][]request{ // the last one is that of the client who goes away
		"a table is created":           {sharded},
		"an index is created":          {sharded, {"UpdateTable", createIndex}},
		"a table is deleted":           {sharded, {"DeleteTable", `{"TableName":"Tab"}`}},
		"a layout changes":             {sharded, begin},
		"a change is taken back":       {sharded, begin, back},
		"a plain table is sharded":     {plain, begin},
		"that is taken back":           {plain, begin, back},
		"a tag shards a table":         {plain, tag("write-sharding", "shards=3")},
		"a tag makes a table plain":    {sharded, untag},
		"an index is declared":         {plain, {"TagResource", declareIndex}},
		"a table is adopted":           {plain, tag("write-sharding", "adopt=suffix shards=5")},
		"an adopted table is released": {plain, tag("write-sharding", "adopt=suffix shards=5"), untag},
	} {
		last := c[len(c)-1]
		t.Run(what, func(t *testing.T) {
			for n, answers := int64(0), int64(0); n <= answers; n++ { // with 0 the client stays
				store := &leaver{Backend: start(t, 1).store}
				r := again(t, store, 1)
				for _, q := range c[:len(c)-1] {
					must(t, r, q.operation, q.body)
				}
				ctx, cancel := context.WithCancel(t.Context())
				store.gone = cancel
				before := store.answers.Load()
				store.leaves.Store(before + n)
				_, err := r.Do(ctx, last.operation, []byte(last.body), nil)
				answers = store.answers.Load() - before
				store.leaves.Store(0)
				cancel()
				if n == 0 && err != nil {
					t.Fatal(err)
				}
				got := known(r)
				if want := known(again(t, store, 1)); !slices.Equal(got, want) {
					t.Errorf("after %d answers (%v) the door knows\n%q\na new door knows\n%q", n, err, got, want)
				}
			}
		})
	}
}
