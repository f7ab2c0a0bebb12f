// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"time"
)

// Changer changes the layout of one table through a door, which carries the change out.
// Errors say why something is refused, before it has begun.
type Changer interface {
	// Plan says what a change to a layout would take, and changes nothing.
	Plan(ctx context.Context, to Target) (Outlook, error)
	// Start begins a change.
	Start(ctx context.Context, to Target) (Status, error)
	// Status is how far it has come.
	Status(ctx context.Context) (Status, error)
	// Pause stops the mover; reads and writes go on.
	Pause(ctx context.Context) (Status, error)
	// Resume has it go on.
	Resume(ctx context.Context) (Status, error)
	// Rollback takes a change back that can still be taken back.
	Rollback(ctx context.Context) (Status, error)
	// Finish ends the waits that are for the sake of caution only.
	Finish(ctx context.Context) (Status, error)
	// Key gives one partition key a number of shards of its own.
	Key(ctx context.Context, key string, shards int) (Status, error)
	// Close ends the connection.
	Close()
}

// Target is the layout that a table is to have.
type Target struct {
	Shards int // of each key; 0: a plain table
}

// Outlook is what a change would take.
type Outlook struct {
	Table     string  `json:"table"`
	From      int     `json:"from"` // shards; 0: a plain table
	To        int     `json:"to"`
	Rows      int64   `json:"rows"`       // as far as the store tells
	RowsMoved float64 `json:"rows_moved"` // expected, at most

	// What it takes of a store that bills by the request; 0 where that is not known.
	BytesMoved int64   `json:"bytes_moved,omitempty"`
	Requests   int64   `json:"requests,omitempty"`
	WriteUnits float64 `json:"write_units,omitempty"`
	ReadUnits  float64 `json:"read_units,omitempty"`

	Refused []string `json:"refused"` // why it cannot be done; empty: it can
	Notes   []string `json:"notes"`   // what it costs, and what it does not keep
}

// Status is how far a change of layout has come. Phase is none where there is none under
// way, else the step's name; the figures are then those of the last change.
type Status struct {
	Table        string `json:"table"`
	Phase        string `json:"phase"`
	Key          string `json:"key,omitempty"` // the one key that the change is of; empty: all
	Generation   int64  `json:"generation"`
	From         int    `json:"from"` // shards; the present ones where no change is under way
	To           int    `json:"to"`
	Keys         int    `json:"keys,omitempty"` // how many keys have a number of shards of their own
	Paused       bool   `json:"paused"`
	TakenBack    bool   `json:"taken_back,omitempty"` // another change follows, back to what was before
	RowsTotal    int64  `json:"rows_total"`           // looked at so far, or in all once that is known
	RowsMoved    int64  `json:"rows_moved"`
	RowsVerified int64  `json:"rows_verified"`
	RowsToMove   int64  `json:"rows_to_move,omitempty"` // that were found when the change began
	Rate         int64  `json:"rate,omitempty"`         // rows looked at in a second
	ETASeconds   int64  `json:"eta_seconds,omitempty"`  // until the end of the change, at this rate
	Problem      string `json:"problem,omitempty"`      // what keeps the change from going on

	// StoreMillis is how long the store takes to answer the mover, StoreQuietMillis how long
	// it took when it was least busy: requests of clients have the same store.
	StoreMillis      float64 `json:"store_ms,omitempty"`
	StoreQuietMillis float64 `json:"store_quiet_ms,omitempty"`

	Began  time.Time `json:"began,omitzero"`   // the change that the figures are of
	Ended  time.Time `json:"ended,omitzero"`   // zero while it is under way
	Result string    `json:"result,omitempty"` // ResultDone or ResultTakenBack, once it has ended
}

// What has become of a change.
const (
	ResultDone      = "done"
	ResultTakenBack = "taken back"
)

// NoPhase is the Phase where no change is under way.
const NoPhase = "none"
