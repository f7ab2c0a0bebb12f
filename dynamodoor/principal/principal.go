// SPDX-License-Identifier: Apache-2.0

package principal

import "context"

// Principal is whose rights a request has. The zero Principal is the door itself,
// whose requests are those of no client.
type Principal struct {
	// ID names it: the access key's id, or that and what else tells sessions apart.
	// It stays the same for as long as the rights do.
	ID string
}

// String is the principal for people.
func (p Principal) String() string {
	if p.ID == "" {
		return "the door"
	}
	return p.ID
}

type key struct{}

// With returns a context of requests that p makes.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, key{}, p)
}

// Of returns who makes the requests of a context; the zero Principal where it does
// not say.
func Of(ctx context.Context) Principal {
	p, _ := ctx.Value(key{}).(Principal)
	return p
}
