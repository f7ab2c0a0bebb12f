// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"slices"
	"time"
)

// Sample is one round of one arm of a comparison.
type Sample struct {
	Requests  int
	Wall      time.Duration
	CPU       time.Duration // of the measured server
	Backend   time.Duration // of the store behind it
	Client    time.Duration // of the measuring process
	Latencies []time.Duration
}

// Each returns a duration's share for one request, in milliseconds.
func (s Sample) Each(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000 / float64(s.Requests)
}

// PerSecond returns the throughput.
func (s Sample) PerSecond() float64 { return float64(s.Requests) / s.Wall.Seconds() }

// Median returns the median of a figure over the rounds.
func Median(samples []Sample, figure func(Sample) float64) float64 {
	var v []float64
	for _, s := range samples {
		v = append(v, figure(s))
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// Latency returns a quantile of the latencies of all rounds, in milliseconds.
func Latency(samples []Sample, q float64) float64 {
	var all []time.Duration
	for _, s := range samples {
		all = append(all, s.Latencies...)
	}
	slices.Sort(all)
	return float64(all[int(float64(len(all)-1)*q)].Microseconds()) / 1000
}
