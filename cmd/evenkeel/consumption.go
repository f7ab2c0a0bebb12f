// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/engine/cassandra"
	"github.com/evenkeel/evenkeel/engine/throughput"
)

// consumptionCollector reports, for each table, what an engine's limits let through and what they
// refused. It reads the figures at each scrape.
type consumptionCollector struct {
	consumption         func() []throughput.Consumption
	indexes             bool // indexes of a table have limits of their own
	consumed, throttled *prometheus.Desc
}

// newConsumptionCollector returns the collector of one door. The names of its metrics begin with
// prefix.
func newConsumptionCollector(prefix string, indexes bool, consumption func() []throughput.Consumption) *consumptionCollector {
	labels := []string{"table", "operation"}
	if indexes {
		labels = []string{"table", "index", "operation"}
	}
	return &consumptionCollector{
		consumption: consumption, indexes: indexes,
		consumed:  prometheus.NewDesc(prefix+"consumed_units_total", "Read and write units that requests consumed.", labels, nil),
		throttled: prometheus.NewDesc(prefix+"throttled_total", "Requests, and parts of batches, that a limit refused. A request that exceeded several limits counts for each.", append(labels[:len(labels):len(labels)], "reason"), nil),
	}
}

// consumptionOf returns the collectors of the engines that apply limits.
func consumptionOf(cql *cqlSide, dynamo *dynamoDB, s *serveCmd) (all []prometheus.Collector) {
	if cql != nil && s.limits(likeKeyspaces) != nil {
		if e, ok := cql.store.(*cassandra.Engine); ok {
			all = append(all, newConsumptionCollector("evenkeel_cql_", false, e.Consumption))
		}
	}
	if dynamo != nil && dynamo.items != nil && s.limits(likeDynamoDB) != nil {
		all = append(all, newConsumptionCollector("evenkeel_dynamodb_", true, dynamo.items.Consumption))
	}
	return all
}

// Describe implements prometheus.Collector.
func (c *consumptionCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.consumed
	ch <- c.throttled
}

// Collect implements prometheus.Collector.
func (c *consumptionCollector) Collect(ch chan<- prometheus.Metric) {
	for _, of := range c.consumption() {
		for _, op := range []throughput.Op{throughput.Read, throughput.Write} {
			total := of.Read
			if op == throughput.Write {
				total = of.Write
			}
			labels := []string{of.Table}
			if c.indexes {
				labels = append(labels, of.Index)
			}
			labels = append(labels, strings.ToLower(op.String()))
			ch <- prometheus.MustNewConstMetric(c.consumed, prometheus.CounterValue, total.Units, labels...)
			for _, t := range total.Throttled {
				ch <- prometheus.MustNewConstMetric(c.throttled, prometheus.CounterValue, float64(t.Requests), append(labels[:len(labels):len(labels)], t.Reason())...)
			}
		}
	}
}
