// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// Report is what a server did between two readings. It is also the JSON of `evenkeel top --json`.
type Report struct {
	Seconds float64  `json:"seconds"` // between the readings
	Doors   []Door   `json:"doors"`
	Tables  []Table  `json:"tables"` // the busiest first
	Errors  []Failed `json:"errors"` // the most frequent first
	Hosts   []Host   `json:"hosts,omitempty"`

	// Throttled is what DynamoDB throttled, by cause and, if known, by partition key. The most
	// frequent comes first.
	Throttled []Throttled `json:"throttled,omitempty"`

	// Changes is each change of a table's layout that the doors know of.
	Changes []Change `json:"changes,omitempty"`

	CPU           float64 `json:"cpu_cores"` // cores that the process kept busy
	ResidentBytes float64 `json:"resident_bytes"`
	HeapBytes     float64 `json:"heap_bytes"`
	Goroutines    float64 `json:"goroutines"`

	// Changing is the number of sharded tables whose creation, removal or change of shards is
	// under way.
	Changing float64 `json:"tables_changing"`
}

// Rates is the frequency and the latency of requests.
type Rates struct {
	Requests float64 `json:"requests_per_second"`
	Errors   float64 `json:"errors_per_second"`
	P50      float64 `json:"p50_seconds"`
	P99      float64 `json:"p99_seconds"`
	FanOut   float64 `json:"fan_out_mean"` // requests to the store for each request that was not passed on
	Retries  float64 `json:"shard_retries_per_second"`
}

// Door is one front door: "cql" or "dynamodb".
type Door struct {
	Name string `json:"door"`
	Rates
	InFlight    float64 `json:"in_flight"`
	Connections float64 `json:"connections,omitempty"`
}

// Table is one logical table behind a door.
type Table struct {
	Door string `json:"door"`
	Name string `json:"table"`
	Rates
}

// Failed is the rate at which a door answered with a code.
type Failed struct {
	Door      string  `json:"door"`
	Code      string  `json:"code"`
	PerSecond float64 `json:"per_second"`
}

// Throttled is the rate at which requests met a limit of a table or index at the store.
type Throttled struct {
	Table     string  `json:"table"`
	Index     string  `json:"index,omitempty"`
	Cause     string  `json:"cause"`         // partition (a hot key), table, account, untold
	Key       string  `json:"key,omitempty"` // "" for all keys together
	PerSecond float64 `json:"per_second"`
}

// Host is one host of the cluster behind the CQL door.
type Host struct {
	Address     string  `json:"host"`
	Up          bool    `json:"up"`
	Connections float64 `json:"connections"`
	InFlight    float64 `json:"in_flight"`
}

// Change is a change of a table's layout under way. A door that does not carry it out knows only its
// step.
type Change struct {
	Door      string  `json:"door"`
	Table     string  `json:"table"`
	Step      string  `json:"step"`
	Total     float64 `json:"rows_total"` // as far as is known
	Moved     float64 `json:"rows_moved"`
	Verified  float64 `json:"rows_verified"`
	PerSecond float64 `json:"rows_moved_per_second"`
}

// Compare computes what happened between two readings.
func Compare(before, now *Sample) *Report {
	r := &Report{Seconds: max(now.at.Sub(before.at).Seconds(), 1e-3), Doors: []Door{}, Tables: []Table{}, Errors: []Failed{}}
	added := func(name string, match func(map[string]string) bool) float64 {
		is, was := now.value(name, match), before.value(name, match)
		if is < was {
			was = 0 // the server has restarted
		}
		return (is - was) / r.Seconds
	}
	for _, door := range []string{"cql", "dynamodb"} {
		prefix := "evenkeel_" + door + "_"
		if !now.has(prefix + "requests_total") {
			continue
		}
		rates := func(match func(map[string]string) bool) Rates {
			took := now.spread(prefix+"request_duration_seconds", match).since(before.spread(prefix+"request_duration_seconds", match))
			fan := now.spread(prefix+"fan_out_requests", match).since(before.spread(prefix+"fan_out_requests", match))
			return Rates{
				Requests: took.count / r.Seconds, Errors: added(prefix+"errors_total", match),
				P50: took.quantile(0.5), P99: took.quantile(0.99),
				FanOut: fan.mean(), Retries: added(prefix+"shard_retries_total", match),
			}
		}
		r.Doors = append(r.Doors, Door{Name: door, Rates: rates(nil),
			InFlight: now.value(prefix+"requests_in_flight", nil), Connections: now.value(prefix+"connections", nil)})
		for _, table := range now.labels(prefix+"request_duration_seconds", "table") {
			t := Table{Door: door, Name: table, Rates: rates(func(l map[string]string) bool { return l["table"] == table })}
			if t.Requests > 0 {
				r.Tables = append(r.Tables, t)
			}
		}
		now.each(prefix+"layout_change", func(l map[string]string, _ *dto.Metric) {
			const rows = "layout_change_rows"
			of := func(rows string) func(map[string]string) bool {
				return func(m map[string]string) bool { return m["table"] == l["table"] && m["rows"] == rows }
			}
			c := Change{Door: door, Table: l["table"], Step: l["step"], Total: now.value(prefix+rows, of("total")), Moved: now.value(prefix+rows, of("moved")), Verified: now.value(prefix+rows, of("verified"))}
			c.PerSecond = max(0, c.Moved-before.value(prefix+rows, of("moved"))) / r.Seconds
			r.Changes = append(r.Changes, c)
		})
		for _, code := range now.labels(prefix+"errors_total", "code") {
			if n := added(prefix+"errors_total", func(l map[string]string) bool { return l["code"] == code }); n > 0 {
				r.Errors = append(r.Errors, Failed{door, code, n})
			}
		}
	}
	slices.SortStableFunc(r.Tables, func(a, b Table) int { return cmp.Compare(b.Requests, a.Requests) })
	slices.SortStableFunc(r.Errors, func(a, b Failed) int { return cmp.Compare(b.PerSecond, a.PerSecond) })
	for _, host := range now.labels("evenkeel_cql_backend_up", "host") {
		is := func(l map[string]string) bool { return l["host"] == host }
		r.Hosts = append(r.Hosts, Host{host, now.value("evenkeel_cql_backend_up", is) > 0,
			now.value("evenkeel_cql_backend_connections", is), now.value("evenkeel_cql_backend_requests_in_flight", is)})
	}
	for _, name := range []string{"evenkeel_dynamodb_store_throttled_total", "evenkeel_dynamodb_store_throttled_keys_total"} {
		seen := map[Throttled]bool{}
		now.each(name, func(l map[string]string, _ *dto.Metric) {
			t := Throttled{Table: l["table"], Index: l["index"], Cause: l["cause"], Key: l["key"]}
			if seen[t] {
				return // the other operation
			}
			seen[t] = true
			t.PerSecond = added(name, func(m map[string]string) bool {
				return m["table"] == t.Table && m["index"] == t.Index && m["cause"] == t.Cause && m["key"] == t.Key
			})
			if t.PerSecond > 0 {
				r.Throttled = append(r.Throttled, t)
			}
		})
	}
	slices.SortStableFunc(r.Throttled, func(a, b Throttled) int {
		return cmp.Or(cmp.Compare(b.PerSecond, a.PerSecond), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Key, b.Key))
	})
	slices.SortStableFunc(r.Changes, func(a, b Change) int { return cmp.Compare(a.Table, b.Table) })
	r.CPU = added("process_cpu_seconds_total", nil)
	r.ResidentBytes = now.value("process_resident_memory_bytes", nil)
	r.HeapBytes = now.value("go_memstats_heap_alloc_bytes", nil)
	r.Goroutines = now.value("go_goroutines", nil)
	r.Changing = now.value("evenkeel_cql_tables_changing", nil)
	return r
}

// labels returns the values of a label, sorted.
func (s *Sample) labels(name, label string) (all []string) {
	s.each(name, func(labels map[string]string, _ *dto.Metric) { all = append(all, labels[label]) })
	slices.Sort(all)
	return slices.Compact(all)
}
