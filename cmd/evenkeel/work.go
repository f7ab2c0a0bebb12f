// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/cqldoor/cluster"
	"github.com/evenkeel/evenkeel/engine/cassandra"
)

// workOf returns the collectors of the background work of the store behind the CQL door.
func workOf(cql *cqlSide) []prometheus.Collector {
	if cql == nil {
		return nil
	}
	gauge := func(name, help string, of func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "evenkeel_cql_" + name, Help: help}, func() float64 { return float64(of()) })
	}
	switch s := cql.store.(type) {
	case *cassandra.Engine:
		return []prometheus.Collector{
			gauge("engine_requests_running", "Long requests to the embedded engine that run now. If one request of a client has several, each counts.", func() int { n, _ := s.Work(); return n }),
			gauge("engine_requests_waiting", "Long requests to the embedded engine that wait for their turn.", func() int { _, n := s.Work(); return n }),
		}
	case *cluster.Cluster:
		return []prometheus.Collector{
			gauge("cluster_requests_in_flight", "Requests that the door has sent to the cluster and that have no answer yet, also those of clients that have gone. If one request of a client has several, each counts.", func() int { n, _ := s.Work(); return n }),
			gauge("cluster_requests_waiting", "Requests that wait until the door can send them to the cluster.", func() int { _, n := s.Work(); return n }),
		}
	}
	return nil
}
