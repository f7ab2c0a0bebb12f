// SPDX-License-Identifier: Apache-2.0

package observe

import "context"

// Under is a client's request under way that sends requests to the store.
type Under struct {
	Fan  Fan
	Span Span // nil: no span

	// Told is called with the error of each failed request to the store, from several goroutines;
	// nil: not called. It is set before the first request.
	Told func(err error)
}

type underKey struct{}

// With returns a context that carries a request under way.
func With(ctx context.Context, u *Under) context.Context {
	return context.WithValue(ctx, underKey{}, u)
}

// Of returns the request under way of a context, or nil.
func Of(ctx context.Context) *Under {
	u, _ := ctx.Value(underKey{}).(*Under)
	return u
}

// Asks counts a request to the store and begins its span. u may be nil. The caller calls done
// with the code of the error that was the answer.
func (u *Under) Asks(name string, shards []int) (done func(code string)) {
	if u == nil {
		return nothing
	}
	u.Fan.Requests.Add(1)
	if u.Span == nil {
		return nothing
	}
	return u.Span.Child(name, shards).End
}

// Fails reports a failed request to the store. u may be nil.
func (u *Under) Fails(err error) {
	if u != nil && u.Told != nil {
		u.Told(err)
	}
}

func nothing(string) {}
