package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// report is what was measured. Ratios are to the first row of each table.
type report struct {
	Rows []row `json:"rows"`
}

type row struct {
	What       string  `json:"what"`
	InFlight   int     `json:"in_flight,omitempty"`
	Name       string  `json:"name"`
	PerSecond  float64 `json:"per_second"`
	P50        float64 `json:"p50_ms"`
	P99        float64 `json:"p99_ms"`
	CPU        float64 `json:"cpu_seconds_per_100000"` // of the process that is measured
	BackendCPU float64 `json:"backend_cpu_seconds_per_100000,omitempty"`
	TotalCPU   float64 `json:"total_cpu_ms,omitempty"` // of all processes, a read
	DoorCPU    float64 `json:"door_cpu_ms,omitempty"`
	StoreCPU   float64 `json:"cassandra_cpu_ms,omitempty"`
	Fetched    int     `json:"rows_fetched,omitempty"`
}

func median(samples []sample, f func(sample) float64) float64 {
	var v []float64
	for _, s := range samples {
		v = append(v, f(s))
	}
	slices.Sort(v)
	return v[len(v)/2]
}

func latency(samples []sample, q float64) float64 {
	var all []time.Duration
	for _, s := range samples {
		all = append(all, s.latencies...)
	}
	slices.Sort(all)
	return float64(all[int(float64(len(all)-1)*q)].Microseconds()) / 1000
}

func (r *report) addPoint(what string, inFlight int, name string, samples []sample) {
	each := func(d time.Duration, s sample) float64 { return d.Seconds() / float64(s.requests) * 100_000 }
	r.Rows = append(r.Rows, row{
		What: what, InFlight: inFlight, Name: name,
		PerSecond:  median(samples, func(s sample) float64 { return float64(s.requests) / s.wall.Seconds() }),
		P50:        latency(samples, 0.5),
		P99:        latency(samples, 0.99),
		CPU:        median(samples, func(s sample) float64 { return each(s.cpu, s) }),
		BackendCPU: median(samples, func(s sample) float64 { return each(s.backend, s) }),
	})
}

func (r *report) addWay(what, name string, samples []sample, fetched int) {
	each := func(d time.Duration, s sample) float64 { return float64(d.Microseconds()) / 1000 / float64(s.requests) }
	r.Rows = append(r.Rows, row{
		What: what, Name: name,
		PerSecond: median(samples, func(s sample) float64 { return float64(s.requests) / s.wall.Seconds() }),
		P50:       latency(samples, 0.5),
		P99:       latency(samples, 0.99),
		TotalCPU:  median(samples, func(s sample) float64 { return each(s.cpu+s.backend+s.client, s) }),
		DoorCPU:   median(samples, func(s sample) float64 { return each(s.cpu, s) }),
		StoreCPU:  median(samples, func(s sample) float64 { return each(s.backend, s) }),
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
		if first.InFlight > 0 {
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
