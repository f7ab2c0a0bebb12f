// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"time"
)

// Changer changes the layout of one table through a door. The door carries the change out. An
// error says why something is refused, before it begins.
type Changer interface {
	// Plan returns what a change to a layout would take. It changes nothing.
	Plan(ctx context.Context, to Target) (Outlook, error)
	// Start begins a change.
	Start(ctx context.Context, to Target) (Status, error)
	// Status returns how far the change has come.
	Status(ctx context.Context) (Status, error)
	// Pause stops the mover; reads and writes go on.
	Pause(ctx context.Context) (Status, error)
	// Resume restarts the mover.
	Resume(ctx context.Context) (Status, error)
	// Rollback rolls back a change, if that is still possible.
	Rollback(ctx context.Context) (Status, error)
	// Finish ends the waits that serve only as a precaution.
	Finish(ctx context.Context) (Status, error)
	// Key gives one partition key a number of shards of its own.
	Key(ctx context.Context, key string, shards int) (Status, error)
	// Close ends the connection.
	Close()
}

// Target is the new layout of a table.
type Target struct {
	Shards int    // of each key; 0: a plain table
	Layout string // in place of Shards: options such as strategy=time bucket=1h shards=4
}

// Outlook is what a change would take.
type Outlook struct {
	Table string `json:"table"`
	From  int    `json:"from"` // shards; 0: a plain table
	To    int    `json:"to"`

	// These describe layouts of other strategies than calculated, whose shards are those of a part of a key.
	FromLayout string `json:"from_layout,omitempty"`
	ToLayout   string `json:"to_layout,omitempty"`

	Rows      int64   `json:"rows"`       // as far as the store can tell
	RowsMoved float64 `json:"rows_moved"` // expected, at most

	// These are what the change takes of a store that bills requests; 0 if not known.
	BytesMoved int64   `json:"bytes_moved,omitempty"`
	Requests   int64   `json:"requests,omitempty"`
	WriteUnits float64 `json:"write_units,omitempty"`
	ReadUnits  float64 `json:"read_units,omitempty"`

	Refused []string `json:"refused"` // why it is impossible; empty: it is possible
	Notes   []string `json:"notes"`   // what it costs, and what it does not preserve
}

// Status is the progress of a change of layout. Phase is the name of the step, or none if no
// change is under way; then the figures are those of the last change.
type Status struct {
	Table        string  `json:"table"`
	Phase        string  `json:"phase"`
	Key          string  `json:"key,omitempty"` // the only key that changes; empty: all keys
	Generation   int64   `json:"generation"`
	From         int     `json:"from"` // shards; the present number if no change is under way
	To           int     `json:"to"`
	FromLayout   string  `json:"from_layout,omitempty"` // of another strategy than calculated, in words
	ToLayout     string  `json:"to_layout,omitempty"`
	Keys         int     `json:"keys,omitempty"` // number of keys with a number of shards of their own
	Paused       bool    `json:"paused"`
	TakenBack    bool    `json:"taken_back,omitempty"` // another change follows that restores the old layout
	RowsTotal    int64   `json:"rows_total"`           // rows read so far, or the total once that is known
	RowsMoved    int64   `json:"rows_moved"`
	RowsVerified int64   `json:"rows_verified"`
	RowsToMove   int64   `json:"rows_to_move,omitempty"` // found when the change began
	StepDone     float64 `json:"step_done,omitempty"`    // part of the table that the pass of this step has gone over, 0 to 1
	Rate         int64   `json:"rate,omitempty"`         // rows read per second
	ETASeconds   int64   `json:"eta_seconds,omitempty"`  // until the end of the change, at this rate
	Problem      string  `json:"problem,omitempty"`      // why the change cannot continue

	// StoreMillis is the store's present response time to the mover. StoreQuietMillis is its
	// shortest. Clients use the same store.
	StoreMillis      float64 `json:"store_ms,omitempty"`
	StoreQuietMillis float64 `json:"store_quiet_ms,omitempty"`

	Began  time.Time `json:"began,omitzero"`   // start of the change that the figures describe
	Ended  time.Time `json:"ended,omitzero"`   // zero while the change is under way
	Result string    `json:"result,omitempty"` // ResultDone or ResultTakenBack, once it has ended
}

// These are the results of a change.
const (
	ResultDone      = "done"
	ResultTakenBack = "taken back"
)

// NoPhase is the Phase while no change is under way.
const NoPhase = "none"
