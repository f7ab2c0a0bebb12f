// SPDX-License-Identifier: Apache-2.0

package exposition

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/observe"
)

// Requests reports one door's requests as metrics. It reads them at each scrape. It is a
// prometheus.Collector.
type Requests struct {
	requests *observe.Requests

	duration, errors, fanOut, rounds, read, returned, retries *prometheus.Desc
}

// New makes a Requests. The names of its metrics begin with prefix, such as evenkeel_cql.
func New(prefix string, requests *observe.Requests) *Requests {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prefix+"_"+name, help, labels, nil)
	}
	return &Requests{
		requests: requests,
		duration: desc("request_duration_seconds", "Time from when the door has read a request to when it has the answer, by logical table and operation.", "table", "operation"),
		errors:   desc("errors_total", "Requests answered with an error, by logical table and the error's code.", "table", "code"),
		fanOut:   desc("fan_out_requests", "How many requests the door sent to the store for one request of a client. Requests that it passes on do not count.", "table"),
		rounds:   desc("read_rounds", "How many rounds of requests to the store one read of several shards needed, one after the other.", "table"),
		read:     desc("read_rows_fetched", "Rows that came from the store for one read of several shards.", "table"),
		returned: desc("read_rows_returned", "Rows that the client got from one read of several shards.", "table"),
		retries:  desc("shard_retries_total", "Requests to shards that the door sent again because the store had throttled them.", "table"),
	}
}

// Describe implements prometheus.Collector.
func (r *Requests) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{r.duration, r.errors, r.fanOut, r.rounds, r.read, r.returned, r.retries} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (r *Requests) Collect(ch chan<- prometheus.Metric) {
	for _, t := range r.requests.All() {
		t.Each(func(operation string, took observe.Snapshot) { ch <- histogram(r.duration, took, t.Label(), operation) })
		t.Codes(func(code string, n uint64) {
			ch <- prometheus.MustNewConstMetric(r.errors, prometheus.CounterValue, float64(n), t.Label(), code)
		})
		fan := t.Fan()
		if fan == nil {
			continue
		}
		ch <- histogram(r.fanOut, fan.Requests.Snapshot(), t.Label())
		ch <- histogram(r.rounds, fan.Rounds.Snapshot(), t.Label())
		ch <- histogram(r.read, fan.Read.Snapshot(), t.Label())
		ch <- histogram(r.returned, fan.Returned.Snapshot(), t.Label())
		ch <- prometheus.MustNewConstMetric(r.retries, prometheus.CounterValue, float64(fan.Retries.Load()), t.Label())
	}
}

// histogram converts a snapshot to Prometheus' form, whose buckets are cumulative.
func histogram(desc *prometheus.Desc, s observe.Snapshot, labels ...string) prometheus.Metric {
	buckets := make(map[float64]uint64, len(s.Bounds.Upper))
	below := uint64(0)
	for i, upper := range s.Bounds.Upper {
		below += s.Buckets[i]
		buckets[s.Bounds.Show(upper)] = below
	}
	return prometheus.MustNewConstHistogram(desc, s.Count(), s.Bounds.Show(s.Sum), buckets, labels...)
}
