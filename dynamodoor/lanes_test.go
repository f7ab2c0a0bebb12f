// SPDX-License-Identifier: Apache-2.0

package dynamodoor

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evenkeel/evenkeel/lane"
)

// stuck is a store whose Queries wait for the test, or for their clients to disconnect.
type stuck struct {
	began chan context.Context
	goOn  chan struct{}
}

func (stuck) Has(string) bool { return true }

func (s stuck) Do(ctx context.Context, operation string, _, dst []byte) ([]byte, error) {
	if operation != "Query" {
		return append(dst, "{}"...), nil
	}
	s.began <- ctx
	select {
	case <-s.goOn:
		return append(dst, "{}"...), nil
	case <-ctx.Done():
		return dst, ctx.Err()
	}
}

func askAs(d *Door, ctx context.Context, operation string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, "POST", "/", strings.NewReader("{}"))
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Authorization", signed)
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

// TestLongRequestsLeaveRoom checks that a client whose long requests fill its part of the door
// delays neither its own short requests nor another client's long ones. A request whose client has
// gone leaves the queue. A request that can no longer be answered in time is ended.
func TestLongRequestsLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stuck{make(chan context.Context, 10), make(chan struct{})}
		d, err := New(Options{Store: s, MaxInFlight: 4})
		if err != nil {
			t.Fatal(err)
		}
		crowd, other := lane.With(t.Context(), new(lane.Client)), lane.With(t.Context(), new(lane.Client))
		done := make(chan int, 10)
		query := func(ctx context.Context) { done <- askAs(d, ctx, "Query").Code }
		go query(crowd)
		<-s.began
		leaving, leave := context.WithCancel(crowd)
		go query(leaving)
		synctest.Wait()
		if len(s.began) > 0 {
			t.Fatal("one client has all places")
		}
		if w := askAs(d, crowd, "GetItem"); w.Code != 200 {
			t.Errorf("GetItem behind a Query: %d", w.Code)
		}
		go query(other)
		<-s.began
		leave()
		synctest.Wait()
		if len(done) != 1 || len(s.began) != 0 {
			t.Errorf("%d are answered: a request whose client has gone waits on", len(done))
		}
		time.Sleep(answerWithin)
		synctest.Wait()
		if len(done) != 3 {
			t.Errorf("%d of 3 are ended after %v", len(done), answerWithin)
		}
		if n := d.Stats().InFlight; n != 0 {
			t.Errorf("%d requests in flight", n)
		}
	})
}

// TestConnectionsAreClients checks that each connection counts as a client.
func TestConnectionsAreClients(t *testing.T) {
	s := stuck{make(chan context.Context, 10), make(chan struct{})}
	close(s.goOn)
	d, err := New(Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.Serve(ln) }()
	way := lane.New(4, 2)
	var flows []*lane.Flow
	for range 2 {
		tr := &http.Transport{}
		for range 2 {
			r := request(t, "http://"+ln.Addr().String(), "{}")
			r.Header.Set("X-Amz-Target", "DynamoDB_20120810.Query")
			answer(t, &http.Client{Transport: tr}, r)
			flows = append(flows, way.FlowOf(<-s.began))
		}
		tr.CloseIdleConnections()
	}
	if flows[0] != flows[1] || flows[2] != flows[3] || flows[0] == flows[2] {
		t.Error("flows are not the connections'")
	}
	if err := d.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
