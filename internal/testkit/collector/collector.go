// SPDX-License-Identifier: Apache-2.0

// Package collector is an OpenTelemetry collector for tests. It receives spans by OTLP over HTTP
// and keeps them.
package collector

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector keeps the spans that were sent to it.
type Collector struct {
	URL string

	mu    sync.Mutex
	spans []*trace.Span
	about map[string]string
}

// Start starts a collector that listens until the test ends.
func Start(t *testing.T) *Collector {
	c := &Collector{about: map[string]string{}}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	c.URL = s.URL
	return c
}

// ServeHTTP receives spans.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	text, err := io.ReadAll(body)
	var req coltrace.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(text, &req)
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "not spans in OTLP", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range req.ResourceSpans {
		for _, a := range of.Resource.Attributes {
			c.about[a.Key] = a.Value.GetStringValue()
		}
		for _, in := range of.ScopeSpans {
			c.spans = append(c.spans, in.Spans...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// Spans returns the spans received so far.
func (c *Collector) Spans() []*trace.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*trace.Span(nil), c.spans...)
}

// About returns an attribute of the process that sent the spans.
func (c *Collector) About(key string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.about[key]
}

// Named returns the spans with a name.
func (c *Collector) Named(name string) (all []*trace.Span) {
	for _, s := range c.Spans() {
		if s.Name == name {
			all = append(all, s)
		}
	}
	return all
}

// Children returns the spans whose parent is s.
func (c *Collector) Children(s *trace.Span) (all []*trace.Span) {
	for _, child := range c.Spans() {
		if string(child.ParentSpanId) == string(s.SpanId) && string(child.TraceId) == string(s.TraceId) {
			all = append(all, child)
		}
	}
	return all
}

// Attribute returns a span's attribute, or nil if it has none with that key.
func Attribute(s *trace.Span, key string) *common.AnyValue {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value
		}
	}
	return nil
}
