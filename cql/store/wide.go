// SPDX-License-Identifier: Apache-2.0

package store

import "context"

type wideKey struct{}

// Wide returns the context of requests that are parts of one of a client's that may
// take many. A store serves so many of them at a time, of each client in turn, that
// single requests of others do not wait behind them.
func Wide(ctx context.Context) context.Context { return context.WithValue(ctx, wideKey{}, true) }

// IsWide reports whether a context is of Wide.
func IsWide(ctx context.Context) bool { return ctx.Value(wideKey{}) != nil }
