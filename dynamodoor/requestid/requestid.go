// SPDX-License-Identifier: Apache-2.0

// Package requestid brings the id that a store has given a forwarded request
// (x-amzn-RequestId) back to the door, through the request's context: it is what
// AWS's support asks for.
//
// It imports nothing of this module.
package requestid

import (
	"context"
	"sync/atomic"
)

// ID is where the id of one request is put. It is safe for concurrent use: who works
// for several requests may set it late.
type ID struct{ text atomic.Pointer[string] }

type key struct{}

// With returns a context whose request's id is put into id; nil is nowhere.
func With(ctx context.Context, id *ID) context.Context { return context.WithValue(ctx, key{}, id) }

// Set puts an id where the context says.
func Set(ctx context.Context, text string) {
	if id, _ := ctx.Value(key{}).(*ID); id != nil && text != "" {
		id.text.Store(&text)
	}
}

// Get returns the id that was put there last; empty if none was.
func (id *ID) Get() string {
	if text := id.text.Load(); text != nil {
		return *text
	}
	return ""
}
