// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"sync/atomic"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// silence is in place of an error if the store does not answer.
var silence = &wire.Error{}

// picky is a store that refuses some of the door's own messages.
type picky struct {
	store.Store
	refuse  func(wire.Message) *wire.Error // nil: the store takes the message
	refused atomic.Int64
}

type pickyLink struct {
	store.Forwarder
	of      *picky
	version wire.Version
}

func (r *picky) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := r.Store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &pickyLink{l.(store.Forwarder), r, o.Version}, nil
}

func (r *picky) MaxVersion(ctx context.Context) (wire.Version, error) {
	return r.Store.(store.Versioned).MaxVersion(ctx)
}

func (l *pickyLink) Send(ctx context.Context, m wire.Message, reply func(wire.Message)) {
	if e := l.of.refuse(m); e == silence {
		return
	} else if e != nil {
		l.of.refused.Add(1)
		reply(wire.Message{Op: wire.OpError, Body: e.Append(nil, l.version)})
		return
	}
	l.Forwarder.Send(ctx, m, reply)
}
