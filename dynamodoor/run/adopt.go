package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/attribute"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// A table that was sharded by hand becomes a sharded one by its tag, once all of its
// items are found to be where the tag says; and by the tag's removal it is the plain
// table again that it is at the store. Where there are other doors, the answer waits
// until all of them know: a client that goes by it meets the same table at each.

// tag carries out a TagResource.
func (r *Router) tag(ctx context.Context, q *api.TagResource, use func(api.Response) error) error {
	e, err := r.sharded(q.ARN)
	if err != nil {
		return err
	}
	name := simpleName(q.ARN)
	keys := make([]string, len(q.Tags))
	for i := range q.Tags {
		keys[i] = q.Tags[i].Key
	}
	_, adopts, err := plan.CutAdoption(name, keys)
	switch {
	case err != nil:
		return err
	case !adopts:
		return r.backend.Answer(ctx, q, use)
	case e != nil && e.Suffix == nil:
		return plan.CheckTags(name, []string{plan.Tag})
	}
	// What is adopted is kept, and the request's memory ends with it.
	a, err := plan.ParseAdoption(name, strings.Clone(q.Tags[slices.Index(keys, plan.Tag)].Value))
	if err != nil {
		return err
	}
	if e != nil {
		if is := (plan.Adoption{Layout: e.Layout, Suffix: e.Suffix}); is.String() != a.String() {
			return exception.Invalid("table %s is adopted with %q; remove the tag %s from it (UntagResource) before it is adopted in another way", name, is.String(), plan.Tag)
		}
		if err := r.wait(ctx, r.grace()-r.now().Sub(e.Started)); err != nil {
			return err
		}
		return r.backend.Answer(ctx, q, use)
	}
	return r.adopt(ctx, q, strings.Clone(name), a, use)
}

// adopt adopts a table. The tag is set first, and the items are read, as the client,
// who must have the right to both.
func (r *Router) adopt(ctx context.Context, q *api.TagResource, name string, a *plan.Adoption, use func(api.Response) error) error {
	physical, err := r.physical(ctx, name)
	switch {
	case err != nil:
		return err
	case physical == nil:
		return r.backend.Answer(ctx, q, use)
	case isPhysical(physical):
		return orphan(name)
	}
	t, err := a.Table(physical)
	if err != nil {
		return r.permitted(ctx, &api.Scan{Read: api.Read{Table: name}}, err)
	}
	err = r.backend.Answer(ctx, q, ignore)
	if err != nil && !is(err, exception.UnknownOperation) { // not every endpoint has tags
		return err
	}
	if err := r.checkAdopted(ctx, t); err != nil {
		return errors.Join(err, r.unset(ctx, q.ARN))
	}
	if err := r.enter(ctx, physical, t, a); err != nil {
		return errors.Join(err, r.unset(ctx, q.ARN))
	}
	if err := r.wait(ctx, r.grace()); err != nil {
		return err
	}
	return use(api.Empty{})
}

func ignore(api.Response) error { return nil }

// unset removes the tag of a table that was not adopted.
func (r *Router) unset(ctx context.Context, arn string) error {
	err := r.backend.Answer(context.WithoutCancel(ctx), &api.UntagResource{ARN: arn, Keys: []string{plan.Tag}}, ignore)
	if err != nil && !is(err, exception.UnknownOperation) {
		return fmt.Errorf("and the tag %s, which says nothing now, could not be removed: %w", plan.Tag, err)
	}
	return nil
}

// enter makes a table a sharded one.
func (r *Router) enter(ctx context.Context, physical *schema.Table, t *plan.Table, a *plan.Adoption) error {
	r.defining.Lock()
	defer r.defining.Unlock()
	r.renewing.Lock()
	defer r.renewing.Unlock()
	now, err := r.physical(ctx, physical.Name)
	switch {
	case err != nil:
		return err
	case now == nil || now.ID != physical.ID:
		return notThere(physical.Name)
	}
	name := strings.Clone(physical.Name)
	e, err := r.catalog.Adopt(context.WithoutCancel(ctx), catalog.Entry{
		Table: name, Physical: name, ID: now.ID, Layout: a.Layout, Suffix: a.Suffix, Hash: t.Hash().Name, HashType: t.Hash().Type.String(),
	})
	switch {
	case errors.Is(err, catalog.ErrExists):
		return exception.New(exception.ResourceInUse, "table %s is being adopted, or was deleted a moment ago; try again", name)
	case err != nil:
		return doorError(err)
	}
	in := r.open(e, now)
	r.plain.Delete(name)
	r.schemas.Delete(name)
	r.publish(func(tables map[string]*entry) { tables[name] = in })
	r.log.Info("dynamodb: a table that was sharded by hand is adopted", "table", name, "as", a.String())
	return in.wrong
}

// The items of a table are read in so many segments at once.
const segments = 4

// checkAdopted reads all items of a table, and says which one is not where its layout
// has it.
func (r *Router) checkAdopted(ctx context.Context, t *plan.Table) error {
	var count atomic.Int64
	done := make(chan struct{})
	defer close(done)
	go func() {
		tick := time.NewTicker(2 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.log.Info("dynamodb: the items of a table that is to be adopted are read", "table", t.Logical.Name, "items", count.Load())
			case <-done:
				return
			}
		}
	}()
	group, ctx := errgroup.WithContext(ctx)
	for segment := range segments {
		group.Go(func() error { return r.checkSegment(ctx, t, segment, &count) })
	}
	if err := group.Wait(); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return fmt.Errorf("table %s is not adopted, since the client has gone after %d items were read; give it a longer timeout: %w", t.Logical.Name, count.Load(), err)
		}
		return err
	}
	return nil
}

func (r *Router) checkSegment(ctx context.Context, t *plan.Table, segment int, count *atomic.Int64) error {
	for q := t.ScanKeys(segment, segments); ; {
		var last attribute.Item
		// To read a whole table may take more than it has for a long time.
		err := retried(ctx, time.Now().Add(time.Hour), func() error {
			return r.backend.Answer(ctx, q, func(a api.Response) error {
				page := a.(*api.ItemsResponse)
				var d attribute.Decoder
				for _, text := range page.Items {
					item, err := d.Item(text)
					if err == nil {
						err = t.CheckAdopted(item)
					}
					if err != nil {
						return err
					}
				}
				count.Add(int64(len(page.Items)))
				if last = nil; page.LastKey != nil {
					own, err := new(attribute.Decoder).Item(page.LastKey.Encode())
					last = own
					return err
				}
				return nil
			})
		})
		if err != nil || last == nil {
			return err
		}
		next := *q
		next.Start = last
		q = &next
	}
}

// untag carries out an UntagResource. Without its tag an adopted table is a plain one
// again.
func (r *Router) untag(ctx context.Context, q *api.UntagResource, use func(api.Response) error) error {
	e, err := r.sharded(q.ARN)
	if err != nil {
		return err
	}
	name := simpleName(q.ARN)
	rest, adopted, err := plan.CutAdoption(name, q.Keys)
	switch {
	case err != nil:
		return err
	case !adopted || e == nil:
		return r.backend.Answer(ctx, q, use)
	case e.Suffix == nil:
		return plan.CheckTags(name, q.Keys)
	}
	err = r.backend.Answer(ctx, q, ignore)
	if is(err, exception.UnknownOperation) && len(rest) == 0 {
		err = nil
	}
	if err != nil {
		return err
	}
	if err := r.leave(ctx, e); err != nil {
		return err
	}
	if err := r.wait(ctx, r.grace()); err != nil {
		return err
	}
	return use(api.Empty{})
}

// leave makes an adopted table a plain one again.
func (r *Router) leave(ctx context.Context, e *entry) error {
	r.defining.Lock()
	defer r.defining.Unlock()
	r.renewing.Lock()
	defer r.renewing.Unlock()
	if err := r.catalog.Remove(context.WithoutCancel(ctx), e.Entry); err != nil {
		return doorError(err)
	}
	r.publish(func(tables map[string]*entry) { delete(tables, e.Table) })
	r.log.Info("dynamodb: a table that was sharded by hand is a plain one again", "table", e.Table)
	return nil
}
