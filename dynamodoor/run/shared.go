// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamo/partiql"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/dynamodoor/definitions"
	"github.com/evenkeel/evenkeel/dynamodoor/items"
	"github.com/evenkeel/evenkeel/dynamodoor/tables"
)

// Other doors may be on a store, too. They create and delete tables without telling this one, so
// its knowledge of a table is valid for a lease. doc.go lists the promises for that case.

// doShared carries out an operation on such a store.
func (r *Router) doShared(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	o := api.OperationOf(operation)
	switch {
	case o.New == nil:
		return r.passOn(ctx, operation, body, dst)
	case o.About == api.Feeds:
		return r.streams.Forward(ctx, o.New(), body, dst)
	case operation == "DescribeEndpoints":
		return dst, exception.New(exception.UnknownOperation, "") // its answer would lead clients around the door
	case operation == "DescribeLimits":
		return r.backend.Do(ctx, operation, body, dst)
	case operation == "CreateTable":
		name, ours := declares(body)
		if !ours {
			var err error
			if ours, err = r.definitions.RulesShard(ctx, name); err != nil {
				return dst, err
			}
		}
		if !ours {
			return r.createPlain(ctx, name, body, dst)
		}
	}
	if err := r.tables.Current(ctx); err != nil {
		return dst, err
	}
	for again := false; ; again = true {
		var few [4]string
		begin, asOf := r.now(), r.tables.Known()
		names, plain, err := r.plainNames(ctx, o, body, few[:0])
		if err != nil {
			return dst, err
		}
		var out []byte
		if !plain {
			out, err = r.planned(ctx, o, body, dst)
			if again || err == nil || r.now().Sub(begin) < r.lease/2 || !items.Refused(err) {
				return out, err
			}
			// The request was under way for longer than doors wait for each other. The table that
			// refuses it may be another by now.
		} else {
			out, err = r.backend.Do(ctx, operation, body, dst)
			if o.About == api.Statements && exception.Is(err, exception.UnknownOperation) {
				out, err = r.planned(ctx, o, body, dst) // the endpoint has no PartiQL, so this door carries it out
			}
			over, e := r.overPlain(ctx, o, body, asOf, err)
			switch {
			case e != nil:
				return dst, e
			case over && (again || err == nil && o.Writes):
				return dst, items.Unknown(new(tables.Pinned))
			case over:
				continue // carry it out on the sharded table
			}
			if err == nil && o.Writes {
				return r.definitions.ChangedPlain(ctx, operation, names, out, len(dst))
			}
			if again || !r.mayBeSharded(names, out[len(dst):], err) {
				return out, err // the door does not repeat a write
			}
			// The answer may be that of a sharded table's physical table.
		}
		if e := r.tables.Reconsider(ctx, names); e != nil {
			return dst, e
		}
		if plain {
			if _, plain, e := r.plainNames(ctx, o, body, few[:0]); e != nil || plain {
				return out, errors.Join(err, e)
			}
		}
	}
}

// overPlain reports whether the answer to a request that was planned for plain tables does not
// count. That is so if the request took longer than the door's knowledge was valid, and one of the
// tables is sharded by now.
func (r *Router) overPlain(ctx context.Context, o *api.Operation, body []byte, asOf time.Time, err error) (over bool, _ error) {
	if !r.tables.Expired(asOf) || !o.Is(api.Items, api.Statements) || err != nil && !items.Verdict(err) {
		return false, nil
	}
	if err := r.tables.Renew(ctx, r.lease); err != nil {
		return false, err
	}
	var few [4]string
	_, plain, e := r.plainNames(ctx, o, body, few[:0])
	return !plain, e
}

// planned carries out an operation on sharded tables, or one whose tables cannot be read.
func (r *Router) planned(ctx context.Context, o *api.Operation, body, dst []byte) ([]byte, error) {
	q := o.New()
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

// plainNames reports whether a request is only on plain tables, and returns their names. It looks
// up unknown tables.
func (r *Router) plainNames(ctx context.Context, o *api.Operation, body []byte, names []string) (_ []string, plain bool, err error) {
	if o.About == api.Statements {
		return r.plainStatements(ctx, o, body, names)
	}
	names, plain = targets(o, body, names)
	for _, name := range names {
		name = api.TableName(name)
		if catalog.Owns(name) {
			plain = false // the door refuses it
			continue
		}
		if o.About == api.Tables && o.Writes {
			r.tables.ForgetPlain(name) // the request may make this knowledge wrong
		}
		sharded, err := r.tables.Lookup(ctx, name)
		if err != nil {
			return names, false, err
		}
		plain = plain && !sharded
	}
	switch o.Name {
	case "UpdateTable":
		_, ours := declares(body) // ours: the request defines a reserved name
		plain = plain && !ours
	case "TagResource", "UntagResource":
		plain = false // a tag may declare how the table is sharded
	case "Reshard":
		plain = false // the door carries it out, for plain tables too
	}
	return names, plain, nil
}

func (r *Router) plainStatements(ctx context.Context, o *api.Operation, body []byte, names []string) ([]string, bool, error) {
	var d api.Decoder
	q := o.New()
	if err := q.Decode(&d, body); err != nil {
		return names, false, err
	}
	for _, s := range api.StatementsOf(q) {
		parsed, err := partiql.Parse(s.Text, s.Parameters)
		if err != nil {
			return names, false, nil // the error belongs to this statement's own answer
		}
		name := api.TableName(parsed.Table())
		names = append(names, name)
		if catalog.Owns(name) {
			return names, false, nil
		}
		if sharded, err := r.tables.Lookup(ctx, name); err != nil || sharded {
			return names, false, err
		}
	}
	return names, true, nil
}

// passOn passes on an unknown operation, unless it mentions a sharded table. The door does not know
// at which place such an operation names tables.
func (r *Router) passOn(ctx context.Context, operation string, body, dst []byte) ([]byte, error) {
	if err := r.tables.Renew(ctx, time.Second); err != nil {
		return dst, err
	}
	sharded := r.tables.All()
	name := mentions(body, func(text string) string {
		for name := range sharded {
			if strings.Contains(text, name) && names(text, name) {
				return name
			}
		}
		if names(text, catalog.Table) || names(text, catalog.BucketsTable) || strings.Contains(text, catalog.SecondPrefix) {
			return catalog.Table
		}
		return ""
	})
	if catalog.Owns(name) {
		return dst, tables.ErrNoTable
	}
	if name != "" {
		return dst, exception.Invalid("%s is not carried out on table %s, which is write-sharded: its answer would show the physical table; "+
			"ask the endpoint itself, about the physical table", operation, name)
	}
	return r.backend.Do(ctx, operation, body, dst)
}

// names reports whether a text contains the name of a table as a whole word.
func names(text, name string) bool {
	for rest := text; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(name):]
		if (before == "" || !tables.InName(before[len(before)-1])) && (after == "" || !tables.InName(after[0])) {
			return true
		}
		rest = rest[i+1:]
	}
}

// mayBeSharded reports whether an answer from tables that were taken for plain may come from a
// physical table that was created since. It forgets tables that are gone.
func (r *Router) mayBeSharded(names []string, answer []byte, err error) bool {
	if err == nil {
		return tables.ShowsHidden(answer)
	}
	var e *exception.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case exception.ResourceNotFound:
		for _, name := range names {
			r.tables.ForgetPlain(api.TableName(name))
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
	return tables.ShowsHidden(e.Item)
}

// aboutKeys reports whether an error may be about a table's keys or indexes.
func aboutKeys(message string) bool {
	message = strings.ToLower(message)
	for _, word := range []string{"key", "schema", "index"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// createPlain passes on a CreateTable of a plain table, when no door thinks any more that the name
// is a sharded table's.
func (r *Router) createPlain(ctx context.Context, name string, body, dst []byte) ([]byte, error) {
	if catalog.Owns(name) {
		return dst, definitions.ReservedTable(name)
	}
	defer r.tables.Define()()
	defer r.tables.ForgetSchema(name)
	if err := r.tables.Vacate(ctx, name); err != nil {
		return dst, err
	}
	return r.backend.Do(ctx, "CreateTable", body, dst)
}
