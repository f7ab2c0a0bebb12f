// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/partiql"
	"github.com/evenkeel/evenkeel/dynamo/schema"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/plan"
)

// A store that other doors are on too: they make and delete tables without telling,
// and what is known of a table is good for a lease. doc.go says what holds then.

// doShared carries out an operation on such a store.
func (r *Router) doShared(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	q, known := api.New(operation)
	switch {
	case !known:
		return r.passOn(ctx, operation, body, dst)
	case aboutStreams(q):
		return r.sharedStreams(ctx, q, body, dst)
	case operation == "DescribeEndpoints":
		return dst, exception.New(exception.UnknownOperation, "") // it would lead clients round the door
	case operation == "DescribeLimits":
		return r.backend.Do(ctx, operation, body, dst)
	case operation == "CreateTable":
		name, ours := declares(body)
		if !ours {
			rule, _, err := r.rules.of(ctx, name)
			if err != nil {
				return dst, err
			}
			ours = rule != nil
		}
		if !ours {
			return r.createPlain(ctx, name, body, dst)
		}
	}
	if err := r.current(ctx); err != nil {
		return dst, err
	}
	for again := false; ; again = true {
		var few [4]string
		begin, asOf := time.Now(), *r.asOf.Load()
		names, plain, err := r.plainNames(ctx, operation, body, few[:0])
		if err != nil {
			return dst, err
		}
		var out []byte
		if !plain {
			out, err = r.planned(ctx, operation, body, dst)
			if again || err == nil || time.Since(begin) < r.lease/2 || !refused(err) {
				return out, err
			}
			// It was under way for longer than doors wait for each other: the table that
			// refuses it may be another by now.
		} else {
			out, err = r.backend.Do(ctx, operation, body, dst)
			if isPartiQL(operation) && is(err, exception.UnknownOperation) {
				out, err = r.planned(ctx, operation, body, dst) // by this door, where the endpoint knows no PartiQL
			}
			over, e := r.overPlain(ctx, operation, body, asOf, err)
			switch {
			case e != nil:
				return dst, e
			case over && (again || err == nil && !reads(operation)):
				return dst, unknown(new(pinned))
			case over:
				continue // as the sharded one that it is
			}
			if err == nil && !reads(operation) {
				return r.changedPlain(ctx, operation, names, out, len(dst))
			}
			if again || !r.mayBeSharded(names, out[len(dst):], err) {
				return out, err // what was written is not written again
			}
			// What came is what the physical table of a sharded one might answer.
		}
		if e := r.reconsider(ctx, names); e != nil {
			return dst, e
		}
		if plain {
			if _, plain, e := r.plainNames(ctx, operation, body, few[:0]); e != nil || plain {
				return out, errors.Join(err, e)
			}
		}
	}
}

// overPlain tells whether the answer to a request, taken for one of plain tables only,
// does not count: it was under way for longer than what the door knew of them is good
// for, and one of them is sharded by now.
func (r *Router) overPlain(ctx context.Context, operation string, body []byte, asOf time.Time, err error) (over bool, _ error) {
	if age(asOf) < r.lease || !aboutItems(operation) || err != nil && !verdict(err) {
		return false, nil
	}
	if err := r.renew(ctx, r.lease); err != nil {
		return false, err
	}
	var few [4]string
	_, plain, e := r.plainNames(ctx, operation, body, few[:0])
	return !plain, e
}

// aboutItems tells whether an operation reads or writes items.
func aboutItems(operation string) bool {
	switch operation {
	case "GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems":
		return true
	}
	return isPartiQL(operation)
}

// refused tells whether an error is a store's that has done nothing, for how the table
// is that was meant.
func refused(err error) bool {
	return is(err, exception.Validation) || is(err, exception.ResourceNotFound) || is(err, exception.TransactionCanceled)
}

// changedPlain is the answer to an operation that has changed something of plain tables.
// A table that was changed, or deleted, itself may have been made sharded just before:
// then the answer has its physical form, and its entry is to go.
func (r *Router) changedPlain(ctx context.Context, operation string, names []string, out []byte, from int) ([]byte, error) {
	if operation != "DeleteTable" && operation != "UpdateTable" {
		return out, nil
	}
	name := simpleName(names[0])
	e, err := r.catalog.Get(ctx, name)
	if err != nil || e == nil || e.State != catalog.Active || !bytes.Contains(out[from:], []byte(strconv.Quote(e.ID))) {
		return out, nil // the table's own entry cannot be told, or there is none: it is found when it is asked for
	}
	if err := r.reconsider(ctx, names); err != nil {
		return out[:from], err
	}
	in := (*r.tables.Load())[name]
	if operation == "UpdateTable" && in != nil && in.table != nil {
		err := r.describeTable(ctx, &api.DescribeTable{Table: name}, func(a api.Response) error {
			shown := *a.(*api.TableResponse)
			shown.Describe = false
			out = shown.AppendJSON(out[:from])
			return nil
		})
		return out, err
	}
	if operation == "DeleteTable" {
		dropping, err := r.catalog.Drop(ctx, e)
		if err == nil {
			err = r.unlist(ctx, dropping)
		}
		gone := &schema.Table{Name: name, Status: schema.Deleting}
		return (&api.TableResponse{Table: gone}).AppendJSON(out[:from]), doorError(err)
	}
	return out, nil
}

// reads tells whether an operation changes nothing.
func reads(operation string) bool {
	switch operation {
	case "GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan", "DescribeTable":
		return true
	}
	return false
}

// planned carries out an operation that is about sharded tables, or cannot be read.
func (r *Router) planned(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	q, _ := api.New(operation)
	d := r.decoders.Get().(*api.Decoder)
	defer func() {
		d.Reset()
		r.decoders.Put(d)
	}()
	if err := q.Decode(d, body); err != nil {
		return dst, err
	}
	err := r.answer(ctx, q, func(a api.Response) error {
		dst = a.AppendJSON(dst)
		return nil
	})
	return dst, err
}

// plainNames tells whether a request is about plain tables only, and which, looking up
// those that are not known.
func (r *Router) plainNames(ctx context.Context, operation string, body []byte, names []string) (_ []string, plain bool, err error) {
	if isPartiQL(operation) {
		return r.plainStatements(ctx, operation, body, names)
	}
	names, plain = targets(operation, body, names)
	for _, name := range names {
		name = simpleName(name)
		if name == catalog.Table {
			plain = false // which is refused
			continue
		}
		if changesTable(operation) {
			r.plain.Delete(name) // which is not to be believed for long then
		}
		sharded, err := r.lookup(ctx, name)
		if err != nil {
			return names, false, err
		}
		plain = plain && !sharded
	}
	switch operation {
	case "UpdateTable":
		_, ours := declares(body) // a reserved name
		plain = plain && !ours
	case "TagResource", "UntagResource":
		plain = false // a tag may declare how the table is sharded
	}
	return names, plain, nil
}

// changesTable tells whether an operation is about a table rather than its items, and
// changes it.
func changesTable(operation string) bool {
	switch operation {
	case "UpdateTable", "DeleteTable", "TagResource", "UntagResource", "UpdateTimeToLive":
		return true
	}
	return false
}

func (r *Router) plainStatements(ctx context.Context, operation string, body []byte, names []string) ([]string, bool, error) {
	var d api.Decoder
	q, _ := api.New(operation)
	if err := q.Decode(&d, body); err != nil {
		return names, false, err
	}
	for _, s := range statementsOf(q) {
		parsed, err := partiql.Parse(s.Text, s.Parameters)
		if err != nil {
			return names, false, nil // which is told of the statement, in its place
		}
		name := simpleName(parsed.Table())
		names = append(names, name)
		if name == catalog.Table {
			return names, false, nil
		}
		if sharded, err := r.lookup(ctx, name); err != nil || sharded {
			return names, false, err
		}
	}
	return names, true, nil
}

// passOn passes on an operation of which it is not known where it names tables,
// unless it mentions a sharded one.
func (r *Router) passOn(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	if err := r.renew(ctx, time.Second); err != nil {
		return dst, err
	}
	tables := *r.tables.Load()
	name := mentions(body, func(text string) string {
		for name := range tables {
			if strings.Contains(text, name) && names(text, name) {
				return name
			}
		}
		if names(text, catalog.Table) {
			return catalog.Table
		}
		return ""
	})
	if name == catalog.Table {
		return dst, errNoTable
	}
	if name != "" {
		return dst, exception.Invalid("%s is not carried out on table %s, which is write-sharded: its answer would show the physical table; "+
			"ask the endpoint itself, about the physical table", operation, name)
	}
	return r.backend.Do(ctx, operation, body, dst)
}

// names tells whether a text has the name of a table in it, as a whole.
func names(text, name string) bool {
	for rest := text; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(name):]
		if (before == "" || !inName(before[len(before)-1])) && (after == "" || !inName(after[0])) {
			return true
		}
		rest = rest[i+1:]
	}
}

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
}

// mayBeSharded tells whether an answer, taken for one of plain tables, may be that of a
// physical table that was made since; and forgets tables that are gone.
func (r *Router) mayBeSharded(names []string, answer []byte, err error) bool {
	if err == nil {
		return showsHidden(answer)
	}
	var e *exception.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case exception.ResourceNotFound:
		for _, name := range names {
			r.plain.Delete(simpleName(name))
		}
	case exception.Validation:
		return aboutKeys(e.Message)
	case exception.TransactionCanceled:
		for i := range e.Reasons {
			if e.Reasons[i].Code == "ValidationError" && aboutKeys(e.Reasons[i].Message) {
				return true
			}
		}
	}
	return showsHidden(e.Item)
}

// showsHidden tells whether an answer may have a hidden attribute. That a value begins
// as their names do is no reason to look a table up at each read of it.
func showsHidden(answer []byte) bool {
	return bytes.Contains(answer, hiddenKey) || bytes.Contains(answer, hiddenShard)
}

// hiddenShard begins the names of the shards in indexes, as answers have them.
var hiddenShard = []byte(`"` + plan.HiddenPrefix + "s.")

// aboutKeys tells whether an error may be about a table's keys or indexes.
func aboutKeys(message string) bool {
	message = strings.ToLower(message)
	for _, word := range []string{"key", "schema", "index"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// reconsider looks up tables anew.
func (r *Router) reconsider(ctx context.Context, names []string) error {
	if err := r.renew(ctx, 0); err != nil {
		return err
	}
	for _, name := range names {
		r.plain.Delete(simpleName(name))
	}
	return nil
}

// createPlain passes on a CreateTable of a plain table, once no door takes the name
// for that of a sharded one.
func (r *Router) createPlain(ctx context.Context, name string, body, dst []byte) ([]byte, error) {
	if name == catalog.Table {
		return dst, reservedTable()
	}
	r.defining.Lock()
	defer r.defining.Unlock()
	defer r.forget(name)
	if err := r.vacate(ctx, name); err != nil {
		return dst, err
	}
	return r.backend.Do(ctx, "CreateTable", body, dst)
}

// vacate waits until a name that a deleted table had may be used again: no door
// knows of that table any more. The error is that there is a table.
func (r *Router) vacate(ctx context.Context, name string) error {
	e, err := r.catalog.Get(ctx, name)
	switch {
	case err != nil:
		return doorError(err)
	case e == nil:
		return nil
	case e.State != catalog.Dropped:
		return exists(name)
	}
	t, err := r.physical(ctx, name)
	if err != nil {
		return doorError(err)
	}
	if t != nil && identity(t) == e.ID {
		return exists(name) // it is still being deleted
	}
	if err := r.wait(ctx, r.rest(e)); err != nil {
		return err
	}
	return doorError(r.catalog.Remove(ctx, e))
}

// grace is after how long no door goes by what it knew before: a lease, and half of
// one for requests that are under way and clocks that differ.
func (r *Router) grace() time.Duration { return r.lease + r.lease/2 }

// rest is what is left of it since an entry was written, by whatever clock.
func (r *Router) rest(e *catalog.Entry) time.Duration {
	return min(r.grace(), r.grace()-r.now().Sub(e.Started))
}

func (r *Router) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for other doors: %w", ctx.Err())
	}
}

// doorError is an error of what the door itself has asked, as a client is told it:
// what the door may not do says nothing about the client's rights.
func doorError(err error) error {
	var e *exception.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Kind == exception.ServiceUnavailable, throttled(err):
		return err
	}
	return exception.New(exception.InternalServerError, "what evenkeel itself asks of the endpoint fails: %v; it needs dynamodb:DescribeTable on all tables, and "+
		"CreateTable, Scan, GetItem, PutItem and DeleteItem on table %s", err, catalog.Table)
}
