// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"errors"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/internal/testkit/itemstore"
	"github.com/evenkeel/evenkeel/registry"
)

// begun returns the catalogue of a store, and its entry of a table that is being created.
func begun(t *testing.T) (*Catalog, *Entry) {
	t.Helper()
	c := New(itemstore.Open(t, dynamodb.Options{}), time.Now)
	e, err := c.Begin(t.Context(), Entry{Table: "Tab", Physical: "Tab", Layout: layout(t), Hash: "h", HashType: "S"})
	if err != nil {
		t.Fatal(err)
	}
	return c, e
}

func state(t *testing.T, c *Catalog) registry.State {
	t.Helper()
	e, err := c.Get(t.Context(), "Tab")
	if err != nil {
		t.Fatal(err)
	}
	if e == nil {
		return ""
	}
	return e.State
}

func conditional(err error) bool {
	var e *exception.Error
	return errors.As(err, &e) && e.Kind == exception.ConditionalCheckFailed
}

// TestOneBegins checks that one of two doors that create a table succeeds.
func TestOneBegins(t *testing.T) {
	c, _ := begun(t)
	if _, err := c.Begin(t.Context(), Entry{Table: "Tab", Physical: "Tab", Layout: layout(t), Hash: "other", HashType: "S"}); !errors.Is(err, ErrExists) {
		t.Errorf("a second door begins: %v", err)
	}
	if e, err := c.Get(t.Context(), "Tab"); err != nil || e.Hash != "h" {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestStatesChangeOnce checks that an entry moves or disappears only from the state that the door
// knows, because another door may have changed it.
func TestStatesChangeOnce(t *testing.T) {
	c, creating := begun(t)
	active, err := c.Activate(t.Context(), creating, "id")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Activate(t.Context(), creating, "another id"); !conditional(err) {
		t.Errorf("it is activated twice: %v", err)
	}
	if err := c.Remove(t.Context(), creating); err != nil || state(t, c) != registry.Active {
		t.Errorf("an active entry is removed as one being made: %v, %s", err, state(t, c))
	}
	dropping, err := c.Drop(t.Context(), active)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Drop(t.Context(), active); !conditional(err) {
		t.Errorf("it is dropped twice: %v", err)
	}
	if err := c.Keep(t.Context(), dropping); err != nil || state(t, c) != registry.Active {
		t.Errorf("it is not kept: %v", err)
	}
	if err := c.MarkDeleted(t.Context(), dropping); !conditional(err) {
		t.Errorf("a table that was kept is buried: %v", err)
	}
	if err := c.Remove(t.Context(), active); err != nil || state(t, c) != "" {
		t.Errorf("it is not removed: %v", err)
	}
}

// TestSettle settles an entry whose table was being created.
func TestSettle(t *testing.T) {
	for action, want := range map[registry.Action]registry.State{registry.Keep: registry.Creating, registry.Remove: "", registry.Activate: registry.Active} {
		c, creating := begun(t)
		e, err := c.Settle(t.Context(), creating, action, "id")
		if err != nil || state(t, c) != want || (e == nil) != (want == "") || want == registry.Active && e.ID != "id" {
			t.Errorf("%d: %+v, %v, %q, not %q", action, e, err, state(t, c), want)
		}
	}
}

// TestOldEntriesAreNotWritten checks that a door with an old copy of an entry cannot write it back.
func TestOldEntriesAreNotWritten(t *testing.T) {
	c, creating := begun(t)
	old, err := c.Activate(t.Context(), creating, "id")
	if err != nil {
		t.Fatal(err)
	}
	next := *old
	next.Filling = map[string]bool{"ix": true}
	if _, err := c.Change(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Drop(t.Context(), old); !conditional(err) {
		t.Errorf("an old entry is written: %v", err)
	}
	if e, err := c.Get(t.Context(), "Tab"); err != nil || e.State != registry.Active || !e.Filling["ix"] {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestStreamsAreKeptFromTheLastAttempt checks that a stream's time begins when its table is
// deleted, not at an attempt that failed. The stream of an earlier table of the name stays
// unchanged.
func TestStreamsAreKeptFromTheLastAttempt(t *testing.T) {
	at := time.Now()
	c := New(itemstore.Open(t, dynamodb.Options{}), func() time.Time { return at })
	e, err := c.Begin(t.Context(), Entry{Table: "Tab", Physical: "Tab", Layout: layout(t), Hash: "h", HashType: "S"})
	if err != nil {
		t.Fatal(err)
	}
	if e, err = c.Activate(t.Context(), e, "id"); err != nil {
		t.Fatal(err)
	}
	later := *e
	later.ID, later.Hash = "other", "x"
	for range 2 {
		for _, of := range []*Entry{e, &later} {
			if err := c.KeepStream(t.Context(), "Tab/stream/1", of); err != nil {
				t.Fatal(err)
			}
		}
		at = at.Add(20 * time.Hour)
		if err := c.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s, err := c.Stream(t.Context(), "Tab/stream/1"); err != nil || s == nil || s.Hash != "h" {
			t.Errorf("the stream is kept as %+v, %v", s, err)
		}
	}
}

// TestAChangeThatEarlierDoorsDoNotKnow checks that the catalogue stores the change of a table with
// indexes or a stream under a step that doors of release 0.2.0 do not know, and that it reads the
// original step.
func TestAChangeThatEarlierDoorsDoNotKnow(t *testing.T) {
	c, creating := begun(t)
	e, err := c.Activate(t.Context(), creating, "id")
	if err != nil {
		t.Fatal(err)
	}
	for _, beyond := range []bool{false, true} {
		next := *e
		next.Change = &Change{Step: "looking", Shards: 8, Beyond: beyond}
		if e, err = c.Change(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		var stored struct{ Item *item }
		if err := c.call(t.Context(), "GetItem", map[string]any{"TableName": Table, "Key": map[string]any{"table": text{"Tab"}}}, &stored); err != nil {
			t.Fatal(err)
		}
		if step := stored.Item.Change.M.Step.S; (step != "looking") != beyond {
			t.Errorf("beyond %v: step %q is stored", beyond, step)
		}
		if got, err := c.Get(t.Context(), "Tab"); err != nil || *got.Change != *next.Change {
			t.Errorf("%+v is read as %+v (%v)", next.Change, got.Change, err)
		}
	}
}
