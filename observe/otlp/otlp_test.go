// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/internal/testkit/collector"
	"github.com/evenkeel/evenkeel/observe/otlp"
)

const (
	traceID  = "0af7651916cd43dd8448eb211c80319c"
	parentID = "b7ad6b7169203331"
)

func open(t *testing.T, o otlp.Options) *otlp.Exporter {
	t.Helper()
	e, err := otlp.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A span says what it is of, whose child it is, and how it ended.
func TestSpans(t *testing.T) {
	c := collector.Start(t)
	e := open(t, otlp.Options{Endpoint: c.URL, Instance: "door-1"})
	tracer := e.Tracer("cassandra")
	s := tracer.Start("select ks.t", "00-"+traceID+"-"+parentID+"-01", "")
	s.Child("store", []int{3, 4}).End("overloaded")
	s.Child("store", nil).End("")
	s.End("overloaded")
	if err := e.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := e.Stats(); got != (otlp.Stats{Sent: 3}) {
		t.Errorf("%+v", got)
	}
	if got := c.About("service.name") + " " + c.About("service.instance.id"); got != "evenkeel door-1" {
		t.Error(got)
	}
	of := c.Named("select ks.t")
	if len(of) != 1 || hex.EncodeToString(of[0].TraceId) != traceID || hex.EncodeToString(of[0].ParentSpanId) != parentID {
		t.Fatalf("%v", of)
	}
	for key, want := range map[string]string{"db.system.name": "cassandra", "db.operation.name": "select", "db.collection.name": "ks.t", "error.type": "overloaded"} {
		if got := collector.Attribute(of[0], key).GetStringValue(); got != want {
			t.Errorf("%s is %q, not %q", key, got, want)
		}
	}
	children := c.Children(of[0])
	if len(children) != 2 {
		t.Fatalf("%v", children)
	}
	if got := collector.Attribute(children[0], "evenkeel.shards").GetArrayValue().GetValues(); len(got) != 2 || got[0].GetIntValue() != 3 {
		t.Errorf("shards %v", got)
	}
}

// A client decides whether its request is sampled; where it says nothing, the share does.
func TestSampling(t *testing.T) {
	c := collector.Start(t)
	e := open(t, otlp.Options{Endpoint: c.URL, Ratio: 1e-9})
	tracer := e.Tracer("cassandra")
	for range 100 {
		if tracer.Start("select", "", "") != nil {
			t.Fatal("a request is sampled that was not to be")
		}
		if tracer.Start("select", "00-"+traceID+"-"+parentID+"-00", "") != nil {
			t.Fatal("a request is sampled whose client did not want that")
		}
	}
	if s := tracer.Start("select", "00-"+traceID+"-"+parentID+"-01", ""); s == nil {
		t.Error("a request is not sampled whose client wants that")
	}
	if s := tracer.Start("select", "nonsense\x00", strings.Repeat("x", 1<<16)); s != nil {
		t.Error("what is no traceparent counts as one")
	}
	if err := e.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// A collector that refuses costs spans, which are counted and said once.
func TestRefused(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }))
	defer s.Close()
	var log bytes.Buffer
	e := open(t, otlp.Options{Endpoint: s.URL, Log: slog.New(slog.NewTextHandler(&log, nil))})
	tracer := e.Tracer("cassandra")
	for range 1000 {
		tracer.Start("select", "", "").End("")
	}
	if err := e.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := e.Stats(); got.Sent != 0 || got.Failed != 1000 {
		t.Errorf("%+v", got)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "collector="+s.URL) {
		t.Errorf("%d lines: %s", n, log.String())
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []otlp.Options{{}, {Endpoint: "localhost:4318"}, {Endpoint: "ftp://h"}, {Endpoint: "http://h", Ratio: 2}, {Endpoint: "http://h", Ratio: -1}} {
		if _, err := otlp.New(t.Context(), o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
