// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// report holds the measurements. Ratios are relative to the first row of each table.
type report struct {
	Rows []row `json:"rows"`
}

type row struct {
	What       string  `json:"what"`
	InFlight   int     `json:"in_flight,omitempty"` // 0: at a steady rate, or one page at a time
	Name       string  `json:"name"`
	PerSecond  float64 `json:"per_second"`
	P50        float64 `json:"p50_ms"`
	P99        float64 `json:"p99_ms"`
	CPU        float64 `json:"cpu_seconds_per_100000"` // of the measured process
	BackendCPU float64 `json:"backend_cpu_seconds_per_100000,omitempty"`
	TotalCPU   float64 `json:"total_cpu_ms,omitempty"` // of all processes, for a read
	DoorCPU    float64 `json:"door_cpu_ms,omitempty"`
	StoreCPU   float64 `json:"cassandra_cpu_ms,omitempty"`
	Fetched    int     `json:"rows_fetched,omitempty"`
}

func (r *report) addPoint(what string, inFlight int, name string, samples []measure.Sample) {
	each := func(d time.Duration, s measure.Sample) float64 { return d.Seconds() / float64(s.Requests) * 100_000 }
	r.Rows = append(r.Rows, row{
		What: what, InFlight: inFlight, Name: name,
		PerSecond:  measure.Median(samples, measure.Sample.PerSecond),
		P50:        measure.Latency(samples, 0.5),
		P99:        measure.Latency(samples, 0.99),
		CPU:        measure.Median(samples, func(s measure.Sample) float64 { return each(s.CPU, s) }),
		BackendCPU: measure.Median(samples, func(s measure.Sample) float64 { return each(s.Backend, s) }),
	})
}

func (r *report) addWay(what, name string, samples []measure.Sample, fetched int) {
	r.Rows = append(r.Rows, row{
		What: what, Name: name,
		PerSecond: measure.Median(samples, measure.Sample.PerSecond),
		P50:       measure.Latency(samples, 0.5),
		P99:       measure.Latency(samples, 0.99),
		TotalCPU:  measure.Median(samples, func(s measure.Sample) float64 { return s.Each(s.CPU + s.Backend + s.Client) }),
		DoorCPU:   measure.Median(samples, func(s measure.Sample) float64 { return s.Each(s.CPU) }),
		StoreCPU:  measure.Median(samples, func(s measure.Sample) float64 { return s.Each(s.Backend) }),
		Fetched:   fetched,
	})
}

// print prints a table for each comparison, with ratios to its first row.
func (r *report) print(out io.Writer) {
	for i := 0; i < len(r.Rows); {
		first := r.Rows[i]
		j := i
		for j < len(r.Rows) && r.Rows[j].What == first.What && r.Rows[j].InFlight == first.InFlight {
			j++
		}
		fmt.Fprintf(out, "\n%s", first.What)
		if first.InFlight > 0 {
			fmt.Fprintf(out, ", %d in flight", first.InFlight)
		}
		fmt.Fprintln(out)
		w := tabwriter.NewWriter(out, 2, 0, 2, ' ', tabwriter.AlignRight)
		if first.TotalCPU == 0 {
			fmt.Fprintln(w, "\tper second\t×\tp50 ms\tp99 ms\town CPU s/100k\tCassandra CPU s/100k\t")
			for _, x := range r.Rows[i:j] {
				fmt.Fprintf(w, "%s\t%.0f\t%.2f\t%.3f\t%.3f\t%.2f\t%.2f\t\n", x.Name, x.PerSecond, x.PerSecond/first.PerSecond, x.P50, x.P99, x.CPU, x.BackendCPU)
			}
		} else {
			fmt.Fprintln(w, "\tp50 ms\t×\tp99 ms\ttotal CPU ms\t×\tCassandra\tevenkeel\trows fetched\t")
			for _, x := range r.Rows[i:j] {
				fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%.1f\t%.2f\t%.1f\t%.1f\t%d\t\n", x.Name, x.P50, x.P50/first.P50, x.P99, x.TotalCPU, x.TotalCPU/first.TotalCPU, x.StoreCPU, x.DoorCPU, x.Fetched)
			}
		}
		w.Flush()
		i = j
	}
}
