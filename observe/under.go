// SPDX-License-Identifier: Apache-2.0

package observe

import "context"

// Under is a request under way, as far as what it asks of the store is concerned.
type Under struct {
	Fan  Fan
	Span Span // nil where none is told

	// Told gets the error of each request to the store that fails, from several
	// goroutines; nil: nobody wants them. It is set before the first.
	Told func(err error)
}

type underKey struct{}

// With returns a context that tells of a request under way.
func With(ctx context.Context, u *Under) context.Context {
	return context.WithValue(ctx, underKey{}, u)
}

// Of is the request under way that a context tells of; nil where there is none.
func Of(ctx context.Context) *Under {
	u, _ := ctx.Value(underKey{}).(*Under)
	return u
}

// Asks counts a request to the store, and begins its span; u may be nil. The caller
// calls done with the code of the error that it was answered with.
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

// Fails tells of a request to the store that has failed; u may be nil.
func (u *Under) Fails(err error) {
	if u != nil && u.Told != nil {
		u.Told(err)
	}
}

func nothing(string) {}
