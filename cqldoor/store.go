package cqldoor

import "github.com/evenkeel/evenkeel/cql/store"

// What the door fronts is declared in package cql/store, so that an
// implementation of it does not have to import the door.
type (
	// Store is store.Store.
	Store = store.Store
	// LinkOptions is store.LinkOptions.
	LinkOptions = store.LinkOptions
	// Link is store.Link.
	Link = store.Link
)
