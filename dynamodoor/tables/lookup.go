// SPDX-License-Identifier: Apache-2.0

package tables

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/dynamo/api"
	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/dynamodoor/catalog"
	"github.com/evenkeel/evenkeel/registry"
)

// ManyNames is the largest number of names of plain tables that a door remembers.
const ManyNames = 10_000

// Lookup reports whether a table is sharded, or must not be served as a plain one. If it does not
// know the name, it reads the catalogue and asks the store to describe the table. By the description
// it recognises a physical table that has lost its entry. It does not remember that a table does not
// exist.
func (r *Registry) Lookup(ctx context.Context, name string) (sharded bool, err error) {
	if !isName(name) {
		return false, nil // no table can have it: the store reports the error
	}
	if in := r.Entry(name); in != nil && in.State != registry.Creating {
		return true, nil
	} else if in != nil {
		// The table may exist by now, and the client that created it may already have its answer.
		if err := r.Renew(ctx, 0); err != nil || r.Entry(name) != nil {
			return true, err
		}
	}
	if r.plain.has(name) {
		return false, nil
	}
	name = strings.Clone(name) // the name belongs to the request's memory
	for seen := false; ; seen = true {
		e, err := r.catalog.Get(ctx, name)
		if err != nil {
			return false, DoorError(err)
		}
		if e != nil {
			if err := r.Renew(ctx, 0); err != nil || r.Entry(name) != nil {
				return err == nil, err
			}
		}
		t, err := r.Physical(ctx, name)
		switch {
		case exception.Is(err, exception.Validation):
			return false, nil // the store allows no such names
		case err != nil:
			return false, cannotTell(name, err)
		case t == nil:
			return false, nil
		case !IsPhysical(t):
			r.plain.add(name)
			return false, nil
		case !seen:
			// A door writes an entry before it creates the physical table. If another door has
			// created this table since the catalogue was read, its entry is there now.
			continue
		case e != nil:
			return false, BeingChanged(name)
		}
		wrong := &Entry{Entry: &catalog.Entry{Table: name, Physical: name, ID: t.ID, State: registry.Active}, Wrong: Orphan(name), described: r.now()}
		r.log.Error("dynamodb: a sharded table cannot be served", "table", name, "error", wrong.Wrong)
		r.renewing.Lock()
		defer r.renewing.Unlock()
		r.publish(func(tables map[string]*Entry) { tables[name] = wrong })
		return true, nil
	}
}

// isName reports whether a text may be the name of a table, and so a key of the catalogue.
func isName(text string) bool {
	const most = 255
	for i := range len(text) {
		if !InName(text[i]) {
			return false
		}
	}
	return text != "" && len(text) <= most
}

func InName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-'
}

// plainNames remembers names of plain tables. It is safe for concurrent use.
type plainNames struct {
	names sync.Map
	n     atomic.Int64
}

func (p *plainNames) has(name string) bool {
	_, ok := p.names.Load(name)
	return ok
}

// add adds a name. It forgets all others if they are too many.
func (p *plainNames) add(name string) {
	if p.n.Add(1) > ManyNames {
		p.names.Clear()
		p.n.Store(1)
	}
	p.names.Store(name, struct{}{})
}

func (p *plainNames) forget(name string) { p.names.Delete(name) }

// ForgetPlain makes the next Lookup of a table look it up again.
func (r *Registry) ForgetPlain(name string) { r.plain.forget(name) }

// Reconsider makes the next requests look up tables again.
func (r *Registry) Reconsider(ctx context.Context, names []string) error {
	if err := r.Renew(ctx, 0); err != nil {
		return err
	}
	for _, name := range names {
		r.plain.forget(api.TableName(name))
	}
	return nil
}
