// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"log/slog"
	mathrand "math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/cql/store"
	"github.com/evenkeel/evenkeel/cql/wire"
)

// scanless is a store that leaves reads of the whole catalogue unanswered, as a node does that waits for
// another one which has just died.
type scanless struct {
	store.Store
	left atomic.Int64 // so many more are not answered
	seen chan struct{}
}

func (s *scanless) MaxVersion(ctx context.Context) (wire.Version, error) {
	return s.Store.(store.Versioned).MaxVersion(ctx)
}

func (s *scanless) Open(ctx context.Context, o store.LinkOptions) (store.Link, error) {
	l, err := s.Store.Open(ctx, o)
	if err != nil || !o.Own {
		return l, err
	}
	return scanlessLink{l, s}, nil
}

type scanlessLink struct {
	store.Link
	of *scanless
}

func (l scanlessLink) Send(ctx context.Context, req wire.Message, reply func(wire.Message)) {
	scan := bytes.Contains(req.Body, []byte(" FROM evenkeel.layouts")) && !bytes.Contains(req.Body, []byte(" WHERE "))
	if scan && l.of.left.Add(-1) >= 0 {
		l.of.seen <- struct{}{}
		return
	}
	l.Link.Send(ctx, req, reply)
}

// TestLeaseDoesNotWaitForTheCatalogue checks that a door renews its lease while a read of the whole
// catalogue gets no answer, and that it sends such a read again.
func TestLeaseDoesNotWaitForTheCatalogue(t *testing.T) {
	st := &scanless{Store: embedded(t), seen: make(chan struct{}, 100)}
	r := New(Options{Lease: 2 * time.Second, Store: st, Now: time.Now, Timeuuid: random, UUID: random, IntN: mathrand.IntN, Log: slog.New(slog.DiscardHandler)})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	if err := r.schema.Catalog.Found(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.schema.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}

	st.left.Store(1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := r.schema.Refresh(ctx); err != nil {
		t.Fatalf("the door has not read the catalogue, of which one read had no answer: %v", err)
	}
	<-st.seen

	st.left.Store(100)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- r.schema.Refresh(ctx) }()
	<-st.seen
	if err := r.schema.RenewLease(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("the renewal has waited for the read of the catalogue (%v)", err)
	default:
	}
	cancel()
	if err := <-ended; err == nil {
		t.Fatal("the catalogue was read without an answer")
	}
}
