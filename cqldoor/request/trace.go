// SPDX-License-Identifier: Apache-2.0

package request

import (
	"fmt"
	"slices"

	"github.com/evenkeel/evenkeel/cql/wire"
)

// If the client asks for a trace of its request, the door asks the store for a trace of each request that
// it sends. The client gets the id of the first trace that the store returns.

// hear collects the warnings and the trace of a response, and removes them from it.
func (e *Coordinator) hear(resp wire.Message) wire.Message {
	if resp.Flags&(wire.FlagTracing|wire.FlagWarning|wire.FlagCustomPayload) == 0 {
		return resp
	}
	p, body, err := wire.SplitPrefix(resp.Op, resp.Flags, resp.Body)
	if err != nil {
		return resp // the reader will find the same fault
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tracing == nil && p.TracingID != nil {
		e.tracing = slices.Clone(p.TracingID)
	}
	for _, w := range p.WarningList() {
		if w = e.told(w); w != "" {
			e.warn(w)
		}
	}
	return wire.Message{Op: resp.Op, Body: body}
}

// prefix returns what is sent with the answer: the given warnings and those collected.
func (e *Coordinator) prefix(first []string) (p wire.Prefix) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := slices.Clone(first)
	for _, w := range e.warnings {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	if e.dropped > 0 {
		all = append(all, fmt.Sprintf("evenkeel: %d further warnings of other shards are left out", e.dropped))
	}
	if len(all) > 0 {
		p.Warnings = wire.AppendStringList(nil, all)
	}
	p.TracingID = e.tracing
	return p
}
