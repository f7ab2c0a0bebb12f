// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/prometheus/client_golang/prometheus"

// countMetric is a metric without labels whose value is one field of S.
type countMetric[S any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(s *S) float64
}

// countCollector reports the counts of a door or a cache as metrics.
type countCollector[S any] struct {
	read    func() S
	metrics []countMetric[S]
}

// counts returns a collector that calls read once for each scrape.
func counts[S any](read func() S, metrics []countMetric[S]) prometheus.Collector {
	return countCollector[S]{read, metrics}
}

// Describe implements prometheus.Collector.
func (c countCollector[S]) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		ch <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c countCollector[S]) Collect(ch chan<- prometheus.Metric) {
	s := c.read()
	for _, m := range c.metrics {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.of(&s))
	}
}
