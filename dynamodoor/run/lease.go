// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
)

// settleAfter is how old what was left half-way must be to be settled by another
// door: by then who began it has ended.
const settleAfter = time.Minute

// describedFor is for how long the description of a sharded table is believed: then
// its TableId is compared anew, of so many tables at a time that a request which
// waits for it does not wait long.
const (
	describedFor = time.Minute
	describedNow = 8
)

// current sees to it that what is known of the catalogue is no older than a lease.
// Half-way through it one request renews it, while others go on.
func (r *Router) current(ctx context.Context) error {
	was := age(*r.asOf.Load())
	switch {
	case was < r.lease/2:
		return nil
	case was >= r.lease:
		return r.renew(ctx, r.lease)
	case r.renewing.TryLock():
		defer r.renewing.Unlock()
		if err := r.read(ctx); err != nil {
			r.log.Warn("dynamodb: the catalogue of sharded tables cannot be read, and is tried again", "error", err)
		}
	}
	return nil
}

// renew reads the catalogue if what is known of it is older than that.
func (r *Router) renew(ctx context.Context, than time.Duration) error {
	asked := time.Now()
	r.renewing.Lock()
	defer r.renewing.Unlock()
	if asOf := *r.asOf.Load(); age(asOf) < than || asOf.After(asked) {
		return nil // somebody else was here
	}
	return doorError(r.read(ctx))
}

// read reads the catalogue. The caller holds renewing.
func (r *Router) read(ctx context.Context) error {
	start := time.Now()
	entries, err := r.catalog.All(ctx)
	if err != nil {
		return err
	}
	old := *r.tables.Load()
	described := 0
	fresh := make(map[string]*entry, len(entries)) // without orphans, which are found again when they are asked for
	for _, e := range entries {
		if in := old[e.Table]; in != nil && in.same(e) {
			due := time.Since(in.described) >= describedFor
			if due {
				described++
			}
			if !due || described > describedNow {
				fresh[e.Table] = in
				continue
			}
		}
		in, err := r.use(ctx, e)
		switch {
		case err != nil && old[e.Table] != nil && old[e.Table].same(e):
			in = old[e.Table] // nothing else is known of it
			r.log.Warn("dynamodb: a sharded table cannot be described, and is tried again", "table", e.Table, "error", err)
		case err != nil:
			in = &entry{Entry: e, wrong: doorError(err)}
		case in == nil:
			continue
		}
		fresh[e.Table] = in
	}
	r.tables.Store(&fresh)
	r.asOf.Store(&start)
	return nil
}

// same tells whether an entry is in order, and as the catalogue has it.
func (in *entry) same(e *catalog.Entry) bool {
	return in.wrong == nil && e.State == catalog.Active && equalEntries(in.Entry, e)
}

// equalEntries compares entries, whose times the catalogue keeps to the millisecond.
func equalEntries(x, y *catalog.Entry) bool {
	a, b := *x, *y
	a.Started, b.Started = time.Time{}, time.Time{}
	return x.Started.UnixMilli() == y.Started.UnixMilli() && reflect.DeepEqual(a, b)
}

// manyNames is how many names of plain tables are remembered.
const manyNames = 10_000

// lookup tells whether a table is sharded, or may not be served as a plain one. A
// table that nobody has asked about is looked up: in the catalogue, and its
// description, which tells a physical table that has lost its entry. That a table
// is not there is not remembered.
func (r *Router) lookup(ctx context.Context, name string) (sharded bool, err error) {
	if !isName(name) {
		return false, nil // of no table: the store says so
	}
	if in := (*r.tables.Load())[name]; in != nil && in.State != catalog.Creating {
		return true, nil
	} else if in != nil {
		// It may be there by now, and who has made it may have been told so.
		if err := r.renew(ctx, 0); err != nil || (*r.tables.Load())[name] != nil {
			return true, err
		}
	}
	if _, ok := r.plain.Load(name); ok {
		return false, nil
	}
	name = strings.Clone(name) // it is the request's
	for seen := false; ; seen = true {
		e, err := r.catalog.Get(ctx, name)
		if err != nil {
			return false, doorError(err)
		}
		if e != nil {
			if err := r.renew(ctx, 0); err != nil || (*r.tables.Load())[name] != nil {
				return err == nil, err
			}
		}
		t, err := r.physical(ctx, name)
		switch {
		case is(err, exception.Validation):
			return false, nil // the store has no tables of such names
		case err != nil:
			return false, cannotTell(name, err)
		case t == nil:
			return false, nil
		case !isPhysical(t):
			r.remember(name)
			return false, nil
		case !seen:
			// An entry is written before its physical table is made: if another door has
			// made this one since the catalogue was read, its entry is there now.
			continue
		case e != nil:
			return false, beingChanged(name)
		}
		wrong := &entry{Entry: &catalog.Entry{Table: name, Physical: name, ID: t.ID, State: catalog.Active}, wrong: orphan(name), described: time.Now()}
		r.log.Error("dynamodb: a sharded table cannot be served", "table", name, "error", wrong.wrong)
		r.renewing.Lock()
		defer r.renewing.Unlock()
		r.publish(func(tables map[string]*entry) { tables[name] = wrong })
		return true, nil
	}
}

// isName tells whether a text may be the name of a table, as a key of the catalogue, too.
func isName(text string) bool {
	const most = 255
	for i := range len(text) {
		if !inName(text[i]) {
			return false
		}
	}
	return text != "" && len(text) <= most
}

// remember notes that a table is a plain one.
func (r *Router) remember(name string) {
	if r.plains.Add(1) > manyNames {
		r.plain.Clear()
		r.plains.Store(1)
	}
	r.plain.Store(name, struct{}{})
}

func cannotTell(name string, err error) error {
	if throttled(err) || exception.Of(err).Kind == exception.ServiceUnavailable {
		return err
	}
	return exception.New(exception.InternalServerError,
		"evenkeel cannot tell whether table %s is write-sharded, and does not pass on what it cannot tell: its own credentials may not describe it (dynamodb:DescribeTable): %v", name, err)
}
