// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/evenkeel/evenkeel/dynamo/exception"
	"github.com/evenkeel/evenkeel/engine/storage"
	"github.com/evenkeel/evenkeel/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// opened is a store in memory with its database.
type opened struct {
	*Store
	db *storage.DB
}

// open opens the store in fs. The test itself starts sweeps.
func open(t testing.TB, fs vfs.FS, o Options) *opened {
	t.Helper()
	db, err := storage.Open("d", storage.Options{FS: fs, MemTableBytes: 1 << 20, SweepInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	o.SweepInterval = -1
	s, err := Open(db, o)
	if err != nil {
		t.Fatal(errors.Join(err, db.Close()))
	}
	return &opened{s, db}
}

func (o *opened) close(t testing.TB) {
	t.Helper()
	if err := errors.Join(o.Store.Close(), o.db.Close()); err != nil {
		t.Error(err)
	}
}

// start opens a store on its own file system for the life of the test.
func start(t testing.TB, options ...Options) *opened {
	t.Helper()
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	s := open(t, vfs.NewMem(), o)
	t.Cleanup(func() { s.close(t) })
	return s
}

// do carries out an operation and returns the answer's JSON.
func (o *opened) do(operation, body string) (map[string]any, error) {
	text, err := o.Do(context.Background(), operation, []byte(body), nil)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	var m map[string]any
	return m, json.Unmarshal(text, &m)
}

// must carries out an operation that cannot fail.
func (o *opened) must(t testing.TB, operation, body string) map[string]any {
	t.Helper()
	m, err := o.do(operation, body)
	if err != nil {
		t.Fatalf("%s %s: %v", operation, body, err)
	}
	return m
}

// try is for goroutines: it does what must does.
func (o *opened) try(t testing.TB, operation, body string) map[string]any {
	m, err := o.do(operation, body)
	if err != nil {
		t.Errorf("%s %s: %v", operation, body, err)
	}
	return m
}

// fails checks that an operation fails with an error.
func (o *opened) fails(t testing.TB, kind exception.Kind, operation, body string) *exception.Error {
	t.Helper()
	_, err := o.do(operation, body)
	var e *exception.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("%s %s: %v, not %v", operation, body, err, kind)
	}
	return e
}

// await waits until f is true.
func await(t testing.TB, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after a minute: %s", what)
		}
	}
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
