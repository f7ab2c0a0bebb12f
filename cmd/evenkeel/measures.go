// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	sharded "github.com/evenkeel/evenkeel/cqldoor/run"
	"github.com/evenkeel/evenkeel/observe"
	"github.com/evenkeel/evenkeel/observe/exposition"
)

// measures returns the collectors of the CQL door's requests, router and hosts.
func (c *cqlSide) measures() []prometheus.Collector {
	all := []prometheus.Collector{exposition.New("evenkeel_cql", c.observe.Requests)}
	if c.router != nil {
		all = append(all, routerCollector{c.router}, changesOf("evenkeel_cql", c.router.Changes))
	}
	if cl, ok := c.store.(*cluster.Cluster); ok {
		all = append(all, hostCollector{cl})
	}
	return all
}

// routerCollector reports the router's figures as metrics. It reads them at each scrape.
type routerCollector struct{ router *sharded.Router }

var (
	changingDesc   = prometheus.NewDesc("evenkeel_cql_tables_changing", "Sharded tables whose creation, removal or change of shards has begun and not ended. If a table stays here, a door has left it half-done.", []string{"change"}, nil)
	preparedDesc   = prometheus.NewDesc("evenkeel_cql_plan_cache_entries", "Statements that the door remembers: those that clients prepared, those that they sent as text, and its own on shards.", []string{"cache"}, nil)
	generationDesc = prometheus.NewDesc("evenkeel_cql_layout_generation", "Generation of the layout that the door uses for a sharded table. Doors that agree have the same.", []string{"table"}, nil)
	routerMetrics  = []countMetric[sharded.Stats]{
		{desc("sharded_tables", "Sharded tables that the door serves."), prometheus.GaugeValue, func(s *sharded.Stats) float64 { return float64(s.ShardedTables) }},
		{desc("cursor_errors_total", "Requests whose paging state was damaged or belonged to another statement."), prometheus.CounterValue, func(s *sharded.Stats) float64 { return float64(s.CursorErrors) }},
		{desc("prepared_statements_bytes", "Memory, in bytes, that the statements prepared by clients take, approximately."), prometheus.GaugeValue, func(s *sharded.Stats) float64 { return float64(s.PreparedBytes) }},
		{desc("lease_seconds", "How long the door may use what it has read about tables; 0 if no other door is on the store."), prometheus.GaugeValue, func(s *sharded.Stats) float64 { return s.Lease }},
		{desc("lease_remaining_seconds", "How much of that time is left. If negative, the time is over, and statements on sharded tables wait."), prometheus.GaugeValue, func(s *sharded.Stats) float64 { return s.LeaseLeft }},
	}
)

// Describe implements prometheus.Collector.
func (routerCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- changingDesc
	ch <- preparedDesc
	ch <- generationDesc
	for _, m := range routerMetrics {
		ch <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c routerCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.router.Stats()
	gauge := func(d *prometheus.Desc, label string, n int) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), label)
	}
	gauge(changingDesc, "creating", s.Changing.Creating)
	gauge(changingDesc, "dropping", s.Changing.Dropping)
	gauge(changingDesc, "resharding", s.Changing.Resharding)
	for _, l := range s.Layouts[:min(len(s.Layouts), observe.MaxTables)] {
		ch <- prometheus.MustNewConstMetric(generationDesc, prometheus.GaugeValue, float64(l.Generation), l.Table)
	}
	gauge(preparedDesc, "prepared", s.Prepared)
	gauge(preparedDesc, "text", s.Texts)
	gauge(preparedDesc, "shard", s.Physicals)
	for _, m := range routerMetrics {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.of(&s))
	}
}

// hostCollector reports the hosts of a cluster as metrics. It reads them at each scrape.
type hostCollector struct{ cluster *cluster.Cluster }

var (
	hostUp          = prometheus.NewDesc("evenkeel_cql_backend_up", "Whether the door has a connection to a host of the cluster.", []string{"host"}, nil)
	hostConnections = prometheus.NewDesc("evenkeel_cql_backend_connections", "Connections to a host of the cluster.", []string{"host"}, nil)
	hostSilent      = prometheus.NewDesc("evenkeel_cql_backend_silent", "Whether a host of the cluster has answered none of its requests for a second. The door then prefers other hosts.", []string{"host"}, nil)
	storeHedges     = prometheus.NewDesc("evenkeel_store_hedges_total", "Reads of shards that a host was slow to answer. The door sent some to a second host, whose answer came first (won), second (lost), or had no result either (failed). It did not send others, because of the limit (over_budget) or because it could reach no other host (nowhere).", []string{"outcome"}, nil)
	hostInFlight    = prometheus.NewDesc("evenkeel_cql_backend_requests_in_flight", "Requests that a host of the cluster has not answered yet.", []string{"host"}, nil)
)

// Describe implements prometheus.Collector.
func (hostCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- hostUp
	ch <- hostConnections
	ch <- hostInFlight
	ch <- hostSilent
	ch <- storeHedges
}

// Collect implements prometheus.Collector.
func (c hostCollector) Collect(ch chan<- prometheus.Metric) {
	for _, h := range c.cluster.HostStats() {
		up := 0.0
		if h.Connections > 0 {
			up = 1
		}
		ch <- prometheus.MustNewConstMetric(hostUp, prometheus.GaugeValue, up, h.Address)
		ch <- prometheus.MustNewConstMetric(hostConnections, prometheus.GaugeValue, float64(h.Connections), h.Address)
		ch <- prometheus.MustNewConstMetric(hostInFlight, prometheus.GaugeValue, float64(h.InFlight), h.Address)
		silent := 0.0
		if h.Silent {
			silent = 1
		}
		ch <- prometheus.MustNewConstMetric(hostSilent, prometheus.GaugeValue, silent, h.Address)
	}
	hedges := c.cluster.Hedges()
	for outcome, n := range map[string]int64{
		"won": hedges.Won, "lost": hedges.Lost, "failed": hedges.Failed, "over_budget": hedges.OverBudget, "nowhere": hedges.Nowhere,
	} {
		ch <- prometheus.MustNewConstMetric(storeHedges, prometheus.CounterValue, float64(n), outcome)
	}
}
