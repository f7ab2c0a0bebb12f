// SPDX-License-Identifier: Apache-2.0

// Package otlp sends the spans of requests to an OpenTelemetry collector: OTLP over HTTP,
// by OpenTelemetry's own exporter.
//
// It promises:
//
//  1. A request that is not sampled costs no span: Start returns nil.
//  2. Spans wait in a bounded queue. When the collector is slow or away, spans are
//     dropped; requests never wait for it.
//  3. What a client says of its own span (W3C Trace Context) is the parent, and decides
//     whether the request is sampled.
//
// It imports observe.
package otlp
