// SPDX-License-Identifier: Apache-2.0

// Package requestid carries the id that a store has given a forwarded request (x-amzn-RequestId)
// back to the door, through the request's context. AWS's support asks for that id.
//
// It imports nothing of this module.
package requestid

import (
	"context"
	"sync/atomic"
)

// ID receives the id of one request. It is safe for concurrent use, because a goroutine that serves
// several requests may set it late.
type ID struct{ text atomic.Pointer[string] }

type key struct{}

// With returns a context whose request's id is stored in id; nil: it is not stored.
func With(ctx context.Context, id *ID) context.Context { return context.WithValue(ctx, key{}, id) }

// Set stores an id in the context's ID.
func Set(ctx context.Context, text string) {
	if id, _ := ctx.Value(key{}).(*ID); id != nil && text != "" {
		id.text.Store(&text)
	}
}

// Get returns the id that was stored last, or "" if there is none.
func (id *ID) Get() string {
	if text := id.text.Load(); text != nil {
		return *text
	}
	return ""
}
