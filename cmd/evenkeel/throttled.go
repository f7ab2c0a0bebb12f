// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/dynamodoor/throttling"
)

// throttleCollector reports what the store throttles as metrics. It reads the counts at each
// scrape.
type throttleCollector struct{ store *throttling.Store }

var (
	storeThrottled = prometheus.NewDesc("evenkeel_dynamodb_store_throttled_total",
		"How often the store throttled requests, by cause: partition (a hot key), table (its provisioned throughput), account (its quota, or an on-demand table's maximum), untold (no reason given). Requests that the door tried again count, too.",
		[]string{"table", "index", "operation", "cause"}, nil)
	storeThrottledKeys = prometheus.NewDesc("evenkeel_dynamodb_store_throttled_keys_total",
		"The same by partition key, of the keys that were throttled most often. The key is a hash without --show-keys.",
		[]string{"table", "index", "operation", "cause", "key"}, nil)
)

// Describe implements prometheus.Collector.
func (throttleCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- storeThrottled
	ch <- storeThrottledKeys
}

// Collect implements prometheus.Collector.
func (c throttleCollector) Collect(ch chan<- prometheus.Metric) {
	none := map[throttling.What]bool{} // shown as 0 from the start, because Prometheus sees no increase when a series first appears
	for _, cause := range throttling.Causes {
		none[throttling.What{Cause: cause}], none[throttling.What{Cause: cause, Write: true}] = true, true
	}
	operation := map[bool]string{false: "read", true: "write"}
	for _, t := range c.store.Tables() {
		if t.Table == "" {
			delete(none, t.What)
		}
		ch <- prometheus.MustNewConstMetric(storeThrottled, prometheus.CounterValue, float64(t.Times), t.Table, t.Index, operation[t.Write], t.Cause.String())
	}
	for w := range none {
		ch <- prometheus.MustNewConstMetric(storeThrottled, prometheus.CounterValue, 0, "", "", operation[w.Write], w.Cause.String())
	}
	for _, k := range c.store.Keys() {
		ch <- prometheus.MustNewConstMetric(storeThrottledKeys, prometheus.CounterValue, float64(k.Times), k.Table, k.Index, operation[k.Write], k.Cause.String(), k.Key)
	}
}
