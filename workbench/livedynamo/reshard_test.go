// SPDX-License-Identifier: Apache-2.0

package livedynamo_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/reshard"
	"github.com/evenkeel/evenkeel/workbench/livedynamo"
)

// TestReshardOfALargeTable checks that an order waits for as long as the door reads the table, and
// that no other request does.
func TestReshardOfALargeTable(t *testing.T) {
	direct := stores(t)["engine"]
	invoices(t, direct, "Invoices", map[string]string{"write-sharding": "shards=2"}, nil)
	at, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	const limit = 500 * time.Millisecond
	through := httputil.NewSingleHostReverseProxy(at)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Reshard") {
			time.Sleep(2 * limit)
		}
		through.ServeHTTP(w, r)
	}))
	defer slow.Close()
	table, err := livedynamo.Open(t.Context(), livedynamo.Address{Endpoint: slow.URL, Table: "Invoices"}, livedynamo.Options{Timeout: limit})
	if err != nil {
		t.Fatal(err)
	}
	r := table.Reshard()
	defer r.Close()
	if o, err := r.Plan(t.Context(), reshard.Target{Shards: 5}); err != nil || len(o.Refused) > 0 {
		t.Errorf("plan: %v %v", o, err)
	}
	if s, err := r.Start(t.Context(), reshard.Target{Shards: 5}); err != nil || s.Phase != "looking" {
		t.Errorf("start: %v %v", s, err)
	}
	if _, err := r.Status(t.Context()); err == nil {
		t.Error("a status waits without a limit")
	}
}
