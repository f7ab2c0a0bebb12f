// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/evenkeel/evenkeel/cqldoor"
	"github.com/evenkeel/evenkeel/workbench/page"
	"github.com/evenkeel/evenkeel/workbench/serverpage"
)

// health is the HTTP server of serve. It serves /metrics, /ready (whether clients may be sent
// here), /live (whether the process answers), /server (a page of the server's figures), and the
// workbench's page.
type health struct {
	ready atomic.Bool
	page  *page.Page
}

func newHealth() *health { return &health{page: page.New(page.Options{Hint: adviseHint})} }

// serve answers requests on ln until stop is called.
func (h *health) serve(ln net.Listener, doors []prometheus.Collector, failed chan<- error) (stop func()) {
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	reg.MustRegister(doors...)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /live", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "live\n") })
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if !h.ready.Load() {
			http.Error(w, "not ready: starting or shutting down", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ready\n")
	})
	now := serverpage.New(reg, time.Now)
	mux.Handle("/server", now)
	mux.Handle("/server/", now)
	mux.Handle("/", h.page)
	ctx, left := context.WithCancel(context.Background())
	go h.page.Expire(ctx)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serve metrics: %w", err)
		}
	}()
	return func() {
		left()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = srv.Shutdown(ctx) // requests that take longer than a second are cut off
		_ = srv.Close()
	}
}

// doorMetrics are the metrics of the CQL door's connections and requests.
var doorMetrics = []countMetric[cqldoor.Stats]{
	{desc("connections", "Client connections that are open."), prometheus.GaugeValue, func(s *cqldoor.Stats) float64 { return float64(s.Connections) }},
	{desc("connections_accepted_total", "Client connections accepted."), prometheus.CounterValue, func(s *cqldoor.Stats) float64 { return float64(s.Accepted) }},
	{desc("connections_refused_total", "Client connections over the limit."), prometheus.CounterValue, func(s *cqldoor.Stats) float64 { return float64(s.Refused) }},
	{desc("connections_malformed_total", "Malformed frames and messages received."), prometheus.CounterValue, func(s *cqldoor.Stats) float64 { return float64(s.Malformed) }},
	{desc("connections_unread_total", "Client connections closed because the client had stopped reading."), prometheus.CounterValue, func(s *cqldoor.Stats) float64 { return float64(s.Slow) }},
	{desc("requests_total", "QUERY, PREPARE, EXECUTE and BATCH messages."), prometheus.CounterValue, func(s *cqldoor.Stats) float64 { return float64(s.Requests) }},
	{desc("requests_routed_total", "Requests that were not forwarded unchanged."), prometheus.CounterValue, func(s *cqldoor.Stats) float64 { return float64(s.Routed) }},
	{desc("requests_in_flight", "Requests under way, also those of clients that have gone."), prometheus.GaugeValue, func(s *cqldoor.Stats) float64 { return float64(s.InFlight) }},
	{desc("requests_overloaded_total", "Requests that the door refused because of a limit of its own."), prometheus.CounterValue, func(s *cqldoor.Stats) float64 { return float64(s.Overloaded) }},
	{desc("panics_total", "Requests that failed for a bug."), prometheus.CounterValue, func(s *cqldoor.Stats) float64 { return float64(s.Panics) }},
}

func desc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("evenkeel_cql_"+name, help, nil, nil)
}
