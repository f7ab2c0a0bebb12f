// SPDX-License-Identifier: Apache-2.0

package principal

import "context"

// Principal identifies the rights of a request. The zero Principal is the door itself, whose
// requests belong to no client.
type Principal struct {
	// ID is the principal's name: the access key's id. It also has the session's token or the like
	// if sessions differ only in that. It stays the same as long as the rights do.
	ID string
}

// String returns the principal for people.
func (p Principal) String() string {
	if p.ID == "" {
		return "the door"
	}
	return p.ID
}

type key struct{}

// With returns a context for requests of p.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, key{}, p)
}

// Of returns the principal of a context's requests, or the zero Principal if there is none.
func Of(ctx context.Context) Principal {
	p, _ := ctx.Value(key{}).(Principal)
	return p
}
