// SPDX-License-Identifier: Apache-2.0

package throughput

// nano is a time in nanoseconds since 1970.
type nano = int64

const second nano = 1e9

// bucket fills at a rate of units a second, up to its size. A request may take more units than the
// bucket holds: the rest is debt.
type bucket struct {
	tokens float64
	rate   float64
	size   float64
	at     nano // the time at which tokens was computed
}

// newBucket returns a bucket with the units of one second, or with its size if that is less.
func newBucket(rate, size float64, now nano) bucket {
	return bucket{tokens: min(rate, size), rate: rate, size: size, at: now}
}

func (b *bucket) fill(now nano) {
	if now <= b.at {
		return
	}
	b.tokens = min(b.size, b.tokens+b.rate*float64(now-b.at)/float64(second))
	b.at = now
}

// empty reports whether a request has to wait.
func (b *bucket) empty(now nano) bool {
	b.fill(now)
	return b.tokens <= 0
}

func (b *bucket) take(units float64, now nano) {
	b.fill(now)
	b.tokens -= units
}

// set gives the bucket another rate and size. Its tokens stay, up to the new size.
func (b *bucket) set(rate, size float64, now nano) {
	b.fill(now)
	b.rate, b.size = rate, size
	b.tokens = min(b.tokens, size)
}
