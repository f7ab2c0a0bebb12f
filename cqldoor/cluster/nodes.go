// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// nodeLink is a link to one host.
type nodeLink struct {
	l *link
	c *conn
}

// Nodes implements store.NodesLink. It leaves out hosts that do not answer.
func (l *link) Nodes() (links []store.Link, all bool) {
	all = true
	live := l.p.live.Load()
	for _, h := range l.p.cluster.hostList() {
		c := live.of[h].pick()
		if c == nil || h.silent() {
			all = false
			continue
		}
		links = append(links, nodeLink{l, c})
	}
	return links, all
}

// Send implements store.Link.
func (n nodeLink) Send(ctx context.Context, req wire.Message, reply func(resp wire.Message)) {
	to := &replier{reply}
	switch {
	case ctx.Err() != nil:
		n.l.refuse(to, 0, whyGone)
	case !n.c.forward(req, to, 0):
		n.l.refuse(to, 0, whyTooMany)
	default:
		n.c.t.Flush()
	}
}

// Close implements store.Link.
func (n nodeLink) Close() {}
