// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"strconv"
	"strings"
)

// Replication says how many replicas a keyspace has, and where.
type Replication struct {
	factor      int            // replicas of SimpleStrategy; 0: NetworkTopologyStrategy
	datacenters map[string]int // replicas by data centre
}

// ParseReplication reads the column replication of system_schema.keyspaces. It reports false for
// a strategy that it does not know and for transient replicas ("3/1").
func ParseReplication(options map[string]string) (r Replication, known bool) {
	strategy := options["class"]
	if i := strings.LastIndexByte(strategy, '.'); i >= 0 {
		strategy = strategy[i+1:]
	}
	switch strategy {
	case "SimpleStrategy":
		n, err := strconv.Atoi(options["replication_factor"])
		return Replication{factor: n}, err == nil && n > 0
	case "NetworkTopologyStrategy":
		r.datacenters = make(map[string]int, len(options))
		for dc, text := range options {
			if dc == "class" {
				continue
			}
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				return r, false
			}
			if n > 0 {
				r.datacenters[dc] = n
			}
		}
		return r, len(r.datacenters) > 0
	}
	return r, false
}
