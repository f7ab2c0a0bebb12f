// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/observe"
	"github.com/evenkeel/evenkeel/observe/otlp"
)

// traceFlags are the flags of serve for tracing.
type traceFlags struct {
	OTLPEndpoint string  `name:"otlp-endpoint" placeholder:"URL" help:"OpenTelemetry collector that gets a span of each sampled request, with one child for each request to the store, by OTLP over HTTP: http://127.0.0.1:4318. Without it there are no spans."`
	OTLPSample   float64 `name:"otlp-sample" placeholder:"SHARE" default:"1" help:"Share of requests to sample, if their client does not decide it: 0.01 is one in a hundred (${default}, all)."`
}

// openTraces makes the exporter of spans if the flags ask for one, else returns nil.
func (s *serveCmd) openTraces(ctx context.Context, log *slog.Logger) (*otlp.Exporter, error) {
	switch {
	case s.OTLPEndpoint == "" && s.OTLPSample != 1 && s.OTLPSample != 0:
		return nil, withHint(errors.New("--otlp-sample is given, and no --otlp-endpoint"), "--otlp-endpoint http://127.0.0.1:4318 names a collector")
	case s.OTLPEndpoint == "":
		return nil, nil
	case s.OTLPSample == 0:
		return nil, withHint(errors.New("--otlp-sample: a share of 0 samples nothing"), "leave --otlp-endpoint out for no spans")
	}
	host, _ := os.Hostname() // without a name, the collector names the instance itself
	o := otlp.Options{Endpoint: s.OTLPEndpoint, Ratio: s.OTLPSample, Instance: host, Log: log}
	e, err := otlp.New(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("--otlp-endpoint, --otlp-sample: %w", err)
	}
	return e, nil
}

// closeTraces sends the spans that are still waiting.
func closeTraces(e *otlp.Exporter, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := e.Shutdown(ctx); err != nil {
		log.Warn("the last spans could not be sent", "error", err)
	}
}

// observe returns the observer of a door with these operations. system is the name of the door's
// protocol in OpenTelemetry's conventions.
func (s *serveCmd) observe(system string, operations []string) observe.Observer {
	o := observe.Observer{Requests: observe.NewRequests(operations)}
	if s.traces != nil {
		o.Tracer = s.traces.Tracer(system)
	}
	return o
}

// traceCollector reports the exporter's counts as metrics. It reads them at each scrape.
type traceCollector struct{ exporter *otlp.Exporter }

var spansDesc = prometheus.NewDesc("evenkeel_trace_spans_total", "Spans that the door has sent to the collector (sent), and those whose sending failed (failed).", []string{"outcome"}, nil)

// Describe implements prometheus.Collector.
func (traceCollector) Describe(ch chan<- *prometheus.Desc) { ch <- spansDesc }

// Collect implements prometheus.Collector.
func (c traceCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.exporter.Stats()
	ch <- prometheus.MustNewConstMetric(spansDesc, prometheus.CounterValue, float64(s.Sent), "sent")
	ch <- prometheus.MustNewConstMetric(spansDesc, prometheus.CounterValue, float64(s.Failed), "failed")
}
