// SPDX-License-Identifier: Apache-2.0

package observe

import "sync/atomic"

// Fan is what one client's request has asked of the store, where that is more than one
// request passed on. It is safe for concurrent use; the zero value is ready.
type Fan struct {
	Requests atomic.Int64 // sent, those that were repeated too
	Retries  atomic.Int64 // of these, asked again because the store throttled
	Rounds   atomic.Int64 // requests that had to wait for the answers of others
	Read     atomic.Int64 // rows that came from the store
	Returned atomic.Int64 // rows that the client got
	Reads    atomic.Bool  // it is a read of several shards: the last three are known
}

// FanTotals is the sum of the Fans of a table's requests.
type FanTotals struct {
	Requests, Rounds, Read, Returned Histogram
	Retries                          atomic.Int64
}

// Fanned adds a request's Fan.
func (t *Table) Fanned(f *Fan) {
	n := f.Requests.Load()
	if n == 0 {
		return
	}
	total := t.fan.Load()
	if total == nil {
		total = new(FanTotals)
		for _, h := range []*Histogram{&total.Requests, &total.Rounds, &total.Read, &total.Returned} {
			h.bounds = Counts
		}
		if !t.fan.CompareAndSwap(nil, total) {
			total = t.fan.Load()
		}
	}
	total.Requests.Record(n)
	total.Retries.Add(f.Retries.Load())
	if f.Reads.Load() {
		total.Rounds.Record(f.Rounds.Load())
		total.Read.Record(f.Read.Load())
		total.Returned.Record(f.Returned.Load())
	}
}

// Fan returns the sum of the Fans of the table's requests; nil where there are none.
func (t *Table) Fan() *FanTotals { return t.fan.Load() }
