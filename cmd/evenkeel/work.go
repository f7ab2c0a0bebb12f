package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/engine"
)

// workOf are the collectors of what the embedded engine is at work on, none where
// there is no such engine.
func workOf(cql *cqlSide) []prometheus.Collector {
	if cql == nil {
		return nil
	}
	e, ok := cql.store.(*engine.Engine)
	if !ok {
		return nil
	}
	gauge := func(name, help string, of func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "evenkeel_cql_engine_" + name, Help: help}, func() float64 { return float64(of()) })
	}
	return []prometheus.Collector{
		gauge("requests_running", "Requests to the embedded engine that may take long and are carried out now; those of one request of a client are counted one by one.", func() int { n, _ := e.Work(); return n }),
		gauge("requests_waiting", "Requests to the embedded engine that may take long and wait for their turn.", func() int { _, n := e.Work(); return n }),
	}
}
