// SPDX-License-Identifier: Apache-2.0

package items

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
	"github.com/evenkeel/evenkeel/dynamodoor/shift"
)

// bounds has the shards of the partition keys that one request uses, of tables of strategy rollover that
// get another layout. It is safe for concurrent use.
type bounds struct {
	mu     sync.Mutex
	of     map[string]*plan.Rolled // by their names in the directory
	tables map[*shift.Table]*shift.Table
}

func (b *bounds) add(name string, is *plan.Rolled) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = make(map[string]*plan.Rolled)
	}
	b.of[name] = is
}

func (b *bounds) get(name string) *plan.Rolled {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[name]
}

// shift returns a table for the request, or nil for nil.
func (b *bounds) shift(t *shift.Table) *shift.Table {
	if t == nil || !t.Old.Rolls() && !t.New.Rolls() {
		return t
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tables[t] == nil {
		if b.tables == nil {
			b.tables = make(map[*shift.Table]*shift.Table)
		}
		b.tables[t] = t.Rolling(func(name string, hash attribute.Value) *plan.Rolled {
			is := b.get(name)
			if is == nil {
				panic(fmt.Sprintf("items: the shards of %s are asked for before they are known", name))
			}
			return is
		})
	}
	return b.tables[t]
}

// know finds out the shards of the partition keys of items.
func (r *Runner) know(ctx context.Context, t *shift.Table, keys []attribute.Item, known *bounds) error {
	missing := make(map[string]missingKey)
	for _, key := range keys {
		for _, in := range []*plan.Table{t.Old, t.New} {
			hash, _ := key.Get(in.Hash().Name)
			if name := in.RolledName(hash); in.Rolls() && known.get(name) == nil {
				missing[name] = missingKey{name, in, hash, t.Began}
			}
		}
	}
	group, all := errgroup.WithContext(ctx)
	group.SetLimit(r.Fanout)
	for name, m := range missing {
		group.Go(func() error {
			s, err := r.freeze(all, m)
			if err == nil {
				known.add(name, &s.Rolled)
			}
			return err
		})
	}
	return group.Wait()
}
