// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/evenkeel/evenkeel/internal/bench/measure"
)

// report holds the measurements. Ratios are relative to the first row of each comparison.
type report struct {
	Rows []row `json:"rows"`
}

type row struct {
	What       string  `json:"what"`
	Name       string  `json:"name"`
	PerSecond  float64 `json:"per_second"`
	P50        float64 `json:"p50_ms"`
	P99        float64 `json:"p99_ms"`
	CPU        float64 `json:"cpu_ms"` // of the measured server, for a request
	BackendCPU float64 `json:"backend_cpu_ms,omitempty"`
	ClientCPU  float64 `json:"client_cpu_ms,omitempty"`
}

func (r *report) add(what, name string, samples []measure.Sample) {
	r.Rows = append(r.Rows, row{
		What: what, Name: name,
		PerSecond:  measure.Median(samples, measure.Sample.PerSecond),
		P50:        measure.Latency(samples, 0.5),
		P99:        measure.Latency(samples, 0.99),
		CPU:        measure.Median(samples, func(s measure.Sample) float64 { return s.Each(s.CPU) }),
		BackendCPU: measure.Median(samples, func(s measure.Sample) float64 { return s.Each(s.Backend) }),
		ClientCPU:  measure.Median(samples, func(s measure.Sample) float64 { return s.Each(s.Client) }),
	})
}

// print prints a table for each comparison, with ratios to its first row.
func (r *report) print(out io.Writer) {
	for i := 0; i < len(r.Rows); {
		first := r.Rows[i]
		fmt.Fprintf(out, "\n%s\n", first.What)
		w := tabwriter.NewWriter(out, 2, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "\tper second\t×\tp50 ms\tp99 ms\tCPU ms\t×\tstore's CPU ms\tclient's CPU ms\t")
		for ; i < len(r.Rows) && r.Rows[i].What == first.What; i++ {
			x := r.Rows[i]
			fmt.Fprintf(w, "%s\t%.0f\t%.2f\t%.3f\t%.3f\t%.4f\t%.2f\t%.3f\t%.3f\t\n",
				x.Name, x.PerSecond, x.PerSecond/first.PerSecond, x.P50, x.P99, x.CPU, x.CPU/max(first.CPU, 1e-9), x.BackendCPU, x.ClientCPU)
		}
		w.Flush()
	}
}
