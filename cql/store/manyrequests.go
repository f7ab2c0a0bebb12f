// SPDX-License-Identifier: Apache-2.0

package store

import "context"

type wideKey struct{}

// Wide returns the context for the parts of a client's request that may need many requests. A
// store serves only a limited number of them at a time, from each client in turn. So single
// requests of other clients do not wait behind them.
func Wide(ctx context.Context) context.Context { return context.WithValue(ctx, wideKey{}, true) }

// IsWide reports whether a context comes from Wide.
func IsWide(ctx context.Context) bool { return ctx.Value(wideKey{}) != nil }
