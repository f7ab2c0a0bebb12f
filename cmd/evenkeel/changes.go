// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/observe"
	"github.com/evenkeel/evenkeel/reshard"
)

// changeCollector reports the changes of layout that a door knows of as metrics. It reads them at
// each scrape.
type changeCollector struct {
	changes    func() []reshard.Status
	step, rows *prometheus.Desc
}

// changesOf makes a changeCollector whose metrics' names begin with prefix.
func changesOf(prefix string, changes func() []reshard.Status) changeCollector {
	return changeCollector{changes,
		prometheus.NewDesc(prefix+"_layout_change", "1 for each sharded table whose layout is being changed, with the change's step.", []string{"table", "step"}, nil),
		prometheus.NewDesc(prefix+"_layout_change_rows", "Rows or items that a change of layout moves at this door: total (as far as the door knows), moved and verified.", []string{"table", "rows"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (c changeCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.step
	ch <- c.rows
}

// Collect implements prometheus.Collector.
func (c changeCollector) Collect(ch chan<- prometheus.Metric) {
	changes := c.changes()
	for _, s := range changes[:min(len(changes), observe.MaxTables)] {
		ch <- prometheus.MustNewConstMetric(c.step, prometheus.GaugeValue, 1, s.Table, s.Phase)
		for of, n := range map[string]int64{"total": s.RowsTotal, "moved": s.RowsMoved, "verified": s.RowsVerified} {
			ch <- prometheus.MustNewConstMetric(c.rows, prometheus.GaugeValue, float64(n), s.Table, of)
		}
	}
}
