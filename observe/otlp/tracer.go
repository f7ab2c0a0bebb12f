// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/evenkeel/evenkeel/observe"
)

// Options say where to send spans.
type Options struct {
	// Endpoint is the collector's URL, such as http://127.0.0.1:4318. If it has no path,
	// /v1/traces is added.
	Endpoint string

	// Ratio is the share of requests that are sampled, above 0 and up to 1. It applies to
	// requests whose client does not decide that. Default 1.
	Ratio float64

	// Instance distinguishes this process from others; may be empty.
	Instance string

	// Log receives, at most once a minute, the message that spans could not be sent. Default:
	// nothing is logged.
	Log *slog.Logger
}

// Validate returns an error if the options are wrong.
func (o Options) Validate() error {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is no URL of a collector; http://127.0.0.1:4318 is one", o.Endpoint)
	}
	if !(o.Ratio >= 0 && o.Ratio <= 1) {
		return fmt.Errorf("a share of %v cannot be sampled; 0.01 is one request in a hundred, 1 is all", o.Ratio)
	}
	return nil
}

// Exporter sends the spans of a process.
type Exporter struct {
	provider *sdk.TracerProvider
	sender   *sender
}

// New makes an Exporter. It sends nothing before the first span. The environment gives the
// headers, certificates and timeout of requests to the collector (OTEL_EXPORTER_OTLP_HEADERS and
// others).
func New(ctx context.Context, o Options) (*Exporter, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	u, _ := url.Parse(o.Endpoint) // Validate has parsed it
	if strings.TrimRight(u.Path, "/") == "" {
		u.Path = "/v1/traces"
	}
	client, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(u.String()))
	if err != nil {
		return nil, err
	}
	about := []attribute.KeyValue{attribute.String("service.name", "evenkeel")}
	if o.Instance != "" {
		about = append(about, attribute.String("service.instance.id", o.Instance))
	}
	s := &sender{SpanExporter: client, endpoint: u.Redacted(), log: o.Log}
	return &Exporter{sender: s, provider: sdk.NewTracerProvider(
		sdk.WithBatcher(s),
		sdk.WithResource(resource.NewSchemaless(about...)),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(cmp.Or(o.Ratio, 1)))),
	)}, nil
}

// Shutdown sends the waiting spans and ends. e may be nil.
func (e *Exporter) Shutdown(ctx context.Context) error {
	if e == nil {
		return nil
	}
	return e.provider.Shutdown(ctx)
}

// Stats holds numbers of spans since the start.
type Stats struct{ Sent, Failed int64 }

// Stats returns how many spans the collector has accepted, and how many could not be sent.
func (e *Exporter) Stats() Stats {
	return Stats{Sent: e.sender.sent.Load(), Failed: e.sender.failed.Load()}
}

// sender counts the spans that are sent, and logs failures.
type sender struct {
	sdk.SpanExporter
	endpoint     string
	log          *slog.Logger
	sent, failed atomic.Int64
	said         atomic.Int64 // when a failure was last logged, in observe.Now
}

// ExportSpans implements sdk.SpanExporter. Calls do not overlap.
func (s *sender) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := s.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		s.sent.Add(int64(len(spans)))
		return nil
	}
	s.failed.Add(int64(len(spans)))
	now, said := observe.Now(), s.said.Load()
	if s.log != nil && (said == 0 || now-said >= int64(time.Minute)) {
		s.said.Store(now)
		s.log.Warn("spans could not be sent and are lost", "collector", s.endpoint, "spans", len(spans), "error", err)
	}
	return nil // the failure has been logged
}

// Tracer makes the spans of the requests to one door. system is the door's protocol in
// OpenTelemetry's semantic conventions: cassandra, aws.dynamodb.
func (e *Exporter) Tracer(system string) observe.Tracer {
	return &tracer{e.provider.Tracer("github.com/evenkeel/evenkeel"), attribute.String("db.system.name", system)}
}

type tracer struct {
	tracer trace.Tracer
	system attribute.KeyValue
}

// Start implements observe.Tracer.
func (t *tracer) Start(name, traceparent, tracestate string) observe.Span {
	ctx := context.Background()
	if traceparent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent, "tracestate": tracestate})
	}
	ctx, s := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer))
	if !s.IsRecording() {
		return nil
	}
	s.SetAttributes(t.system)
	if operation, table, ok := strings.Cut(name, " "); ok {
		s.SetAttributes(attribute.String("db.operation.name", operation), attribute.String("db.collection.name", table))
	} else {
		s.SetAttributes(attribute.String("db.operation.name", operation))
	}
	return &span{t, ctx, s}
}

type span struct {
	t    *tracer
	ctx  context.Context // the span's context, for its children
	span trace.Span
}

// Child implements observe.Span.
func (s *span) Child(name string, shards []int) observe.Span {
	ctx, c := s.t.tracer.Start(s.ctx, name, trace.WithSpanKind(trace.SpanKindClient))
	c.SetAttributes(s.t.system)
	if len(shards) > 0 {
		c.SetAttributes(attribute.IntSlice("evenkeel.shards", shards))
	}
	return &span{s.t, ctx, c}
}

// End implements observe.Span.
func (s *span) End(code string) {
	if code != "" {
		s.span.SetAttributes(attribute.String("error.type", code))
		s.span.SetStatus(codes.Error, code)
	}
	s.span.End()
}
