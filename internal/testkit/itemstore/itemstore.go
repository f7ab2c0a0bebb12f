// SPDX-License-Identifier: Apache-2.0

// Package itemstore opens the embedded engine of items in memory while a test runs.
//
// It imports engine/dynamodb and engine/storage, so that any package above those may
// be tested with it.
package itemstore

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/engine/dynamodb"
	"github.com/evenkeel/evenkeel/engine/storage"
)

// Open opens an empty store. The test itself starts sweeps, whatever o says.
func Open(t testing.TB, o dynamodb.Options) *dynamodb.Store {
	t.Helper()
	db, err := storage.Open("d", storage.Options{FS: vfs.NewMem(), SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	o.SweepInterval = -1
	s, err := dynamodb.Open(db, o)
	if err != nil {
		t.Fatal(errors.Join(err, db.Close()))
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}
