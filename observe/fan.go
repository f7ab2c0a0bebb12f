// SPDX-License-Identifier: Apache-2.0

package observe

import "sync/atomic"

// Fan counts what one client's request has asked of the store, if that is more than one forwarded
// request. It is safe for concurrent use. The zero value is ready.
type Fan struct {
	Requests atomic.Int64 // sent, including repeated ones
	Retries  atomic.Int64 // of Requests, those repeated because the store throttled
	Rounds   atomic.Int64 // rounds: requests that had to wait for the answers of others
	Read     atomic.Int64 // rows read from the store
	Returned atomic.Int64 // rows returned to the client
	Reads    atomic.Bool  // it is a read of several shards, so the last three counts are known
}

// Took counts what a read of several shards took. It does nothing if f is nil.
func (f *Fan) Took(rounds, rows int) {
	if f != nil {
		f.Reads.Store(true)
		f.Rounds.Add(int64(rounds))
		f.Read.Add(int64(rows))
	}
}

// Gave counts the rows of an answer. It does nothing if f is nil.
func (f *Fan) Gave(rows int) {
	if f != nil {
		f.Returned.Add(int64(rows))
	}
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

// Fan returns the sum of the Fans of the table's requests, or nil if there are none.
func (t *Table) Fan() *FanTotals { return t.fan.Load() }
